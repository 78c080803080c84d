"""Merges commits and moves refs without a work tree: no index, no checkout and no file of a person is involved."""

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from agentd.errors import AgentdError
from agentd.git.program import fields, person, run, text
from agentd.patterns import regex
from agentd.process.plain import run_plain
from agentd.values import dataclass

NEEDED = (2, 38)  # `merge-tree --write-tree`
_MOST_NAMED = 1000  # paths on a command line
_VERSION = regex(r"(\d+)\.(\d+)")


@dataclass(frozen=True)
class Merged:
    """A merged tree; with conflicts it has both sides between markers in the files that are named."""

    tree: str
    conflicts: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ref:
    """What a ref points to, and the work tree in which it is checked out."""

    commit: str = ""
    checked_out: str = ""


def refuse_old_git() -> None:
    """Refuse a git that cannot merge without a work tree."""
    found = _version()
    if found < NEEDED:
        said, wanted = (".".join(map(str, version)) for version in (found, NEEDED))
        raise AgentdError(f"git {said} is too old: landing work needs git {wanted} or newer.", "git --version")


@cache
def _version() -> tuple[int, int]:
    done = run_plain(("git", "--version"), cwd="/", env={}, timeout=60)
    found = _VERSION.search(done.output.decode(errors="replace"))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def merge(folder: Path, ours: str, theirs: str) -> Merged:
    """Merge two commits in three ways by their histories. Neither side is ever preferred."""
    words = ("merge-tree", "--write-tree", "-z", "--name-only", "--messages", ours, theirs)
    tree, *rest = run(folder, *words, accept=(0, 1)).split(b"\0")
    if b"" not in rest:
        return Merged(tree.decode())
    end = rest.index(b"")
    return Merged(tree.decode(), tuple(map(os.fsdecode, dict.fromkeys(rest[:end]))), tuple(_messages(rest[end + 1 :])))


def _messages(parts: list[bytes]) -> Iterable[str]:
    """Yield what git says of conflicts: each message stands after a number, that many paths, and its kind."""
    at = 0
    while at < len(parts) and parts[at].isdigit():
        count = int(parts[at])
        kind, said = (os.fsdecode(part) for part in parts[at + count + 1 : at + count + 3])
        if kind.startswith("CONFLICT"):
            yield said.strip()
        at += count + 3


def tree_of(folder: Path, commit: str) -> str:
    """Return the hash of the tree of a commit."""
    return text(folder, "rev-parse", f"{commit}^{{tree}}")


def parent(folder: Path, commit: str) -> str:
    """Return the first parent of a commit."""
    return text(folder, "rev-parse", f"{commit}^")


def differing(folder: Path, old: str, new: str) -> tuple[str, ...]:
    """Return the paths of the files that differ between two commits, as the system names them."""
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)
    return tuple(map(os.fsdecode, fields(folder, *words)))


def grep(folder: Path, commit: str, pattern: str, files: Iterable[str]) -> tuple[str, ...]:
    """Return those of the files that have a line in a commit which an extended regular expression matches."""
    words = ("grep", "-z", "--name-only", "--full-name", "--text", "-E", "-e", pattern, commit, "--")
    wanted = [f":(top,literal){name}" for name in files]
    if not wanted:
        return ()
    found = run(folder, *words, *(wanted if len(wanted) <= _MOST_NAMED else [":/"]), accept=(0, 1))
    return tuple(os.fsdecode(name.partition(b":")[2]) for name in found.split(b"\0") if name)


def commit_tree(folder: Path, tree: str, parents: Iterable[str], message: str) -> str:
    """Store a commit of a tree, by the person that git knows, and return its hash."""
    before = (word for parent in parents for word in ("-p", parent))
    return text(folder, "commit-tree", tree, *before, stdin=message.encode("utf-8", "replace"), env=person())


def look_up(folder: Path, ref: str) -> Ref:
    """Return what a branch points to and where it is checked out; an empty commit if there is no such branch."""
    found = text(folder, "for-each-ref", "--format=%(objectname) %(refname) %(worktreepath)", ref)
    for line in found.splitlines():
        commit, name, place = line.split(" ", 2)
        if name == ref:
            return Ref(commit, place)
    return Ref()


def move(folder: Path, ref: str, new: str, old: str, also: str = "") -> bool:
    """Point a ref to another commit if it still points to `old` ("": if it does not exist); False if it does not.

    `also` is a ref that is pointed to the same commit with it, whatever it was.
    """
    orders = f"update {ref} {new} {old or '0' * len(new)}\n" + (f"update {also} {new}\n" if also else "")
    try:
        run(folder, "update-ref", "--no-deref", "--stdin", stdin=orders.encode())
    except AgentdError:
        if look_up(folder, ref).commit == old:
            raise  # no race: git cannot write it
        return False
    return True
