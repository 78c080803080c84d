"""On Linux, what a program leaves behind falls to this process and not to init, so that it is found however it hid.

It signals nothing; on other systems it does nothing at all.
"""

import math
import os
import sys
import threading
from contextlib import suppress
from functools import cache
from types import TracebackType

from agentd.process.tree import session

SET_CHILD_SUBREAPER, GET_CHILD_SUBREAPER = 36, 37


_guard = threading.RLock()
_watches: "set[Watch]" = set()
_before: set[int] = set()  # children from before the first of the programs that run now
_restored = False  # what this process was before: others may have made it a reaper


class Watch:
    """Over one program: from `with` on, orphans come to this process. Programs may run side by side in threads.

    guard   to be held while the program is started, so that nobody takes it for an orphan
    pid     the program's number, once it has one
    """

    guard = _guard

    def __init__(self) -> None:
        self.pid = 0

    def __enter__(self) -> "Watch":
        global _before, _restored
        with _guard:
            if not _watches and _can_adopt():
                _before, _restored = _children(), _is_reaper()
                _become_reaper(True)
            _watches.add(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with _guard:
            try:
                self.bury()
            finally:
                _watches.discard(self)
                if not _watches and _can_adopt():
                    _become_reaper(_restored)

    def orphans(self) -> set[int]:
        """The processes that fell to this one and can be of no other program that is running."""
        with _guard:
            found = _adopted()
            others = [watch.pid for watch in _watches if watch is not self and watch.pid]
        if not found:
            return set()
        first = min(map(_born, others), default=math.inf)
        return {pid for pid in found if _born(pid) < first}

    def bury(self) -> None:
        """Take note of every orphan that is dead, whosever it was: whoever waits for it to be gone waits no longer."""
        with _guard:
            for pid in _adopted():
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)


def _adopted() -> set[int]:
    """The children this process did not start: a program and all that comes from it are never in our own session."""
    if not _can_adopt():
        return set()
    children = _children()
    _before.intersection_update(children)
    strange = children - _before - {watch.pid for watch in _watches}
    ours = os.getsid(0)
    return {pid for pid in strange if session(pid) not in (ours, -1)}


def _children() -> set[int]:
    """The children of the main thread; orphans fall to it, whichever thread started the program."""
    with open(f"/proc/self/task/{os.getpid()}/children", "rb", buffering=0) as file:
        return set(map(int, file.read().split()))


def _born(pid: int) -> float:
    """When a process began, in ticks of the system; never, if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            return int(file.read().rpartition(b")")[2].split()[19])
    except OSError:
        return math.inf


@cache
def _can_adopt() -> bool:
    """Whether the system lets orphans fall to this process and tells which they are."""
    if sys.platform != "linux":
        return False
    try:
        _children()
        return _is_reaper() in (True, False)
    except (OSError, AttributeError):
        return False


def _is_reaper() -> bool:
    import ctypes

    answer = ctypes.c_int()
    if ctypes.CDLL(None).prctl(GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0) != 0:
        raise OSError("prctl knows no subreaper")
    return bool(answer.value)


def _become_reaper(yes: bool) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, ctypes.c_ulong(yes), 0, 0, 0)
