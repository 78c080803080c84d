"""Entries of a git index with stat data of files that were just read. As a program, for a part of a long list.

Only a little of the standard library is imported, so that the program starts at once. Nothing is written.
"""

import hashlib
import marshal
import os
import stat
import struct
import sys
from binascii import unhexlify

SUBMODULE = b"160000"
STAT = struct.Struct(">10I")
SHA1_LENGTH = 40
EXTENDED = 0x4000  # of the flags: two more bytes of flags follow; of those: `skip-worktree`
LONGEST = 0xFFF
_SECOND = 1_000_000_000
_PART = 1 << 20
_PADDING = tuple(bytes(8 - length) for length in range(8))
# What an index says of a file, by the bits of its mode that count there.
_KIND = 0o170000 | stat.S_IXUSR
_KINDS = {stat.S_IFREG: b"100644", stat.S_IFREG | stat.S_IXUSR: b"100755", stat.S_IFLNK | stat.S_IXUSR: b"120000"}
_LOW = 0xFFFFFFFF
# A pipe must not be waited for.
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


# The fields of `verified_index.Entries`, which are not named here because that would import more than all the rest.
Fields = tuple[bytes, bytes, list[bytes], list[int], bool, list[bytes], list[bytes], list[bytes]]


def read(top: bytes, listed: list[bytes], settled: int, device: int) -> Fields:
    """Read files, each given as `ls-files -v --stage` prints it, and return their entries.

    Their paths follow `top`, which ends with a slash, or is nothing for the working folder. An entry has stat data if
    the content is what it says. That is settled if the file is on this device and was last changed before this time, in
    nanoseconds.
    """
    made: list[bytes] = []
    doubted, unsettled, submodules, absent, present = [], [], [], [], []
    real = {b"": True}
    new, conflicts = None, False
    for number, line in enumerate(listed):
        about, path = line.split(b"\t", 1)
        tag, mode, known, stage = about.split(b" ")
        blob = unhexlify(known)
        if new is None:
            new = (hashlib.sha1 if len(known) == SHA1_LENGTH else hashlib.sha256)(usedforsecurity=False).copy
        flags, seen, more = len(path) if len(path) < LONGEST else LONGEST, b"", b""
        if stage != b"0":
            doubted.append(path)
            flags, conflicts = flags | int(stage) << 12, True
        elif mode == SUBMODULE:
            submodules.append(path)
        elif tag in b"Ss" and not os.path.lexists(top + path):
            absent.append(path)
            flags, more = flags | EXTENDED, EXTENDED.to_bytes(2, "big")
        else:
            if tag in b"Ss":
                present.append(path)
            above = path.rpartition(b"/")[0]
            there = _there(top + path, blob, new()) if real.get(above) or _is_real(top, above, real) else None
            if there is None:
                doubted.append(path)
            else:
                kind, inode, disk, _, user, group, size, *_ = there
                if disk != device or there.st_ctime_ns >= settled or there.st_mtime_ns >= settled:
                    unsettled.append(number)
                if _KINDS.get(kind & _KIND) != mode:
                    doubted.append(path)
                seen = STAT.pack(
                    there.st_ctime_ns // _SECOND & _LOW,
                    there.st_ctime_ns % _SECOND,
                    there.st_mtime_ns // _SECOND & _LOW,
                    there.st_mtime_ns % _SECOND,
                    disk & _LOW,
                    inode & _LOW,
                    int(mode, 8),
                    user,
                    group,
                    size & _LOW,
                )
        entry = b"%b%b%b%b%b" % (seen or no_stat(mode), blob, flags.to_bytes(2, "big"), more, path)
        made.append(entry + _PADDING[len(entry) % 8])
    lengths = struct.pack(f"{len(made)}I", *map(len, made))
    return b"".join(made), lengths, doubted, unsettled, conflicts, submodules, absent, present


def no_stat(mode: bytes) -> bytes:
    """Return the stat data of an entry that says nothing about the file but its mode."""
    return STAT.pack(0, 0, 0, 0, 0, 0, int(mode, 8), 0, 0, 0)


def _there(file: bytes, blob: bytes, found: "hashlib._Hash") -> os.stat_result | None:
    """Return the stat data of a file or link if this is the hash of its blob, and None if not or if nobody can tell.

    `found` is a new hash to compute it with.
    """
    try:
        fd = os.open(file, _OPEN)
    except OSError:
        return _link(file, blob, found)
    try:
        there = os.fstat(fd)
        if not stat.S_ISREG(there.st_mode):
            return None
        left = there.st_size
        found.update(b"blob %d\0" % left)
        while left > 0 and (part := os.read(fd, left if left < _PART else _PART)):
            found.update(part)
            left -= len(part)
    except OSError:
        return None
    finally:
        os.close(fd)
    return there if found.digest() == blob else None


def _link(file: bytes, blob: bytes, found: "hashlib._Hash") -> os.stat_result | None:
    try:
        there = os.lstat(file)
        target = os.readlink(file)
    except OSError:
        return None
    found.update(b"blob %d\0%b" % (len(target), target))
    return there if found.digest() == blob else None


def _is_real(top: bytes, folder: bytes, real: dict[bytes, bool]) -> bool:
    """Return whether no part of a folder's path is a symbolic link: git does not look behind one."""
    if folder not in real:
        above = folder.rpartition(b"/")[0]
        real[folder] = _is_real(top, above, real) and not os.path.islink(top + folder)
    return real[folder]


if __name__ == "__main__":
    folder, time, disk = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.chdir(folder)  # shorter paths are found sooner
    result = read(b"", sys.stdin.buffer.read().split(b"\0")[:-1], time, disk)
    sys.stdout.buffer.write(marshal.dumps(result))
