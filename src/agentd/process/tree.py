"""Finds all processes of a program, however they ran away from it, and ends them. It starts nothing."""

import os
import signal
import sys
import time
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # psutil takes 20 ms to import, and most commands start nothing
    from psutil import Process

TICK = 0.05
INSIST = 5.0


def end(
    belongs: Callable[[int], bool],
    grace: float,
    wait: Callable[[float], object],
    orphans: Callable[[], AbstractSet[int]] = frozenset,
) -> "set[Process]":
    """TERM, grace, KILL for all processes that belong, and for the orphans; those that appear meanwhile too. A second
    interrupt, while this waits, only ends the grace."""
    ended: set[Process] = set()
    try:
        ended |= _living(belongs, orphans)
        _send(ended, signal.SIGTERM)
        _await_end(ended, grace, wait)
    finally:
        insist = time.monotonic() + INSIST
        while (left := {*filter(_alive, ended)} | _living(belongs, orphans)) and time.monotonic() < insist:
            ended |= left
            _send(left, signal.SIGKILL)
            _await_end(left, 10 * TICK, wait)
    return ended


def _await_end(processes: "set[Process]", seconds: float, wait: Callable[[float], object]) -> None:
    deadline = time.monotonic() + seconds
    while any(map(_alive, processes)) and time.monotonic() < deadline:
        wait(TICK / 10)


def _send(processes: "set[Process]", number: signal.Signals) -> None:
    if processes:
        import psutil
    for process in processes:
        with suppress(psutil.Error):
            process.send_signal(number)


def _alive(process: "Process") -> bool:
    import psutil

    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _living(belongs: Callable[[int], bool], orphans: Callable[[], AbstractSet[int]]) -> "set[Process]":
    """The processes that belong, with their descendants; never this process or an ancestor of it."""
    pids = {pid for pid in _pids() if belongs(pid)} | orphans()
    if not pids:
        return set()
    import psutil

    spared = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    found: set[Process] = set()
    for pid in pids - spared:
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            if not (
                belongs(pid) or pid in orphans()
            ):  # asked again now that pid and start time are fixed: the pid may have a new owner
                continue
            found.add(process)
            if process.ppid() not in pids:
                found.update(process.children(recursive=True))
    return {process for process in found if process.pid not in spared and _alive(process)}


def _pids() -> list[int]:
    if sys.platform == "linux":
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    import psutil

    return psutil.pids()


def memory_below(pid: int) -> tuple[int, int]:
    """The resident memory of all processes below one, now and at most so far, in bytes; what they share counts for each."""
    if not os.path.exists(f"/proc/{pid}/task/{pid}/children"):
        return _memory_elsewhere(pid)
    total, most, pids = 0, 0, [pid]
    for each in pids:  # grows while it is gone through
        with suppress(OSError, ValueError, IndexError):
            for thread in os.listdir(f"/proc/{each}/task"):
                pids += map(int, _bytes(f"/proc/{each}/task/{thread}/children").split())
            about = _bytes(f"/proc/{each}/status") if each != pid else b""
            _, found, rest = about.partition(b"\nVmHWM:")
            if found:  # a process that is over has none
                most += int(rest.split()[0]) << 10
                total += int(rest.partition(b"\nVmRSS:")[2].split()[0]) << 10
    return total, most


def _memory_elsewhere(pid: int) -> tuple[int, int]:
    import psutil

    total = 0
    with suppress(psutil.Error):
        for process in psutil.Process(pid).children(recursive=True):
            with suppress(psutil.Error):
                total += process.memory_info().rss
    return total, total


def _bytes(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read()


def environment_holds(pid: int, needle: bytes) -> bool:
    """Whether the environment a process was started with, as `\\0NAME=value\\0NAME=value\\0`, contains the needle."""
    if sys.platform == "linux":
        try:
            with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:
                return needle in b"\0" + file.read() + b"\0"
        except OSError:
            return False
    import psutil

    try:
        pairs = psutil.Process(pid).environ().items()
    except (psutil.Error, OSError):
        return False
    return needle in os.fsencode("".join(f"\0{name}={value}" for name, value in pairs) + "\0")


def session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return -1


def children(pid: int) -> set[int]:
    """The children of a process with a single thread; none where the system does not list them."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb", buffering=0) as file:
            return set(map(int, file.read().split()))
    except OSError:
        return set()
