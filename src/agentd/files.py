"""Files that a repository brings, read so that none of them hangs or fills the memory: regular files up to a size."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

SMALL = 1 << 20  # what people write: documents, settings, scripts
LARGE = 64 << 20  # what grows with the work: diaries, ledgers, transcripts


class Unreadable(OSError):
    """Something is there that is not for reading; `strerror` says why."""


def opened(path: "str | os.PathLike[str]", flags: int = 0) -> BinaryIO:
    """A regular file. A pipe or a device is Unreadable, a folder is none; other trouble is an OSError."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    except ValueError as error:  # a name with a NUL
        raise Unreadable(errno.EINVAL, f"it cannot be a path: {error}", str(path)) from None
    kind = stat.S_IFMT(os.fstat(fd).st_mode)
    if kind == stat.S_IFREG:
        return open(fd, "rb")
    os.close(fd)
    if kind == stat.S_IFDIR:
        raise IsADirectoryError(errno.EISDIR, "it is not a file", str(path))
    raise Unreadable(errno.EINVAL, "it is not a file", str(path))


def read(path: "str | os.PathLike[str]", largest: int = LARGE, flags: int = 0) -> bytes:
    """The bytes of a regular file; a larger one is Unreadable."""
    with opened(path, flags) as file:
        return bounded(file, str(path), largest)


def bounded(file: BinaryIO, name: str, largest: int = LARGE) -> bytes:
    """All that is in an open file, if that is not too much. A read asks for no more than the file has: room for
    `largest` costs more than the reading."""
    size = os.fstat(file.fileno()).st_size
    data = file.read(min(size, largest) + 1)
    if size < len(data) <= largest:  # it grows, or is of a kind that does not tell its size
        data += file.read(largest + 1 - len(data))
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
