"""git's lowest commands, bytes in and bytes out, so that no name and no file is too odd or too long for them.

They run without those of a person's settings that would change what they give, and without hooks; the work tree is the one
they are asked about, whatever the repository's own settings say.
"""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from agentd.errors import AgentdError
from agentd.git.repository import KEPT
from agentd.process.plain import run_plain

# Bytes stay bytes, nothing else is started (a file monitor, a hook, a clean-up), and every file counts.
_SETTINGS = {
    "core.autocrlf": "false",
    "core.checkStat": "default",
    "core.eol": "lf",
    "core.safecrlf": "false",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.ignoreStat": "false",
    "core.logAllRefUpdates": "false",
    "core.sparseCheckout": "false",
    "core.splitIndex": "false",
    "core.trustctime": "true",
    "diff.relative": "false",
    "gc.auto": "0",
    "submodule.recurse": "false",
}
_WORDS = tuple(word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}"))
_ENVIRONMENT = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_OPTIONAL_LOCKS": "0"}


def plumb(
    folder: Path,
    *args: str,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    accept: Collection[int] = (0,),
    timeout: float = 600,
) -> bytes:
    """What git prints, or an error with what it said if it ends with another code than the accepted ones."""
    around: dict[str, str | None] = {name: None for name in os.environ if name.startswith("GIT_") and name not in KEPT}
    around |= {**_ENVIRONMENT, **_pinned(folder), **(env or {})}
    done = run_plain(("git", *_WORDS, *args), cwd=folder, env=around, stdin=stdin, timeout=timeout)
    if done.code in accept and not done.late:
        return done.output
    lines = done.errors.decode(errors="replace").splitlines()[-3:]
    said = f"no end in {timeout:g} s" if done.late else " ".join(lines) or f"exit {done.code}"
    raise AgentdError(f"git {args[0]} failed in {folder}: {said}", f"git -C {folder} status")


def _pinned(folder: Path) -> dict[str, str]:
    """The work tree that a folder lies in, found as git finds it; `core.worktree` could name any other."""
    real = Path(os.path.realpath(folder))
    for place in (real, *real.parents):
        mark = place / ".git"
        if mark.is_file() or (mark / "HEAD").exists():
            return {"GIT_WORK_TREE": str(place)}
    return {}
