"""Runs the git program.

By default a command is isolated: hooks, the file system monitor, the pager and prompts are off, no optional locks are
taken, and the settings below replace those of the user and the repository. The work tree is the one that contains the
folder, whatever `core.worktree` says. Filter drivers (`filter.*`) stay in effect for commands that read or write files of
the work tree: without them the files cannot be compared with what is committed.
"""

import os
import shlex
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from agentd import process
from agentd.errors import AgentdError
from agentd.process.plain import Ended, run_plain

TIMEOUT = 600
_HARDLY_ANY = 1 << 20
INSTALL = "sudo apt install git   # or: dnf install git, pacman -S git, xcode-select --install"
# All other GIT_* variables are removed: a hook that calls agentd sets some, and they can point to another repository.
KEPT = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
_SETTINGS = (
    f"core.checkStat=default core.fsmonitor=false core.hooksPath={os.devnull} core.ignoreStat=false "
    "core.logAllRefUpdates=false core.splitIndex=false core.trustctime=true diff.relative=false gc.auto=0 "
    "submodule.recurse=false"
).split()
_ISOLATED = ("--no-pager", *(word for setting in _SETTINGS for word in ("-c", setting)))
_ENVIRONMENT = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": ""}


def run(
    folder: Path,
    *args: str,
    stdin: bytes = b"",
    env: Mapping[str, str] = {},
    accept: Collection[int] = (0,),
    isolated: bool = True,
) -> bytes:
    """Run a git command in `folder` and return its standard output.

    `isolated=False` is for commands that must run the user's hooks with the user's settings; `stdin` is not used then.
    Raises AgentdError with the end of git's standard error if the exit code is not in `accept`, or after 10 minutes.
    """
    removed = {name: None for name in os.environ if name.startswith("GIT_") and name not in KEPT}
    if isolated:
        top = work_tree(folder)
        around = {**removed, **_ENVIRONMENT, **({"GIT_WORK_TREE": str(top)} if top else {}), **env}
        done = run_plain(("git", *_ISOLATED, *args), cwd=folder, env=around, stdin=stdin, timeout=TIMEOUT)
    else:
        # A hook can start processes that outlive git; `process.run` ends them.
        watched = process.run(("git", *args), cwd=folder, env={**removed, **env}, timeout=TIMEOUT)
        output, errors = ("\n".join(lines).encode() for lines in (watched.output, watched.errors))
        done = Ended(watched.code, output, errors, late=watched.ended != "exit")
    if done.code in accept and not done.late:
        return done.output
    lines = done.errors.decode(errors="replace").splitlines()[-3:]
    said = f"no end in {TIMEOUT} s" if done.late else " ".join(lines) or f"exit {done.code}"
    command = next((arg for arg in args if not arg.startswith("-") and "=" not in arg), "")  # after -c name=value
    fix = f"df -h {quoted(folder.parent)}   # make room, then run the same command again"
    raise AgentdError(
        f"git {command} failed in {folder}: {said}", fix if _is_full(folder) else f"git -C {quoted(folder)} status"
    )


def _is_full(folder: Path) -> bool:
    """Whether the disk has hardly any room left: git does not always say why it could not write."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < _HARDLY_ANY


def text(folder: Path, *args: str, **options: Any) -> str:
    """Return the output of `run` as text, without the final newline."""
    return os.fsdecode(run(folder, *args, **options).removesuffix(b"\n"))


def fields(folder: Path, *args: str, env: Mapping[str, str] = {}) -> list[bytes]:
    """Return the fields of the output of a git command with `-z`, which ends each with a NUL byte."""
    return [field for field in run(folder, *args, env=env).split(b"\0") if field]


def person() -> dict[str, str]:
    """Return who commits, as far as the environment says it."""
    return {name: value for name, value in os.environ.items() if name.startswith(("GIT_AUTHOR_", "GIT_COMMITTER_"))}


def quoted(folder: Path) -> str:
    """Return a folder as a person pastes it into a shell."""
    return shlex.quote(str(folder))


def work_tree(folder: Path) -> Path | None:
    """Return the top folder of the work tree that contains `folder`, found by looking for `.git` as git does."""
    real = Path(os.path.realpath(folder))
    for place in (real, *real.parents):
        mark = place / ".git"
        if mark.is_file() or (mark / "HEAD").exists():
            return place
    return None
