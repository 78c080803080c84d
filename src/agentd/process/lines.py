"""What a program prints as lines: the unfinished one, and the last whole ones of a flood."""

import sys
from collections import deque
from collections.abc import Callable

MAX_LINE = 8 << 20
KEPT_LINES = 1000
KEPT_BYTES = 8 << 20


class Lines:
    """Bytes in, lines out. Holds one unfinished line and the last whole ones, whatever comes in."""

    def __init__(self, on_line: Callable[[str], None] | None = None) -> None:
        self.on_line = on_line
        self.kept: deque[str] = deque()
        self._size = 0
        self._part = bytearray()
        self._cut = 0

    def feed(self, chunk: bytes) -> None:
        first, newline, more = chunk.partition(b"\n")
        room = MAX_LINE - len(self._part)
        self._part += first[:room]
        self._cut += max(0, len(first) - room)
        if newline:
            self._end_line()
            *whole, rest = more.split(b"\n")
            for line in whole:
                self._deliver(line.decode("utf-8", "replace"))
            self._part += rest

    def finish(self) -> None:
        if self._part:
            self._end_line()

    def _end_line(self) -> None:
        line = self._part.decode("utf-8", "replace")
        cut = f" [cut: {self._cut} bytes more]" if self._cut else ""
        self._part, self._cut = bytearray(), 0
        self._deliver(line + cut)

    def _deliver(self, line: str) -> None:
        line = line.removesuffix("\r")
        self.kept.append(line)
        self._size += sys.getsizeof(line)
        while len(self.kept) > 1 and (self._size > KEPT_BYTES or len(self.kept) > KEPT_LINES):
            self._size -= sys.getsizeof(self.kept.popleft())
        if self.on_line is not None:
            self.on_line(line)
