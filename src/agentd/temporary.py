"""Folders for temporary files, which go with whoever made them: at the end, or after a kill with the next sweep."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "agentd-tmp-"
# A folder is not swept before it is locked.
UNLOCKED = ".agentd-new-"


@contextmanager
def folder() -> Iterator[Path]:
    """A new folder, locked for as long as this lasts and then removed; the kernel frees the lock of a killed process."""
    made = Path(tempfile.mkdtemp(prefix=UNLOCKED))
    fd = os.open(made, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # a disk without locks is not swept
            fcntl.flock(fd, fcntl.LOCK_SH)
        made = made.rename(made.with_name(made.name.replace(UNLOCKED, PREFIX)))
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        os.close(fd)


def sweep() -> None:
    """Remove the folders that killed processes of this user left behind."""
    with suppress(OSError):
        for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            if _is_left(path):
                shutil.rmtree(path, ignore_errors=True)


def _is_left(path: Path) -> bool:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if os.fstat(fd).st_uid != os.geteuid():
            return False
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(fd)
    return True
