"""The folders beside the repository: removed whatever is in them, swept after a kill, and gone when they are empty."""

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentd.state import durable


def tidy(folder: Path) -> None:
    """Remove the folder for the workspaces of a run if it is empty, and those above it that are agentd's own."""
    with suppress(OSError):
        while folder.parent.name and not folder.name.endswith("-agentd"):
            folder.rmdir()
            folder = folder.parent
        folder.rmdir()


def sweep(folder: Path) -> None:
    """Remove what killed processes left half made or half removed."""
    for path in folder.glob(".*.tmp"):
        pid = path.name.rsplit(".", 3)[1]
        if pid.isdecimal() and not durable.alive(int(pid)):
            remove(path)


def remove(path: Path) -> None:
    """Remove a folder, also one in which an agent took away its own permissions."""

    def allow(_: Any, name: str, __: Any) -> None:
        with suppress(OSError):
            for each in (os.path.dirname(name), name):
                os.chmod(each, stat.S_IRWXU)
            os.rmdir(name) if os.path.isdir(name) and not os.path.islink(name) else os.unlink(name)

    if path.is_symlink():
        path.unlink()
        return
    shutil.rmtree(path, onerror=allow)
    if path.is_dir():  # what could not be read before can be now
        shutil.rmtree(path, ignore_errors=True)
