"""Files that a repository brings, read so that none of them hangs or fills the memory: regular files up to a size."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

SMALL = 1 << 20  # what people write: documents, settings, scripts
LARGE = 64 << 20  # what grows with the work: diaries, ledgers, transcripts
_CHUNK = 1 << 20


class Unreadable(OSError):
    """Something is there that is not for reading; `strerror` says why."""


def opened(path: "str | os.PathLike[str]", flags: int = 0) -> BinaryIO:
    """A regular file. A pipe or a device is Unreadable, a folder is none; other trouble is an OSError."""
    return open(_descriptor(path, flags)[0], "rb")


def read(path: "str | os.PathLike[str]", largest: int = LARGE, flags: int = 0) -> bytes:
    """The bytes of a regular file; a larger one is Unreadable."""
    fd, size = _descriptor(path, flags)
    try:
        return whole(fd, size, str(path), largest)
    finally:
        os.close(fd)


def ending(path: "str | os.PathLike[str]", size: int, flags: int = 0) -> tuple[bytes, bool]:
    """The last bytes of a regular file, and whether they are all of it."""
    fd, whole_size = _descriptor(path, flags)
    try:
        start = max(0, whole_size - size)
        return os.pread(fd, size, start), not start
    finally:
        os.close(fd)


def _descriptor(path: "str | os.PathLike[str]", flags: int) -> tuple[int, int]:
    """A regular file, open, and its size."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    except ValueError as error:  # a name with a NUL
        raise Unreadable(errno.EINVAL, f"it cannot be a path: {error}", str(path)) from None
    known = os.fstat(fd)
    if stat.S_ISREG(known.st_mode):
        return fd, known.st_size
    os.close(fd)
    if stat.S_ISDIR(known.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is not a file", str(path))
    raise Unreadable(errno.EINVAL, "it is not a file", str(path))


def whole(fd: int, size: int, name: str, largest: int) -> bytes:
    """All that is in an open file, if that is not too much. A read asks for no more than the file has: room for
    `largest` costs more than the reading."""
    data = os.read(fd, min(size, largest) + 1)
    if len(data) != size:  # it grows or shrinks, or is of a kind that does not tell its size
        while len(data) <= largest and (more := os.read(fd, min(largest + 1 - len(data), _CHUNK))):
            data += more
    if max(size, len(data)) > largest:
        raise Unreadable(errno.EFBIG, f"it is larger than {largest >> 20} MiB", name)
    return data


def text(path: Path, largest: int = SMALL) -> str | None:
    """The text of a file that is one; None for anything else, such as a program, and for what cannot be read."""
    try:
        data = read(path, largest)
    except OSError:
        return None
    return None if b"\0" in data else data.decode("utf-8-sig", "replace")
