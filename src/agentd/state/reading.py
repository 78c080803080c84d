"""Files that people and agents wrote, read with care: no link is followed out of its home, and what is no text has a reason."""

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

from agentd import files
from agentd.state import durable

LARGEST = files.SMALL
Taken = TypeVar("Taken")


class Page(NamedTuple):
    """A file by its path below its home: its bytes and text, or the problem with it and the line that has it."""

    name: str
    data: bytes = b""
    text: str = ""
    problem: str = ""
    line: int = 1

    @property
    def raw(self) -> str:
        """The text as it is, whatever its bytes."""
        return self.data.decode(errors="surrogateescape")


def own(path: Path | str, largest: int = files.LARGE) -> bytes:
    """One of agentd's own files, read as `opened` opens it."""
    return _own(path, lambda: files.read(path, largest, os.O_NOFOLLOW))


def opened(path: Path | str) -> BinaryIO:
    """One of agentd's own files. A link in its place, or in that of its folder, is not followed, and OSError says so."""
    return _own(path, lambda: files.opened(path, os.O_NOFOLLOW))


def ending(path: Path | str, size: int) -> tuple[bytes, bool]:
    """The last bytes of one of agentd's own files, and whether they are all of it."""
    return _own(path, lambda: files.ending(path, size, os.O_NOFOLLOW))


def _own(path: Path | str, take: Callable[[], Taken]) -> Taken:
    folder = os.path.dirname(path) or "."
    if os.path.islink(folder):
        raise OSError(errno.ELOOP, "it is a link, which is not followed", folder)
    try:
        return take()
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise OSError(errno.ELOOP, "it is a link, which is not followed", str(path)) from None


def raw(path: Path) -> str | None:
    """A file as it is, whatever its bytes; None if there is none."""
    try:
        return own(path).decode(errors="surrogateescape")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise durable.trouble(path, error, "read") from error


def page(home: str, name: str) -> Page | None:
    """The file of this name; None if there is nothing."""
    return _page(home, name, _link_above(home, name.rpartition("/")[0]))


def _page(home: str, name: str, link_above: bool) -> Page | None:
    path = f"{home}/{name}"
    try:
        data = _read(path, home, link_above)
    except (FileNotFoundError, NotADirectoryError):
        return Page(printable(name), problem="it is a link to nothing") if os.path.islink(path) else None
    except (files.Unreadable, IsADirectoryError) as error:
        return Page(printable(name), problem=str(error.strerror))
    except OSError as error:
        return Page(printable(name), problem=f"it cannot be read: {error.strerror}")
    try:
        return Page(printable(name), data, data.decode())
    except UnicodeDecodeError as error:
        return Page(printable(name), data, problem="it is not UTF-8 text", line=data.count(b"\n", 0, error.start) + 1)


def pages(home: str, names: Iterable[str]) -> Iterator[Page]:
    """Those of these files that are there."""
    return listed_pages(home, ((name, "") for name in names))


def markdown(home: str, below: str = "") -> Iterator[Page]:
    """Every Markdown file in a folder of the home and below it, in order; `_drafts` and hidden ones are left alone."""
    return listed_pages(home, listing(home, below))


def listed_pages(home: str, listed: Iterable[tuple[str, str]]) -> Iterator[Page]:
    """The files of a listing. Each folder is looked at once."""
    link_above = cache(partial(_link_above, home))
    for name, problem in listed:
        if problem:
            yield Page(printable(name) or ".", problem=problem)
        else:
            found = _page(home, name, link_above(name.rpartition("/")[0]))
            if found is not None:
                yield found


def listing(home: str, below: str = "") -> Iterator[tuple[str, str]]:
    """The names of these files; a folder that cannot be looked into is there with its problem."""
    folder = f"{home}/{below}" if below else home
    if os.path.islink(folder):
        yield below, "it is a link to a folder, which is not followed"
        return
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        yield below, f"it cannot be read: {error.strerror}"
        return
    for entry in entries:
        name = f"{below}/{entry.name}" if below else entry.name
        if entry.name.startswith(("_", ".")):
            continue
        if entry.name.endswith(".md"):
            yield name, ""
        elif entry.is_dir():
            yield from listing(home, name)


def printable(name: str) -> str:
    """A name that any terminal and any file can hold; bytes that are no text are shown as such."""
    if name.isascii() and name.isprintable():
        return name
    text = name.encode(errors="surrogateescape").decode(errors="replace")
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def _link_above(home: str, below: str) -> bool:
    """Whether the home, or a folder on the way from it to the one below, is a link."""
    folder = f"{home}/{below}" if below else home
    while not os.path.islink(folder) and len(folder) > len(home):
        folder = os.path.dirname(folder)
    return os.path.islink(folder)


def _read(path: str, home: str, link_above: bool) -> bytes:
    if link_above:
        raise files.Unreadable(errno.ELOOP, "its folder is a link, which is not followed")
    try:
        return files.read(path, LARGEST, os.O_NOFOLLOW)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.EMLINK) or not os.path.islink(path):
            raise
        return files.read(_inside(path, home), LARGEST, os.O_NOFOLLOW)


def _inside(path: str, home: str) -> str:
    target, top = os.path.realpath(path), os.path.realpath(home)
    if not target.startswith(top + os.sep):
        raise files.Unreadable(errno.ELOOP, "it is a link that leads out of its folder, which is not followed")
    return target
