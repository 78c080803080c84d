"""Part of a work tree: which of its files count, and how they get into an index. The user's own index is only read."""

import os
import posixpath
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir

from agentd import files
from agentd.errors import AgentdError
from agentd.git.program import fields, run, work_tree
from agentd.values import dataclass

LARGEST_NEW_FILE = 5 << 20
# Files made by tools. Many projects forget to ignore them.
LEFT_BEHIND = frozenset(
    b"__pycache__ .pytest_cache .mypy_cache .ruff_cache .hypothesis .tox .nox .venv venv .coverage htmlcov "
    b"node_modules .nyc_output .gradle .eggs .DS_Store".split()
)
MOST_NAMED = 200  # paths that `git add` compares with each entry
# File contents are stored and written unchanged, and a sparse checkout does not limit which files are.
_EXACT = ("autocrlf=false", "eol=lf", "safecrlf=false", "sparseCheckout=false")
UNCHANGED = tuple(word for setting in _EXACT for word in ("-c", f"core.{setting}"))


@dataclass(frozen=True)
class Checkout:
    """Everything below `folder`, except what lies below the paths `away`, which are given from there.

    The stat data of a file counts when it has not changed for `settles` seconds.
    """

    folder: Path
    top: Path
    index: Path
    away: tuple[str, ...]
    settles: int

    @property
    def prefix(self) -> str:
        """The path of the folder from the top of the work tree, with a slash at its end; "" for the top itself."""
        inner = self.folder.relative_to(self.top).as_posix()
        return "" if inner == "." else f"{inner}/"

    @property
    def pathspec(self) -> tuple[str, ...]:
        return ("--", ".", *(f":(exclude,literal){path}" for path in self.away))

    def has(self, path: bytes) -> bool:
        """Return whether there is anything at a path, which is given from the top."""
        return os.path.lexists(os.path.join(os.fsencode(self.top), path))


def find_checkout(folder: Path, without: Sequence[str], settles: int) -> Checkout:
    """Return the part of a work tree below `folder`, without these paths, which are given from there."""
    real = Path(os.path.realpath(folder))
    top = work_tree(real) or real
    places = (os.path.relpath(real / path, real) for path in (*without, os.path.realpath(gettempdir())))
    inner = {posixpath.normpath(path) for path in places if path != "." and path.split("/")[0] != ".."}
    return Checkout(real, top, _git_folder(top) / "index", tuple(sorted(inner)), settles)


def _git_folder(top: Path) -> Path:
    """Return git's folder for a work tree, which a file `.git` names in a worktree or a submodule."""
    mark = top / ".git"
    with suppress(OSError):  # git says what is wrong with it
        if mark.is_file():
            return top / os.fsdecode(files.read(mark, files.SMALL)).removeprefix("gitdir:").strip()
    return mark


def new_files(checkout: Checkout) -> tuple[list[bytes], set[bytes]]:
    """Return the untracked files that are not ignored, and the files and repositories among them that are left out."""
    new, left_out = [], set()
    words = ("ls-files", "-z", "--others", "--exclude-standard", *checkout.pathspec)
    above = os.fsencode(checkout.prefix)
    for path in fields(checkout.folder, *words):
        if is_too_much(checkout.folder, path):
            left_out.add(above + path.rstrip(b"/"))
        else:
            new.append(above + path)
    return new, left_out


def submodules(checkout: Checkout, known: Iterable[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Return which of the submodules are checked out, and which git has to look at because there is no such folder.

    `git add` would run `git status` in the first, with filter drivers that an agent in a sandbox can set up.
    """
    inside, others = [], []
    for path in known:
        file = os.path.join(os.fsencode(checkout.top), path)
        if os.path.realpath(file) != file or not os.path.isdir(file):
            others.append(path)
        elif os.path.lexists(file + b"/.git"):
            inside.append(path)
    return inside, others


def add(checkout: Checkout, wanted: Collection[bytes], left_out: Collection[bytes], env: dict[str, str]) -> None:
    """Add the wanted files to an index as they are now, and remove those that are gone.

    A file that cannot be read stays as it is there. Nothing is added that is left out.
    """
    words = ("add", "--all", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul")

    def call(*paths: bytes) -> None:  # exit code 1: some files cannot be read
        run(checkout.folder, *UNCHANGED, *words, stdin=b"\0".join(paths), env=env, accept=(0, 1))

    top = os.fsencode(checkout.top)
    if len(wanted) <= MOST_NAMED and not any(_is_folder(os.path.join(top, path)) for path in wanted):
        with suppress(AgentdError):  # a file that has just gone, or that lies behind a link
            return call(*(b":(top,literal)" + path for path in wanted))
    shorter = sorted(_without_insides(left_out, wanted))
    away = (b":(exclude,literal)" + os.fsencode(path) for path in checkout.away)
    return call(b".", *away, *(b":(top,exclude,literal)" + path for path in shorter))


def _without_insides(left_out: Collection[bytes], wanted: Collection[bytes]) -> set[bytes]:
    """Return the paths that are left out, with a folder of a tool in place of all below it if nothing below is wanted."""
    used = {*wanted} | {path[:end] for path in wanted for end in range(len(path)) if path[end : end + 1] == b"/"}
    found = set()
    for path in left_out:
        parts = path.split(b"/")
        length = next((number for number, part in enumerate(parts, 1) if part in LEFT_BEHIND), len(parts))
        folder = b"/".join(parts[:length])
        found.add(path if folder in used else folder)
    return found


def _is_folder(path: bytes) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def is_too_much(folder: Path, path: bytes) -> bool:
    """Return whether an untracked path is a nested repository, a file of more than 5 MB, or made by a tool."""
    if not LEFT_BEHIND.isdisjoint(path.split(b"/")):
        return True
    try:
        return path.endswith(b"/") or os.lstat(os.path.join(os.fsencode(folder), path)).st_size > LARGEST_NEW_FILE
    except OSError:
        return False
