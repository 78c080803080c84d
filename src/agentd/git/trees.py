"""Snapshots of a work tree, stored as git trees: take, keep, compare and write them out.

The user's index, branches, stash and files are never changed. Only objects and refs below refs/agentd are added.
"""

import os
import shutil
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TypeVar

from agentd import files, temporary
from agentd.errors import AgentdError
from agentd.git.checkout import UNCHANGED, add, find_checkout, new_files, submodules
from agentd.git.program import fields, quoted, run, text
from agentd.git.verified_index import PARALLEL, SETTLES, keep_trees, look
from agentd.model.evidence import Changed

LARGEST_TEXT = 1 << 20
_LOOKED_INTO = 8000
_ABSENT = b"000000"
_SUBMODULE = b"160000"
Done = TypeVar("Done")


def snapshot(folder: Path, without: Sequence[str] = (), settles: int = SETTLES) -> str:
    """Store all files below `folder` as a tree, tracked or untracked, except ignored ones, and return its hash.

    Left out are paths below those in `without`, untracked files of more than 5 MB, files made by tools, and nested
    repositories that are not submodules. A tracked file is stored as it is in the index if it cannot be read, or if a
    sparse checkout left it out. A submodule is stored as the commit that is checked out in it. A tracked file that this
    process has read before is not read again if its stat data is the same and it had not changed for `settles` seconds.
    """
    checkout = find_checkout(folder, without, settles)
    with temporary.folder() as room, _beside(lambda: new_files(checkout)) as listed:
        written = Path(room, "index")
        verified, doubted = look(checkout, written)
        env = {"GIT_INDEX_FILE": str(written)}
        new, left_out = listed()
        inside, others = submodules(checkout, verified.submodules)
        wanted = [*doubted, *others, *new]
        if (wanted or inside) and len(verified.ends) >= PARALLEL and not verified.more and not verified.conflicts:
            _write_tree(folder, env)
            keep_trees(checkout, verified, written)
        if inside:
            run(checkout.top, "update-index", "-z", "--stdin", stdin=b"\0".join(inside), env=env)
        if wanted:
            add(checkout, wanted, {*left_out, *inside}, env)
        if verified.conflicts:
            _drop_conflicts(folder, env)
        tree = _write_tree(folder, env, checkout.prefix)
        if not (wanted or inside or verified.more):
            keep_trees(checkout, verified, written)
        return tree


def pruned(folder: Path, commit: str, without: Sequence[str] = ()) -> str:
    """Store the files of a commit that a snapshot of `folder` would have, those below `without` apart, and return the hash."""
    checkout = find_checkout(folder, without, SETTLES)
    with temporary.folder() as room:
        env = {"GIT_INDEX_FILE": f"{room}/index"}
        run(folder, "read-tree", commit, env=env)
        below = [f"{checkout.prefix}{name}/" for name in checkout.away]
        listed = fields(folder, "ls-files", "-z", "--stage", "--full-name", ":/", env=env)
        gone = [entry for entry in listed if any(shown(entry.partition(b"\t")[2]).startswith(each) for each in below)]
        if gone:
            _put(folder, (b"0 %s\t%s" % (entry.split(b" ")[1], entry.partition(b"\t")[2]) for entry in gone), env)
        return _write_tree(folder, env, checkout.prefix)


def put_back(folder: Path, tree: str, now: str) -> tuple[str, ...]:
    """Write the files of `folder` that differ between its tree `now` and an earlier one as they were, and return their paths."""
    listed = fields(folder, "diff-tree", "-r", "-z", "--name-only", "--no-renames", tree, now)
    if not listed:
        return ()
    with temporary.folder() as room:
        there = Path(room, "files")
        lay_out(folder, tree, there)
        for name in map(os.fsdecode, listed):
            was, path = there / name, folder / name
            if path.is_symlink() or path.is_file():
                path.unlink()
            if os.path.lexists(was):
                path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(was, path, follow_symlinks=False)
    return tuple(map(shown, listed))


def store(folder: Path, names: Collection[str]) -> str:
    """Store these files and links below `folder` as a tree, ignored or not, byte for byte, and return its hash."""
    entries = []
    for name in names:
        path = folder / name
        mode = os.lstat(path).st_mode
        link = stat.S_ISLNK(mode)
        data = os.fsencode(os.readlink(path)) if link else files.read(path, files.LARGE, os.O_NOFOLLOW)
        blob = run(folder, "hash-object", "-w", "--no-filters", "--stdin", stdin=data).strip()
        kind = b"120000" if link else b"100755" if mode & stat.S_IXUSR else b"100644"
        entries.append(b"%s %s 0\t%s" % (kind, blob, os.fsencode(name)))
    tree = _tree(folder, entries)
    there = set(paths(folder, tree))
    lost = [name for name in map(shown, map(os.fsencode, names)) if name not in there]
    if lost:  # git ignores names that could be taken for its own
        raise AgentdError(f"git cannot keep {', '.join(lost)} in {folder}.", f"ls -la {quoted(folder)}")
    return tree


def keep(folder: Path, name: str, tree: str) -> None:
    """Protect a tree from garbage collection by the ref refs/agentd/NAME, which all worktrees share."""
    run(folder, "update-ref", f"refs/agentd/{name}", tree)


def forget(folder: Path, name: str) -> None:
    """Delete the ref of a kept tree, if it exists."""
    run(folder, "update-ref", "-d", f"refs/agentd/{name}")


def kept(folder: Path, name: str) -> str:
    """Return the hash of the tree kept under a name, or "" if there is none."""
    return text(folder, "rev-parse", "--verify", "--quiet", f"refs/agentd/{name}^{{tree}}", accept=(0, 1))


def names(folder: Path, below: str) -> list[str]:
    """Return the names of the kept trees below a name."""
    found = text(folder, "for-each-ref", "--format=%(refname)", f"refs/agentd/{below}")
    return [name.removeprefix("refs/agentd/") for name in found.splitlines()]


def changes(folder: Path, old: str, new: str) -> tuple[Changed, ...]:
    """Return the files that differ between two trees, sorted by path, without rename detection.

    The text of a binary file, a file larger than 1 MB and a submodule is "".
    """
    raw = fields(folder, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", old, new)
    sides = []
    for line, path in zip(raw[::2], raw[1::2], strict=True):
        old_mode, new_mode, old_hash, new_hash, _ = line.removeprefix(b":").split(b" ")
        sides.append((shown(path), (old_mode, old_hash), (new_mode, new_hash)))
    blobs = {blob for _, *both in sides for mode, blob in both if mode not in (_ABSENT, _SUBMODULE)}
    texts = dict(_texts(folder, blobs))

    def content(mode: bytes, blob: bytes) -> str | None:
        return None if mode == _ABSENT else texts.get(blob, "")

    found = (Changed(path, content(*was), content(*now)) for path, was, now in sides)
    return tuple(sorted(found, key=lambda one: one.path))


def differing(folder: Path, old: str, new: str) -> tuple[str, ...]:
    """Return the paths of the files that differ between two trees or commits."""
    return tuple(map(shown, fields(folder, "diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)))


def hashes(folder: Path, tree: str, wanted: Iterable[str] | None = None) -> dict[str, str]:
    """Return the hashes of the wanted files that are in a tree, by path; of all its files by default."""
    names = None if wanted is None else frozenset(wanted)
    found = {}
    for entry in fields(folder, "ls-tree", "-r", "-z", "--full-tree", tree):
        about, _, path = entry.partition(b"\t")
        name = shown(path)
        if names is None or name in names:
            found[name] = about.split(b" ")[2].decode()
    return found


def paths(folder: Path, tree: str) -> tuple[str, ...]:
    """Return the sorted paths of all files of a tree."""
    return tuple(sorted(hashes(folder, tree)))


def lay_out(folder: Path, tree: str, target: Path) -> None:
    """Write the files of a tree into an empty folder, with symbolic links and executable bits, without .git."""
    target.mkdir(parents=True, exist_ok=True)
    if any(target.iterdir()):
        raise AgentdError(f"{target} is not empty, so no files were laid out there.", f"ls -A {quoted(target)}")
    with temporary.folder() as room:
        place = text(folder, "rev-parse", "--absolute-git-dir")
        around = {"GIT_DIR": place, "GIT_WORK_TREE": str(target.resolve()), "GIT_INDEX_FILE": f"{room}/index"}
        run(target, *UNCHANGED, "read-tree", "--reset", "-u", tree, env=around)


def overlaid(folder: Path, tree: str, other: str, wanted: Iterable[str]) -> str:
    """Store a copy of `tree` in which the wanted files are as in the tree `other`, and return its hash."""
    names = frozenset(wanted)
    listed = fields(folder, "ls-tree", "-r", "-z", "--full-tree", other)
    return _tree(folder, (entry for entry in listed if shown(entry.partition(b"\t")[2]) in names), tree)


def patch(folder: Path, old: str, new: str) -> str:
    """Return the differences of two trees as a patch with a diffstat, for people and reviewers to read."""
    options = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--patch", "--stat")
    return run(folder, "diff-tree", "-r", *options, old, new).decode("utf-8", "replace")


@contextmanager
def _beside(function: Callable[[], Done]) -> Iterator[Callable[[], Done]]:
    """Run a function in a thread beside the block; what this yields waits for it, and returns or raises what it does."""
    done: list[Done] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            done.append(function())
        except BaseException as error:
            failed.append(error)

    def result() -> Done:
        thread.join()
        if failed:
            raise failed[0]
        return done[0]

    thread = Thread(target=work)  # `concurrent.futures` takes longer to import than git to list the files
    thread.start()
    try:
        yield result
    finally:
        thread.join()


def _tree(folder: Path, entries: Iterable[bytes], base: str = "") -> str:
    """Store a tree of the entries, and of those of the tree `base` that they do not replace, and return its hash."""
    with temporary.folder() as room:
        index = {"GIT_INDEX_FILE": f"{room}/index"}
        if base:
            run(folder, "read-tree", base, env=index)
        _put(folder, entries, index)
        return text(folder, "write-tree", "--missing-ok", env=index)


def _put(folder: Path, entries: Iterable[bytes], index: dict[str, str]) -> None:
    """Add entries to an index, or replace them, each as `ls-files --stage` or `ls-tree` prints it."""
    stdin = b"".join(entry + b"\0" for entry in entries)
    run(folder, "update-index", "-z", "--index-info", stdin=stdin, env=index)


def _drop_conflicts(folder: Path, env: dict[str, str]) -> None:
    """Remove the files that are still in conflict from an index."""
    listed = fields(folder, "ls-files", "-z", "--unmerged", "--full-name", env=env)
    if listed:
        _put(folder, (b"0 %s\t%s" % (entry.split(b" ")[1], entry.partition(b"\t")[2]) for entry in listed), env)


def _write_tree(folder: Path, env: dict[str, str], prefix: str = "") -> str:
    """Store the tree of an index, or of a folder in it, and return its hash."""
    words = (*UNCHANGED, "write-tree", "--missing-ok", *([f"--prefix={prefix}"] if prefix else ()))
    if prefix and not run(folder, "ls-files", "-z", env=env):
        return _tree(folder, ())
    return text(folder, *words, env=env)


def _texts(folder: Path, blobs: Collection[bytes]) -> Iterator[tuple[bytes, str]]:
    """Yield the hash and text of each blob that is neither binary nor larger than 1 MB."""
    asked = b"".join(blob + b"\n" for blob in sorted(blobs))
    sizes = (line.split(b" ") for line in run(folder, "cat-file", "--batch-check", stdin=asked).splitlines())
    short = [line[0] for line in sizes if line[1] == b"blob" and int(line[2]) <= LARGEST_TEXT]
    given = run(folder, "cat-file", "--batch", "--buffer", stdin=b"".join(blob + b"\n" for blob in short))
    at = 0
    for blob in short:
        start = given.index(b"\n", at) + 1
        end = start + int(given[at : start - 1].split(b" ")[2])
        content, at = given[start:end], end + 1
        if b"\0" not in content[:_LOOKED_INTO]:
            yield blob, content.decode("utf-8", "replace")


def shown(path: bytes) -> str:
    """Return a path as text that can be saved: bytes that are not valid UTF-8 are written as `\\xff`."""
    return path.decode("utf-8", "backslashreplace")
