"""What differs between a base branch and the files as they are now, committed or not. It changes nothing."""

from dataclasses import dataclass
from pathlib import Path

from agentd import process
from agentd.errors import NotFound
from agentd.git.repository import git

WORDS = {"A": "added", "M": "modified", "D": "deleted", "R": "renamed", "C": "copied", "T": "type changed"}


@dataclass(frozen=True)
class ChangedFile:
    """One file, and how many of its lines came and went; None where git cannot tell."""

    path: str
    status: str
    added: int | None = None
    removed: int | None = None


def changed_files(folder: Path, base: str) -> tuple[ChangedFile, ...]:
    """Every file below `folder` that differs from where its history left `base`, new ones included."""
    fork = _fork(folder, base)
    options = ("--relative", "--no-renames", "--no-ext-diff", "-z")
    names = _parts(git(folder, "diff", "--name-status", *options, fork, "--"))
    status = {path: WORDS.get(letter[:1], letter) for letter, path in zip(names[::2], names[1::2], strict=False)}
    counts = {}
    for line in _parts(git(folder, "diff", "--numstat", *options, fork, "--")):
        added, removed, path = line.split("\t", 2)
        counts[path] = (_number(added), _number(removed))
    new = _parts(git(folder, "ls-files", "--others", "--exclude-standard", "-z"))
    found = [ChangedFile(path, word, *counts.get(path, (None, None))) for path, word in status.items()]
    return tuple(sorted([*found, *(ChangedFile(path, "added") for path in new)], key=lambda one: one.path))


def _fork(folder: Path, base: str) -> str:
    """The commit to compare with: where the two histories part."""
    if process.run(("git", "rev-parse", "--git-dir"), cwd=folder, timeout=60).code != 0:
        raise NotFound(f"{folder} is not in a git repository, so nothing can be compared.", "read the files themselves")
    for name in (base, f"origin/{base}"):
        found = process.run(
            ("git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"),
            cwd=folder,
            timeout=60,
        )
        if found.code == 0 and found.output:
            both = process.run(("git", "merge-base", found.output[0], "HEAD"), cwd=folder, timeout=60)
            return both.output[0] if both.code == 0 and both.output else found.output[0]
    raise NotFound(f"base_branch: there is no branch '{base}'.", 'send the name of a branch, or "HEAD"')


def _parts(output: str) -> list[str]:
    return [part for part in output.split("\0") if part]


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None
