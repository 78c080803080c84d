"""The one place that writes files that matter: each write is whole and on the disk, or the old file stands.

It never retries and never leaves a half-written file under its own name; trouble is told in words.
"""

import errno
import itertools
import os
import shlex
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from agentd import files
from agentd.errors import DiskTrouble
from agentd.patterns import regex
from agentd.state import crash
from agentd.state.crash import point as point

_appending = threading.Lock()
_numbers = itertools.count(1)
_TEMP = regex(r"\..+\.([0-9]+)\.[0-9]+\.tmp")
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}
_WORDS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: "there is no permission to write there",
    errno.EPERM: "there is no permission to write there",
    errno.ENOENT: "its folder is not there",
    errno.EISDIR: "a folder is in its place",
    errno.ENOTDIR: "a file is in the place of its folder",
    errno.EFBIG: "the file would be larger than the limit",
    errno.EIO: "the disk failed",
}
_FIXES = {
    errno.ENOSPC: "df -h {folder}   # make room, then run the same command again",
    errno.EDQUOT: "quota   # make room, then run the same command again",
    errno.EROFS: "findmnt -T {folder}   # mount it writable, then run the same command again",
}
_FIX = "ls -ld {folder} {path}   # put this right, then run the same command again"


def refuse_links(path: Path, verb: str = "written") -> None:
    """An error if a path, or a folder on the way to it, is a link: a repository can bring one that leads anywhere.

    Projects begin at a real path, so that a link above one does not count.
    """
    path = Path(os.path.abspath(path))
    if os.path.realpath(path) != str(path):
        link = next((each for each in (*reversed(path.parents), path) if os.path.islink(each)), path)
        what = (
            f"{path} was not {verb}: {link} is a link to {os.path.realpath(link)}, and agentd writes through no link."
        )
        raise DiskTrouble(what, f"rm {shlex.quote(str(link))}   # only the link; then run the same command again")


@contextmanager
def folder_of(path: Path, known: int | None = None) -> Iterator[int]:
    """The folder of a file to write, open, so that it stays the one that was looked at; `known` if that is it.

    No link leads to it, and the system's errors are told in words.
    """
    try:
        if known is not None:
            yield known
            return
        parent = os.path.dirname(path) or "."
        with _opened(parent, os.O_RDONLY | os.O_DIRECTORY) as folder:
            if not _is_at(folder, parent):
                refuse_links(path)
            yield folder
    except OSError as error:
        refuse_links(path)
        raise trouble(path, error) from error


def replace(path: Path, data: bytes, role: str, mode: int | None = None, folder: int | None = None) -> None:
    """Put `data` in the place of the file, keeping its permission bits (`mode` if there is none).

    `folder` is what `folder_of` gave for the path, if the caller has that open.
    """
    moment = crash.enter(role)
    with folder_of(path, folder) as folder:
        there = _mode(path.name, folder)
        temp = _write_temp(path.name, folder, data, moment, mode if there is None else there)
        try:
            os.replace(temp, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            _discard(temp, folder)
            raise
        _sync(folder)
    crash.leave(moment)


def append(path: Path, lines: bytes, role: str, folder: int | None = None) -> None:
    """Add lines; a torn line that a crash left behind is closed first, so that it never swallows the first of them."""
    moment = crash.enter(role)
    with folder_of(path, folder) as folder:
        with _opened(path.name, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, folder) as fd:
            with _appending:
                size = os.fstat(fd).st_size
                torn = size and os.pread(fd, 1, size - 1) != b"\n"
                try:
                    _write(fd, b"\n" + lines if torn else lines, moment)
                except OSError:
                    os.ftruncate(fd, size)
                    raise
            os.fsync(fd)
        if not size:  # it may be new
            _sync(folder)
    crash.leave(moment)


def create(path: Path, data: bytes, role: str) -> bool:
    """Make a file that was not there, complete from the first moment; False if somebody was first."""
    moment = crash.enter(role)
    with folder_of(path) as folder:
        if _mode(path.name, folder) is not None:
            return False
        temp = _write_temp(path.name, folder, data, moment)
        try:
            _link(temp, path, folder, data)
        except FileExistsError:
            return False
        finally:
            _discard(temp, folder)
        _sync(folder)
    crash.leave(moment)
    return True


def move(path: Path, target: Path, role: str) -> None:
    """Give a file or folder another place on the same disk."""
    moment = crash.enter(role)
    refuse_links(path.parent, "moved")
    with _in_words(target, "moved"):
        os.rename(path, target)
        if moment == "torn":
            crash.die()
        _sync_folder(target.parent)
        _sync_folder(path.parent)
    crash.leave(moment)


def copy_aside(path: Path, home: Path | None = None) -> Path:
    """What a file is now, kept beside it or in another folder, so that nothing that a person wrote is lost."""
    number = 1
    while (copy := (home or path.parent) / f"{path.name}.changed-{number}").exists():
        number += 1
    replace(copy, files.read(path), "document")
    return copy


def remove(path: Path, role: str) -> None:
    """Take a file away, if it is there."""
    moment = crash.enter(role)
    with _in_words(path, "removed", link=True), suppress(FileNotFoundError):
        os.unlink(path)
        if moment == "torn":
            crash.die()
        _sync_folder(path.parent)
    crash.leave(moment)


def make_folder(path: Path) -> None:
    """Make a folder and its parents, each on the disk before the next."""
    missing = list(itertools.takewhile(lambda folder: not os.path.isdir(folder), (path, *path.parents)))
    with _in_words(path, "made"):
        for folder in reversed(missing):
            try:
                os.mkdir(folder)
            except FileExistsError as error:
                if not os.path.isdir(folder):
                    raise NotADirectoryError(errno.ENOTDIR, "a file is in the way") from error
            _sync_folder(folder.parent)


def sweep(folder: Path, deep: bool = True) -> None:
    """Take away the temp files that dead processes left in a folder and, if it is `deep`, below it."""
    for place, below, names in os.walk(folder):
        if not deep:
            below.clear()
        for name in names:
            left = _TEMP.fullmatch(name)
            if left and not alive(int(left[1])):
                _discard(Path(place, name))


def alive(pid: int) -> bool:
    """Whether a process of this machine has that number now."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def trouble(path: Path, error: OSError, verb: str = "written") -> DiskTrouble:
    """The system's error in words, with what to do about it."""
    cause = _WORDS.get(error.errno or 0, error.strerror or str(error))
    fix = _FIXES.get(error.errno or 0, _FIX).format(folder=shlex.quote(str(path.parent)), path=shlex.quote(str(path)))
    return DiskTrouble(f"{path} was not {verb}: {cause}.", fix)


@contextmanager
def _in_words(path: Path, verb: str = "written", link: bool = False) -> Iterator[None]:
    """The system's errors told in words; `link`: what is there may itself be a link, as it is not written to."""
    refuse_links(path.parent if link else path, verb)
    try:
        yield
    except OSError as error:
        raise trouble(path, error, verb) from error


def _is_at(folder: int, path: str) -> bool:
    """Whether an open folder has this path itself, with no link on the way. False where the system does not tell."""
    try:
        return os.readlink(f"/proc/self/fd/{folder}") == path
    except OSError:
        return False


def _mode(name: str, folder: int) -> int | None:
    """The permission bits of a file; None if there is none. A link in its place is an error."""
    try:
        mode = os.lstat(name, dir_fd=folder).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return stat.S_IMODE(mode)


@contextmanager
def _opened(path: Path | str, flags: int, folder: int | None = None) -> Iterator[int]:
    fd = os.open(path, flags, 0o666, dir_fd=folder)
    try:
        yield fd
    finally:
        os.close(fd)


def _write_temp(name: str, folder: int, data: bytes, moment: str, mode: int | None = None) -> str:
    """A complete file beside the one of this name, on the disk."""
    while True:
        temp = f".{name}.{os.getpid()}.{next(_numbers)}.tmp"
        try:
            with _opened(temp, _NEW, folder) as fd:
                if mode is not None:
                    os.fchmod(fd, mode)
                _write(fd, data, moment)
                os.fsync(fd)
            return temp
        except FileExistsError:  # left by a dead process that had the same number
            continue
        except OSError:
            _discard(temp, folder)
            raise


def _link(temp: str, path: Path, folder: int, data: bytes) -> None:
    try:
        os.link(temp, path.name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _create_in_place(path, data)


def _create_in_place(path: Path, data: bytes) -> None:
    """For disks without hard links: still exclusive, though a reader may see the file grow."""
    with _opened(path, _NEW) as fd:
        try:
            _write(fd, data)
            os.fsync(fd)
        except OSError:
            _discard(path)
            raise


def _write(fd: int, data: bytes, moment: str = "") -> None:
    if moment == "torn":
        os.write(fd, data[: len(data) // 2])
        os.fsync(fd)
        crash.die()
    rest = memoryview(data)
    while rest:  # after a short write, the next one says why
        rest = rest[os.write(fd, rest) :]


def _sync_folder(path: Path) -> None:
    with _opened(path, os.O_RDONLY | os.O_DIRECTORY) as folder:
        _sync(folder)


def _sync(folder: int) -> None:
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # some disks cannot sync a folder
            raise


def _discard(path: Path | str, folder: int | None = None) -> None:
    with suppress(OSError):
        os.unlink(path, dir_fd=folder)
