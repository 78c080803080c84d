"""The trace that the server of an agent's tools leaves beside the transcript: when it answered first, and each tool call.

Its times are those of the monotonic clock, which all processes of a machine share. It is removed when the call is judged.
"""

import os
import time
from contextlib import suppress
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from agentd import files
from agentd.state import reading

MOST = 50
LONGEST = 100  # of the name of a tool


class ToolTrace(NamedTuple):
    """What was left: when the server was first asked, if it was, and the tool calls, each with its begin and its end."""

    asked: float | None = None
    calls: tuple[tuple[str, float, float], ...] = ()


def opening() -> bytes:
    """What a new trace holds: the time of the first request."""
    return f"{time.monotonic():.4f}\n".encode()


def note(path: Path, tool: str, begun: float) -> None:
    """Add a tool call that is over to a trace; where there is none, or it cannot be written, nothing is lost but the time."""
    line = f"{tool} {begun:.4f} {time.monotonic():.4f}\n"
    with suppress(OSError):
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.write(fd, line.encode())
        finally:
            os.close(fd)


def read(path: Path) -> ToolTrace:
    """What a trace says, at most the first calls; one without a time was written when the file was made."""
    try:
        with reading.opened(path) as file:
            made = os.fstat(file.fileno()).st_mtime
            lines = file.read(files.SMALL).decode(errors="replace").splitlines()
    except OSError:
        return ToolTrace()
    asked = _number(lines[0]) if lines else None
    if asked is None:
        asked = time.monotonic() - max(0.0, time.time() - made)
    calls = filter(None, map(_call, lines[1:]))
    return ToolTrace(asked, tuple(islice(calls, MOST)))


def _call(line: str) -> tuple[str, float, float] | None:
    match line.split():
        case [tool, begun, ended] if len(tool) <= LONGEST:
            start, end = _number(begun), _number(ended)
            return None if start is None or end is None else (tool, start, end)
    return None


def _number(text: str) -> float | None:
    """A time; an agent can write anything into a trace."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if isfinite(found) else None
