"""Files that a repository brings, read so that none of them hangs or fills the memory: regular files up to a size."""

import errno
import os
import stat
from pathlib import Path

SMALL = 1 << 20  # what people write: documents, settings, scripts
LARGE = 64 << 20  # what grows with the work: diaries, ledgers, transcripts


class Unreadable(OSError):
    """Something is there that is not for reading; `strerror` says why."""


def read(path: "str | os.PathLike[str]", largest: int = LARGE, flags: int = 0) -> bytes:
    """The bytes of a regular file. A pipe, a device, a folder or a larger file is Unreadable; other trouble an OSError."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    except ValueError as error:  # a name with a NUL
        raise Unreadable(errno.EINVAL, f"it cannot be a path: {error}", str(path)) from None
    try:
        found = os.fstat(fd)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is not a file", str(path))
        if not stat.S_ISREG(found.st_mode):
            raise Unreadable(errno.EINVAL, "it is not a file", str(path))
        parts, left = list[bytes](), largest + 1
        while left > 0 and found.st_size <= largest and (part := os.read(fd, min(left, SMALL))):
            parts.append(part)
            left -= len(part)
        if left <= 0 or found.st_size > largest:
            raise Unreadable(errno.EFBIG, f"it is larger than {largest >> 20} MiB", str(path))
        return b"".join(parts)
    finally:
        os.close(fd)


def text(path: Path, largest: int = SMALL) -> str | None:
    """The text of a file that is one; None for anything else, such as a program, and for what cannot be read."""
    try:
        data = read(path, largest)
    except OSError:
        return None
    return None if b"\0" in data else data.decode("utf-8-sig", "replace")
