"""Runs a project's test command and keeps what was seen: the command, its exit code, its time and its last lines."""

import shlex
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from agentd import process
from agentd.errors import NotFound

Status = Literal["green", "red", "unknown"]

# What shells and launchers exit with for a program that cannot be started or is not there.
NOT_RUN = (126, 127)


@dataclass(frozen=True)
class Evidence:
    """The result of one command, as agentd saw it."""

    command: str
    status: Status
    exit_code: int | None
    seconds: float
    at: str
    output: tuple[str, ...] = ()
    note: str = ""

    def to_data(self) -> dict[str, Any]:
        return asdict(self) | {"output": list(self.output)}


def run_tests(
    command: str,
    cwd: Path,
    env: Mapping[str, str],
    at: str,
    timeout: float,
    stop: threading.Event | None,
    around: Callable[[Sequence[str]], Sequence[str]] = tuple,
) -> Evidence:
    """Green only if the command was found, ended by itself and exited 0; "could not run" is not red.

    `around` makes the words that start the command out of the command's own.
    """
    if not command.strip():
        return Evidence("", "unknown", None, 0.0, at, note="no test command is configured")
    try:
        words = shlex.split(command)
    except ValueError as error:
        return Evidence(command, "unknown", None, 0.0, at, note=f"the test command cannot be read: {error}")
    try:
        done = process.run(around(words), cwd=cwd, env=env, timeout=timeout, stop=stop)
    except NotFound as error:
        return Evidence(command, "unknown", None, 0.0, at, note=error.message)
    tail = (*done.output[-40:], *done.errors[-40:])
    if done.ended != "exit":
        note = f"ended by agentd ({done.ended}) after {done.seconds:.0f} s"
        return Evidence(command, "unknown", None, round(done.seconds, 3), at, tail, note)
    if done.code in NOT_RUN:
        return Evidence(
            command, "unknown", done.code, round(done.seconds, 3), at, tail, f"exit {done.code}: it could not run"
        )
    status: Status = "green" if done.code == 0 else "red"
    return Evidence(command, status, done.code, round(done.seconds, 3), at, tail)
