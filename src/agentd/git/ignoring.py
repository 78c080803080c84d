"""What git overlooks in a checkout without a word in the project's own files."""

import re
from pathlib import Path

from agentd.errors import AgentdError
from agentd.git.repository import git, top

_SPECIAL = re.compile(r"[\\*?\[]")


def exclude_file(folder: Path) -> Path | None:
    """The person's own list of what a repository ignores; nothing outside a checkout."""
    try:
        return folder / git(folder, "rev-parse", "--git-path", "info/exclude").strip()
    except AgentdError:
        return None


def is_ignored(folder: Path, path: Path) -> bool:
    """Whether git overlooks a file, there or not; a file that was added is never overlooked."""
    try:
        git(folder, "check-ignore", "--quiet", "--", str(path))
    except AgentdError:
        return False
    return True


def pattern(folder: Path, path: Path) -> str:
    """The line in a list of ignored files that means this file and no other."""
    inner = path.relative_to(top(folder)).as_posix()
    return "/" + _SPECIAL.sub(r"\\\g<0>", inner)
