"""One process at a time works on a run: a flock on `.lock` in its folder, which the kernel frees when its holder dies.

What the file says (pid, host, since when, command) is only shown. The file is never deleted: that would let two hold it.
"""

import fcntl
import json
import os
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentd.errors import Held
from agentd.state import durable, reading

NAME = ".lock"
_TRIES = 20
_PATIENT_TRIES = 3
_PAUSE = 0.01
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK


class Lock:
    """A lock that is held until `release`, the end of the `with` block, or the end of the process."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def __enter__(self) -> "Lock":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Let go, wherever the folder is by now; twice does no harm."""
        if self._fd >= 0:
            with suppress(OSError):
                os.ftruncate(self._fd, 0)
            _let_go(self._fd)
            self._fd = -1


def acquire(folder: Path, command: str = "", seconds: float = 0.0, deep: bool = True) -> Lock:
    """Hold what is in this folder, rid of what dead writers left; Held, with the holder's name, if somebody else does
    and does not let go within some seconds. `deep`: the folders below it belong to it, too."""
    path = folder / NAME
    durable.refuse_links(path, "locked")
    tried, end = 0, time.monotonic() + seconds
    while tried < _TRIES or time.monotonic() < end:
        try:
            fd = _take(path)
        except BlockingIOError:
            # A holder may not have written its name yet, and `holder` takes the lock for a moment.
            if tried >= _PATIENT_TRIES and time.monotonic() >= end and _is_there(_read(path)):
                break
            tried += 1
            time.sleep(_PAUSE)
            continue
        except OSError as error:
            raise durable.trouble(path, error, "locked") from error
        tried += 1
        if fd is not None:
            _sign(fd, command)
            durable.sweep(folder, deep)
            return Lock(fd)
    raise _held(folder, _read(path))


def holder(folder: Path) -> dict[str, Any] | None:
    """Who holds the run, as far as the file tells; None if nobody does."""
    try:
        fd = os.open(folder / NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(folder / NAME)
    except OSError:
        return None
    else:
        return None
    finally:
        _let_go(fd)


def _let_go(fd: int) -> None:
    """Unlock, not only close: a process that another thread is just starting holds a copy for a moment."""
    with suppress(OSError):
        fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)


def there(folder: Path) -> Path:
    """The file that is locked, made if it is not there: a sandbox lets through only what is."""
    path = folder / NAME
    durable.refuse_links(path, "locked")
    try:
        os.close(os.open(path, _FLAGS, 0o644))
    except OSError as error:
        raise durable.trouble(path, error, "locked") from error
    return path


def _take(path: Path) -> int | None:
    """The locked file; None if another one has come into its place meanwhile."""
    fd = os.open(path, _FLAGS, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(fd), os.stat(path)):
                return fd
    except OSError:
        os.close(fd)
        raise
    os.close(fd)
    return None


def _sign(fd: int, command: str) -> None:
    started = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    facts = {"pid": os.getpid(), "host": os.uname().nodename, "started": started, "command": command}
    with suppress(OSError):  # on a full disk the lock still holds; the first save tells of the trouble
        os.ftruncate(fd, 0)
        os.pwrite(fd, json.dumps(facts).encode() + b"\n", 0)


def _read(path: Path) -> dict[str, Any]:
    """What the file says; nothing if it is empty or half-written."""
    try:
        found = json.loads(reading.own(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_there(facts: dict[str, Any]) -> bool:
    """Whether the process that signed can still be the holder, not one that was killed before."""
    pid = facts.get("pid")
    far = facts.get("host") not in (None, os.uname().nodename)
    return isinstance(pid, int) and pid > 0 and (far or durable.alive(pid))


def _held(folder: Path, facts: dict[str, Any]) -> Held:
    who = "another process, which has not said its name yet"
    if _is_there(facts):
        who = f"process {facts['pid']} on {facts.get('host') or 'this machine'}"
        who += f" since {facts['started']}" if facts.get("started") else ""
        who += f" (agentd {facts['command']})" if facts.get("command") else ""
    return Held(f"{folder.name} is held by {who}.", f"agentd status {folder.name}   # or: agentd stop {folder.name}")
