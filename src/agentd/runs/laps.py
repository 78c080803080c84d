"""What the time of a run's work was used for, lap by lap; each save takes the laps since the one before into the diary.

A lap costs a look at the clock. Times are those of the monotonic clock, from the start of the command.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from agentd import clock

Inner = Sequence[tuple[str, float, float]]


class Lap(NamedTuple):
    """A part of the work that is over: what it was for, when it ended, and what is known of its inside."""

    name: str
    ended: float
    about: str = ""
    inner: Inner = ()


class Laps:
    """The laps of one run in one command. `above` are those of the run it is the child of."""

    def __init__(self, above: "Laps | None" = None) -> None:
        self.top: Laps = above.top if above else self
        self.command = ""
        self._id = ""
        self._base = self._since = time.monotonic()
        self._laps: list[Lap] = []

    def close(self, name: str, ended: float | None = None, about: str = "", inner: Inner = ()) -> None:
        """The time since the lap before was for this."""
        self._laps.append(Lap(name, time.monotonic() if ended is None else ended, about, inner))

    @contextmanager
    def lap(self, name: str, before: str, about: str = "") -> Iterator[None]:
        """What is done inside is one lap; what was done before it is another."""
        self.close(before)
        try:
            yield
        finally:
            self.close(name, about=about)

    def stamp(self) -> dict[str, Any]:
        """The laps since the last stamp, for the line that the diary is about to get."""
        self.top._begin()
        now = time.monotonic()
        made = {"command": self.top.command, "id": self.top._id, "from": self._from_start(self._since)}
        made |= {"to": self._from_start(now), "parts": [self._written(lap) for lap in self._laps]}
        self._laps, self._since = [], now
        return made

    def _begin(self) -> None:
        """The first stamp of a command; the start of the process belongs to the first command in it."""
        if self._id:
            return
        self._id, begun = os.urandom(4).hex(), clock.startup()
        if begun is not None and begun.command <= self._since:
            start = [Lap("interpreter", begun.program), Lap("imports", begun.command), Lap("open", self._since)]
            self._laps, self._base = [*start, *self._laps], begun.process
            self._since = begun.process

    def _from_start(self, moment: float) -> float:
        return round(moment - self.top._base, 4)

    def _written(self, lap: Lap) -> list[Any]:
        made = [lap.name, self._from_start(lap.ended)]
        if lap.about or lap.inner:
            made.append(lap.about)
        if lap.inner:
            made.append([[name, self._from_start(begun), self._from_start(ended)] for name, begun, ended in lap.inner])
        return made
