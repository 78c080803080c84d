"""The live area on a terminal: the agent calls under way, drawn below the ordinary lines and gone when there are none.

Elsewhere nothing is drawn. Drawing never ends a call: the first thing that goes wrong switches the view off.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

from agentd.cli.output import CONTROL
from agentd.cli.rows import EVERY, Call, rows, spent
from agentd.model.moment import Moment

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.live import Live


class View:
    """What happens, for a person who looks on. `watch`, `tell` and `aside` may be called from any thread.

    Two locks: `facts` for what is known, held for no time, and `pen` for writing on a terminal, which may be stopped (^S)
    for as long as its person likes. A line that an agent says waits for the first alone.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self.stream = stream
        self.drawing = is_terminal(stream) and os.environ.get("TERM") not in ("dumb", "unknown")
        self.calls: dict[tuple[str, str], Call] = {}
        self.spent: float | None = 0.0
        self.ended = 0
        self.facts = threading.Lock()
        self.pen = threading.RLock()
        self.asides = 0
        self.held: list[str] = []
        self.console: Console | None = None
        self.area: Live | None = None
        self.over = threading.Event()

    def watch(self, moment: Moment) -> None:
        """Take in a moment of a call."""
        if not self.drawing:
            return
        key = moment.call, moment.step  # the children of a run may each have a call of that name
        with self.facts:
            if moment.kind == "begin":
                self.calls[key] = Call(moment, time.monotonic())
            elif moment.kind == "line" and key in self.calls:
                self.calls[key].hear(moment.line)
            elif moment.kind == "end":
                self.calls.pop(key, None)
                self.ended += 1
                self.spent = None if self.spent is None or moment.cost is None else self.spent + moment.cost
        if moment.kind != "line":
            self._draw(self._settle)

    def tell(self, text: str) -> None:
        """A line of progress, above the live area. What an agent says cannot steer the terminal."""
        text = CONTROL.sub("", text)
        with self.pen:
            if self.asides:
                self.held.append(text)
            elif not (self.area and self._draw(lambda: self._print_above(text))):
                # A reader who left stops no work.
                with suppress(OSError):
                    print(text, file=self.stream, flush=True)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """The terminal for someone else, to ask a question: no area, and the lines come afterwards."""
        with self.pen:
            self.asides += 1
            self._draw(self._settle)
        try:
            yield
        finally:
            with self.pen:
                self.asides -= 1
                held, self.held = ([], self.held) if self.asides else (self.held, [])
                self._draw(self._settle)
                for text in held:
                    self.tell(text)

    def close(self) -> None:
        """Leave the terminal as it was, whatever is still under way; one that takes nothing is not waited for."""
        with self.facts:
            self.calls.clear()
        if self.pen.acquire(timeout=1):
            try:
                self._draw(self._settle)
            finally:
                self.pen.release()

    def _draw(self, stroke: Callable[[], None]) -> bool:
        """Do something to the terminal, as long as it can be drawn on; False if it cannot."""
        with self.pen:
            if self.drawing:
                try:
                    stroke()
                except (Exception, SystemExit):  # rich ends the program when a pipe is closed
                    self.drawing = False
                    self.over.set()
                    self.area, area = None, self.area
                    with suppress(Exception, SystemExit):
                        if area:
                            area.stop()
            return self.drawing

    def _settle(self) -> None:
        """Bring the area or take it away, as the moment wants it."""
        wanted = bool(self.calls) and not self.asides
        if wanted and self.area is None:
            self.over = threading.Event()
            self.area = self._new_area()
            self.area.start(refresh=True)
            threading.Thread(target=self._refresh, args=(self.over,), daemon=True).start()
        elif not wanted and self.area is not None:
            self.over.set()
            self.area.stop()
            self.area = None

    def _new_area(self) -> "Live":
        from rich.console import Console
        from rich.live import Live

        self.console = self.console or Console(file=self.stream)
        return Live(
            console=self.console,
            get_renderable=self._rows,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def _refresh(self, over: threading.Event) -> None:
        """The clocks go on while nothing happens."""
        while not over.wait(EVERY):
            with self.pen:
                if self.area is not None and not over.is_set():
                    self._draw(self.area.refresh)

    def _print_above(self, text: str) -> None:
        from rich.text import Text

        assert self.console is not None
        self.console.print(Text(text), soft_wrap=True)

    def _rows(self) -> "Group":
        from rich.console import Group

        if self.over.is_set():
            return Group("")  # one empty line, which every release of rich takes away; of none, some leave a line
        with self.facts:
            cost = spent(self.spent) if self.ended else ""
            return Group(*(row for call in self.calls.values() for row in rows(call, cost)))


def is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()
