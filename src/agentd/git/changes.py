"""The files of a work tree that differ from a base branch, committed or not. Nothing is written."""

from collections.abc import Collection
from pathlib import Path

from agentd.errors import NotFound
from agentd.git.program import fields, text
from agentd.git.trees import shown
from agentd.values import dataclass

WORDS = {b"A": "added", b"M": "modified", b"D": "deleted", b"R": "renamed", b"C": "copied", b"T": "type changed"}


@dataclass(frozen=True)
class ChangedFile:
    """A changed file. The numbers of added and removed lines are None for binary and untracked files."""

    path: str
    status: str
    added: int | None = None
    removed: int | None = None


def changed_files(folder: Path, base: str) -> tuple[ChangedFile, ...]:
    """Return all files below `folder` that differ from the merge base of `base` and HEAD, untracked files included.

    A submodule differs if another commit is checked out in it; its files are not compared.
    """
    fork = _fork(folder, base)
    # Without `dirty`, git runs in each submodule, with filter drivers from a configuration anybody could have put there.
    options = ("--relative", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "-z")
    names = fields(folder, "diff", "--name-status", *options, fork, "--")
    counts = {}
    for line in fields(folder, "diff", "--numstat", *options, fork, "--"):
        *numbers, path = line.split(b"\t", 2)
        counts[path] = [int(number) if number.isdigit() else None for number in numbers]
    found = [
        ChangedFile(shown(path), WORDS.get(letter, shown(letter)), *counts.get(path, ()))
        for path, letter in dict(zip(names[1::2], names[::2], strict=True)).items()
    ]
    new = fields(folder, "ls-files", "--others", "--exclude-standard", "-z")
    return tuple(sorted([*found, *(ChangedFile(shown(path), "added") for path in new)], key=lambda one: one.path))


def uncommitted(folder: Path, but: Collection[str] = ()) -> list[str]:
    """Return the files and new folders below `folder` that differ from the commit HEAD, without those in some folders."""
    apart = (f":(exclude){name}" for name in but)
    options = ("--porcelain", "--no-renames", "--ignore-submodules=dirty", "-z")
    return [shown(line[3:]) for line in fields(folder, "status", *options, "--", ".", *apart)]


def _fork(folder: Path, base: str) -> str:
    """Return the merge base of HEAD and the branch, or the branch's own commit if there is none."""
    if not text(folder, "rev-parse", "--git-dir", accept=(0, 128)):
        raise NotFound(f"{folder} is not in a git repository, so nothing can be compared.", "read the files themselves")
    for name in (base, f"origin/{base}"):
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if tip := text(folder, *words, accept=(0, 1, 128)):
            return text(folder, "merge-base", tip, "HEAD", accept=(0, 1, 128)) or tip
    raise NotFound(f"base_branch: there is no branch '{base}'.", 'send the name of a branch, or "HEAD"')
