"""Whether the branch on which the tasks of a run landed has got to the person's own branch."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

BRANCH = "branch"  # the field of a run that names it


def branch_in(fields: Mapping[str, Any]) -> str:
    """The branch that a state file names, or nothing."""
    found = fields.get(BRANCH)
    return found if isinstance(found, str) else ""


def is_waiting(root: Path, fields: Mapping[str, Any]) -> bool:
    """Whether the branch has a commit that is not in what is checked out; git is asked only if there is a branch."""
    branch = branch_in(fields)
    if not branch:
        return False
    from agentd.git.program import text  # looking at runs that have no branch starts no git

    words = ("rev-list", "--max-count=1", f"refs/heads/{branch}", "^HEAD", "--")
    return bool(text(root, *words, accept=(0, 128)))  # 128: it was deleted
