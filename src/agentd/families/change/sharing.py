"""One function over many parts, shared out among forked processes. Only for a caller with a single thread.

A process that dies takes no part with it: what it did not give back is done by the one that waits.
"""

import gc
import os
import pickle
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

Part = TypeVar("Part")
Done = TypeVar("Done")


def share(function: Callable[[Part], Done], parts: Sequence[Part], processes: int) -> list[Done]:
    """What `function` gives for each part, in order. Forking is only trusted on Linux."""
    count = max(1, min(processes, len(parts))) if sys.platform == "linux" else 1
    shares = [parts[number::count] for number in range(count)]
    children = [_fork(function, mine) for mine in shares[1:]]
    collecting = gc.isenabled()
    gc.disable()  # nothing here goes round in circles, and looking for circles takes a tenth of the time
    try:
        done = [[function(part) for part in shares[0]]]
        for (_, pipe), mine in zip(children, shares[1:], strict=True):
            given: list[Done] | None = _given(pipe)
            done.append([function(part) for part in mine] if given is None else given)
    finally:
        if collecting:
            gc.enable()
        for pid, pipe in children:
            _end(pid, pipe)
    return [done[number % count][number // count] for number in range(len(parts))]


def _fork(function: Callable[[Part], Done], parts: Sequence[Part]) -> tuple[int, int]:
    """A process that works on these parts, and the pipe it gives its results through."""
    source, sink = os.pipe()
    pid = os.fork()
    if pid:
        os.close(sink)
        return pid, source
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one that waits decides
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        gc.disable()
        os.close(source)
        with os.fdopen(sink, "wb") as pipe:
            pickle.dump([function(part) for part in parts], pipe, pickle.HIGHEST_PROTOCOL)
    finally:
        os._exit(0)  # whatever happened: no handler, no buffer of the parent's, runs twice


def _given(pipe: int) -> list[Done] | None:
    """What a process gave back; None if it did not get that far."""
    with suppress(EOFError, pickle.UnpicklingError), os.fdopen(os.dup(pipe), "rb") as source:
        found: list[Done] = pickle.load(source)
        return found
    return None


def _end(pid: int, pipe: int) -> None:
    os.close(pipe)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)
