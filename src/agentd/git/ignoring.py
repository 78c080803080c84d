"""Ignored files, and the list of them that is not part of the project (`info/exclude`)."""

from pathlib import Path

from agentd.errors import AgentdError
from agentd.git.program import run, text
from agentd.git.repository import top
from agentd.patterns import regex

_SPECIAL = regex(r"[\\*?\[]")


def exclude_file(folder: Path) -> Path | None:
    """Return the real path of the repository's `info/exclude`, or None outside of a repository."""
    try:
        return (folder / text(folder, "rev-parse", "--git-path", "info/exclude")).resolve()
    except AgentdError:
        return None


def is_ignored(folder: Path, path: Path) -> bool:
    """Return whether git ignores a path. The path need not exist; a tracked file is not ignored."""
    return bool(run(folder, "check-ignore", "--", str(path), accept=(0, 1, 128)))


def pattern(folder: Path, path: Path) -> str:
    """Return the exclude pattern that matches this path only."""
    inner = path.relative_to(top(folder)).as_posix()
    return "/" + _SPECIAL.sub(r"\\\g<0>", inner)
