"""Runs a program that starts nothing which outlives it, bytes in and bytes out: git's own commands.

Far cheaper than `process.run`, which looks after everything that a program may leave behind.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence

from agentd.errors import AgentdError, NotFound
from agentd.values import dataclass


@dataclass(frozen=True)
class Ended:
    """How the program ended; `late`: it was ended because it took too long."""

    code: int
    output: bytes = b""
    errors: bytes = b""
    late: bool = False


def run_plain(
    argv: Sequence[str],
    *,
    cwd: str | os.PathLike[str],
    env: Mapping[str, str | None],
    stdin: bytes = b"",
    timeout: float,
) -> Ended:
    """The program's end and all it printed. `env` is added to this process's environment; None takes a variable away."""
    around = {name: value for name, value in {**os.environ, **env}.items() if value is not None}
    try:
        # In agentd's own session: whoever looks for leftovers of other programs must not take this one for such.
        done = subprocess.run(argv, cwd=cwd, env=around, input=stdin, capture_output=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return Ended(-9, late=True)
    except FileNotFoundError:
        if not os.path.isdir(cwd):
            raise NotFound(f"The folder {cwd} to run {argv[0]} in does not exist.", f"mkdir -p {cwd}") from None
        raise NotFound(f"The program {argv[0]} is not installed.", f"install {argv[0]}") from None
    except OSError as trouble:
        raise AgentdError(f"The program {argv[0]} could not be started: {trouble}.", "ulimit -a") from trouble
    return Ended(done.returncode, done.stdout, done.stderr)
