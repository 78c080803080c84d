"""One function over many parts, shared out among forked processes. Only for a program of its own: a server must not fork.

A worker that dies or fails takes nothing with it: what it did not give back is done by the process that waits, so that
an error is raised where it can be seen.
"""

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

Part = TypeVar("Part")
Done = TypeVar("Done")
_MOST = 8
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def available() -> int:
    """How many processes may work at once: as many as there are processors for this one, and one beside threads."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return 1
    return min(len(os.sched_getaffinity(0)), _MOST)


def share(function: Callable[[Part], Done], parts: Sequence[Part], processes: int) -> list[Done]:
    """What the function gives for each part, in order."""
    count = max(1, min(processes, len(parts)))
    shares = [parts[number::count] for number in range(count)]
    collecting = gc.isenabled()
    gc.disable()  # documents do not go round in circles, and looking for circles takes a tenth of the time
    workers: list[tuple[int, int]] = []
    try:
        for mine in shares[1:]:
            _begin(function, mine, workers)
        done = [[function(part) for part in shares[0]]]
        for (_, pipe), mine in zip(workers, shares[1:], strict=True):
            given: list[Done] | None = _given(pipe)
            done.append([function(part) for part in mine] if given is None else given)
    finally:
        for pid, pipe in workers:
            _end(pid, pipe)
        if collecting:
            gc.enable()
    return [done[number % count][number // count] for number in range(len(parts))]


def _begin(function: Callable[[Part], Done], parts: Sequence[Part], workers: list[tuple[int, int]]) -> None:
    """One more worker, by its number and the pipe that its results come through. A signal waits until it is listed."""
    source, sink = os.pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        pid = os.fork()
        if not pid:
            _work(function, parts, sink)
        workers.append((pid, source))
    finally:
        os.close(sink)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def _work(function: Callable[[Part], Done], parts: Sequence[Part], sink: int) -> None:
    """The whole life of a worker: no handler, no buffer of the parent's is used twice."""
    try:
        import pickle

        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that waits decides
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        with open(sink, "wb") as pipe:
            pickle.dump([function(part) for part in parts], pipe, pickle.HIGHEST_PROTOCOL)
    finally:
        os._exit(0)


def _given(pipe: int) -> list[Done] | None:
    """What a worker gave back; None if it did not get that far."""
    import pickle  # few documents need none

    with suppress(EOFError, pickle.UnpicklingError), open(pipe, "rb", closefd=False) as source:
        found: list[Done] = pickle.load(source)
        return found
    return None


def _end(pid: int, pipe: int) -> None:
    os.close(pipe)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)
