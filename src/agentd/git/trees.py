"""The files of a checkout as git trees: taken, kept, compared and laid out. It never touches a person's index,
branches, stash or files; all it adds to a repository are objects, and refs below refs/agentd.
"""

import hashlib
import os
import posixpath
import shutil
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from agentd.errors import AgentdError
from agentd.git.plumbing import plumb
from agentd.model.evidence import Changed

LARGEST_NEW_FILE = 5 << 20
# What tools leave behind where they run, and many projects forget to have ignored.
LEFT_BEHIND = frozenset(
    b"__pycache__ .pytest_cache .mypy_cache .ruff_cache .hypothesis .tox .nox .venv venv .coverage htmlcov "
    b"node_modules .nyc_output .gradle .eggs .DS_Store".split()
)
LARGEST_TEXT = 1 << 20
_LOOKED_INTO = 8000
_SUBMODULE = b"160000"
_SHA1_LENGTH = 40
_PART = 1 << 20


def snapshot(folder: Path, without: Sequence[str] = ()) -> str:
    """The hash of a tree of every file below `folder` as it is now, tracked or new, but not what git ignores.

    Left out are what lies below the paths `without`, new files of more than 5 MB, what tools leave behind, and other
    repositories that are no submodules. A tracked file that cannot be read counts as unchanged. What a sparse checkout leaves away is not gone.
    """
    with TemporaryDirectory(prefix="agentd-") as room:
        index = {"GIT_INDEX_FILE": str(Path(room, "index"))}
        _copy_index(folder, Path(room, "index"))
        away = _inner(folder, (*without, os.path.realpath(gettempdir())))
        new = _split(plumb(folder, "ls-files", "-z", "--others", "--exclude-standard", env=index))
        away |= {path.rstrip(b"/") for path in new if is_too_much(folder, path)}
        _doubt(folder, index, away)
        paths = b"".join((b".\0", *(b":(exclude,literal)%s\0" % path for path in sorted(away))))
        words = ("add", "--all", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul")
        plumb(folder, *words, stdin=paths, env=index, accept=(0, 1))  # 1: it passed over what cannot be read
        # The paths are told from `folder` on, so that a new index made of them is the tree of that folder alone.
        staged = [
            entry for entry in _split(plumb(folder, "ls-files", "-z", "--stage", env=index)) if _counts(entry, away)
        ]
        own = {"GIT_INDEX_FILE": str(Path(room, "own"))}
        plumb(folder, "update-index", "-z", "--index-info", stdin=b"".join(entry + b"\0" for entry in staged), env=own)
        return plumb(folder, "write-tree", "--missing-ok", env=own).decode().strip()


def keep(folder: Path, name: str, tree: str) -> None:
    """Protects a tree from git's cleaning up, under a name that all worktrees of the repository share."""
    plumb(folder, "update-ref", f"refs/agentd/{name}", tree)


def forget(folder: Path, name: str) -> None:
    """Gives up what was kept under a name, if anything was."""
    plumb(folder, "update-ref", "-d", f"refs/agentd/{name}")


def kept(folder: Path, name: str) -> str:
    """The tree that is kept under a name; nothing if none is."""
    found = plumb(folder, "rev-parse", "--verify", "--quiet", f"refs/agentd/{name}^{{tree}}", accept=(0, 1))
    return found.decode().strip()


def changes(folder: Path, old: str, new: str) -> tuple[Changed, ...]:
    """Every file that differs between two trees, by path, none of them as renamed. The text of what is binary, larger
    than 1 MB or a submodule is empty."""
    fields = _split(plumb(folder, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", old, new))
    sides = []
    for line, path in zip(fields[::2], fields[1::2], strict=True):
        old_mode, new_mode, old_hash, new_hash, _ = line.removeprefix(b":").split(b" ")
        sides.append((shown(path), (old_mode, old_hash), (new_mode, new_hash)))
    blobs = {blob for _, *both in sides for mode, blob in both if _has_text(mode)}
    texts = dict(_texts(folder, blobs))

    def text(mode: bytes, blob: bytes) -> str | None:
        return None if not int(mode) else texts.get(blob, "") if _has_text(mode) else ""

    return tuple(sorted((Changed(path, text(*was), text(*now)) for path, was, now in sides), key=lambda one: one.path))


def hashes(folder: Path, tree: str, wanted: Iterable[str] | None = None) -> dict[str, str]:
    """The hash of each of these files that is in a tree; of all its files if none are named."""
    names = None if wanted is None else frozenset(wanted)
    found = {}
    for entry in _split(plumb(folder, "ls-tree", "-r", "-z", "--full-tree", tree)):
        about, _, path = entry.partition(b"\t")
        name = shown(path)
        if names is None or name in names:
            found[name] = about.split(b" ")[2].decode()
    return found


def paths(folder: Path, tree: str) -> tuple[str, ...]:
    """Every file of a tree, by path."""
    return tuple(sorted(hashes(folder, tree)))


def lay_out(folder: Path, tree: str, target: Path) -> None:
    """Writes the files of a tree into an empty folder, with their links and what is executable, and no .git."""
    target.mkdir(parents=True, exist_ok=True)
    if any(target.iterdir()):
        raise AgentdError(f"{target} is not empty, so no files were laid out there.", f"ls -A {target}")
    place = plumb(folder, "rev-parse", "--absolute-git-dir").removesuffix(b"\n")
    with TemporaryDirectory(prefix="agentd-") as room:
        around = {
            "GIT_DIR": os.fsdecode(place),
            "GIT_WORK_TREE": str(target.resolve()),
            "GIT_INDEX_FILE": f"{room}/index",
        }
        plumb(target, "read-tree", "--reset", "-u", tree, env=around)


def overlaid(folder: Path, tree: str, other: str, wanted: Iterable[str]) -> str:
    """A tree with some of its files as another tree has them; the others stay as they are."""
    names = frozenset(wanted)
    listed = _split(plumb(folder, "ls-tree", "-r", "-z", "--full-tree", other))
    taken = [entry for entry in listed if shown(entry.partition(b"\t")[2]) in names]
    with TemporaryDirectory(prefix="agentd-") as room:
        own = {"GIT_INDEX_FILE": f"{room}/index"}
        plumb(folder, "read-tree", tree, env=own)
        plumb(folder, "update-index", "-z", "--index-info", stdin=b"".join(entry + b"\0" for entry in taken), env=own)
        return plumb(folder, "write-tree", "--missing-ok", env=own).decode().strip()


def patch(folder: Path, old: str, new: str) -> str:
    """What differs between two trees, as a text for people and reviewers."""
    options = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--patch", "--stat")
    return plumb(folder, "diff-tree", "-r", *options, old, new).decode("utf-8", "replace")


def _copy_index(folder: Path, target: Path) -> None:
    """The person's index, with what it knows beside the files that are here."""
    real = folder / os.fsdecode(plumb(folder, "rev-parse", "--git-path", "index").removesuffix(b"\n"))
    try:
        shutil.copy2(real, target)
    except FileNotFoundError:
        return  # nothing was ever added here
    except OSError as trouble:
        raise AgentdError(f"{real} cannot be read: {trouble.strerror}.", f"ls -l {real}") from trouble


def _inner(folder: Path, away: Iterable[str]) -> set[bytes]:
    """Those of the paths that lie below a folder, from there on."""
    top = folder.resolve()
    found = {posixpath.normpath(os.path.relpath(top / path, top)) for path in away}
    return {os.fsencode(path) for path in found if path != "." and path.split("/")[0] != ".."}


def _doubt(folder: Path, index: dict[str, str], away: Collection[bytes]) -> None:
    """Lets git read every file that is not as an index says, and those it was told not to look at, as far as they are there.

    What lies below the paths `away` counts for nothing. Whoever can write an index can have it say that a file is unchanged, with the right time and size.
    """
    doubted = []
    for entry in _split(plumb(folder, "ls-files", "-z", "-v", "--stage", env=index)):
        tag, about, path = entry[:1], *entry[2:].split(b"\t", 1)
        mode, known, stage = about.split(b" ")
        if _lies_below(path, away):
            continue
        if stage != b"0" or mode == _SUBMODULE or (tag in b"Ss" and not os.path.lexists(_at(folder, path))):
            continue
        if tag != b"H" or _hash(_at(folder, path), len(known)) != known.decode():
            doubted.append((about, path))
    if doubted:
        # An entry that is put in anew knows no time and no size. Its path begins at the top of the checkout.
        above = plumb(folder, "rev-parse", "--show-prefix").removesuffix(b"\n")
        lines = b"".join(b"%s\t%s%s\0" % (about, above, path) for about, path in doubted)
        plumb(folder, "update-index", "-z", "--index-info", stdin=lines, env=index)


def _hash(path: bytes, length: int) -> str:
    """What git calls the bytes of a file or link, in a repository with hashes that long; nothing if they cannot be read."""
    make = hashlib.sha1 if length == _SHA1_LENGTH else hashlib.sha256
    try:
        there = os.lstat(path)
        found = make(b"blob %d\0" % there.st_size, usedforsecurity=False)
        if stat.S_ISLNK(there.st_mode):
            found.update(os.readlink(path))
        elif not stat.S_ISREG(there.st_mode):
            return ""
        else:
            with open(path, "rb", buffering=0) as file:
                while part := file.read(_PART):
                    found.update(part)
    except OSError:
        return ""
    return found.hexdigest()


def is_too_much(folder: Path, path: bytes) -> bool:
    """Whether a new path is another repository, a large file, or what a tool left behind."""
    if not LEFT_BEHIND.isdisjoint(path.split(b"/")):
        return True
    try:
        return path.endswith(b"/") or os.lstat(_at(folder, path)).st_size > LARGEST_NEW_FILE
    except OSError:
        return False


def _counts(entry: bytes, away: Collection[bytes]) -> bool:
    """Whether a line of an index is a file that has no conflict and does not lie below the paths `away`."""
    about, _, path = entry.partition(b"\t")
    return about.endswith(b" 0") and not _lies_below(path, away)


def _lies_below(path: bytes, away: Collection[bytes]) -> bool:
    parts = path.split(b"/")
    return any(b"/".join(parts[:length]) in away for length in range(1, len(parts) + 1))


def _texts(folder: Path, blobs: Collection[bytes]) -> Iterator[tuple[bytes, str]]:
    """The text of each blob that is one and not too long."""
    asked = b"".join(blob + b"\n" for blob in sorted(blobs))
    sizes = (line.split(b" ") for line in plumb(folder, "cat-file", "--batch-check", stdin=asked).splitlines())
    short = [line[0] for line in sizes if line[1] == b"blob" and int(line[2]) <= LARGEST_TEXT]
    given = plumb(folder, "cat-file", "--batch", "--buffer", stdin=b"".join(blob + b"\n" for blob in short))
    at = 0
    for blob in short:
        start = given.index(b"\n", at) + 1
        end = start + int(given[at : start - 1].split(b" ")[2])
        content, at = given[start:end], end + 1
        if b"\0" not in content[:_LOOKED_INTO]:
            yield blob, content.decode("utf-8", "replace")


def _has_text(mode: bytes) -> bool:
    return int(mode) != 0 and mode != _SUBMODULE


def _at(folder: Path, path: bytes) -> bytes:
    return os.path.join(os.fsencode(folder), path)


def shown(path: bytes) -> str:
    """A path as text; bytes that are no UTF-8 as `\\xff`, since such a name has no other text that can be saved."""
    return path.decode("utf-8", "backslashreplace")


def _split(output: bytes) -> list[bytes]:
    return [part for part in output.split(b"\0") if part]
