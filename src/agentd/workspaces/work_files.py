"""The files of a workspace: as they are now, what was changed in them, and how they are put back."""

import os
from collections.abc import Iterator
from pathlib import Path

from agentd.errors import AgentdError
from agentd.git import trees
from agentd.git.checkout import find_checkout
from agentd.git.program import fields
from agentd.landing import task
from agentd.proof import record
from agentd.runs.work import Work

LONGEST_DIFF = 60_000
WORDS = {b"A": "added", b"M": "modified", b"D": "deleted", b"T": "modified"}


def refuse_checkout(work: Work) -> None:
    """Nothing is tested, reviewed or written in the person's checkout instead of a workspace."""
    if work.cwd == work.project.root:
        raise AgentdError(
            f"{work.state.run.step} has no workspace, and nothing is done in {work.project.root} instead.",
            f"agentd log {work.top.state.run.name}",
        )


def tree(work: Work) -> str:
    """The files of the workspace as they are now."""
    refuse_checkout(work)
    return record.tree(work)


def tree_if_any(work: Work) -> str:
    """The files of the workspace, to be put back later; nothing where there is no workspace."""
    return tree(work) if work.cwd != work.project.root else ""


def listed(work: Work) -> tuple[str, ...]:
    """Every file of the workspace."""
    return trees.paths(work.cwd, tree(work))


def is_untouched(work: Work) -> bool:
    """Whether nothing was changed since the workspace was made."""
    return tree(work) == record.base(work)


def put_back(work: Work, before: str) -> tuple[str, ...]:
    """Make the files of the workspace what they were; gives those that were changed."""
    return trees.put_back(work.cwd, before, tree(work))


def own_files(work: Work) -> list[str]:
    """What was changed in the workspace in folders that are agentd's own."""
    ours = find_checkout(work.cwd, work.project.own_folders(), 0).away
    return [name for name in task.written(work) if any(name.startswith(f"{folder}/") for folder in ours)]


def changed_files(work: Work) -> list[dict[str, str]]:
    """Every file that the run changed, by any agent: what is in this workspace, and what has landed since it was made."""
    branch = task.branch_of(work)
    mine = task.workspace_of(work)
    made_at = mine.base if mine else branch.start
    found = {entry["path"]: entry for entry in _entries(work.project.root, made_at, branch.tip())}
    if work.cwd != work.project.root:
        start = trees.pruned(work.cwd, branch.start, work.project.own_folders())
        found |= {entry["path"]: entry for entry in _entries(work.cwd, start, tree(work))}
    return [found[path] for path in sorted(found)]


def _entries(folder: Path, old: str, new: str) -> Iterator[dict[str, str]]:
    """The files that differ between two trees, renames told."""
    raw = iter(fields(folder, "diff-tree", "-r", "-z", "-M", "--relative", "--name-status", old, new))
    for letter in raw:
        path = trees.shown(next(raw))
        if letter[:1] in (b"R", b"C"):
            yield {"path": trees.shown(next(raw)), "change_type": "renamed", "old_path": path}
        else:
            yield {"path": path, "change_type": WORDS.get(letter[:1], "modified")}


def diff(work: Work) -> str:
    """The change to look at, cut where it is very long: that of the task, or of the whole run."""
    text = patch(work)
    return text if len(text) <= LONGEST_DIFF else f"{text[:LONGEST_DIFF]}\n… (cut; read the files)"


def patch(work: Work) -> str:
    """All of the change, however long it is."""
    if work.cwd == work.project.root:
        return ""
    start = record.base(work)
    if work.parent is None:
        start = trees.pruned(work.cwd, task.branch_of(work).start, work.project.own_folders())
    return trees.patch(work.cwd, start, tree(work))


def checkout_marks(root: Path) -> dict[str, tuple[int, int]]:
    """What git says is changed in the person's checkout: each file with what tells that it was written again."""
    found: dict[str, tuple[int, int]] = {}
    for entry in fields(root, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"):
        path = trees.shown(entry[3:])
        try:
            seen = os.lstat(root / path)
            found[path] = (seen.st_mtime_ns, seen.st_size)
        except OSError:
            found[path] = (0, 0)
    return found
