"""Where the time of a run went: diaries in, commands with their steps and parts out, each with its begin and its length.

Within a command the stamps count, which no clock that is set and no sleep of the machine can disturb. Between commands
there is only the time of day: a gap is never less than nothing, and no part is longer than what it is a part of.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Any

from agentd.model.stamp import CHILDREN, OWN, REST, STARTUP, Part, Stamp, read_stamp
from agentd.values import dataclass

# Events after which a step is still under way.
OPEN = ("begin", "ask", "nudge", "retry", "void")
# Whose a moment is in which several things happen: the first of these, else agentd's.
FIRST = ("agent", "project", "person")
BETWEEN = "between"
# A difference between the clocks that is no sleep and no clock that was set.
SLACK = 2.0


@dataclass(frozen=True)
class Diary:
    """The diary of one run: its lines, oldest first, and those of its children by the step and the item."""

    events: Sequence[Mapping[str, Any]]
    children: Mapping[tuple[str, str], "Diary"]


@dataclass(frozen=True)
class Step:
    """One visit to a step; `outcome` is empty where the step was cut off. A child has the steps of its own run."""

    name: str
    outcome: str
    start: float
    end: float
    parts: tuple[Part, ...] = ()
    children: tuple["Child", ...] = ()


@dataclass(frozen=True)
class Child:
    """A child run at one visit to its step."""

    name: str
    start: float
    end: float
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Command:
    """One command: when it began, how long after the first one, and its parts before the first step.

    `gap` is the time since the command before it, `for_person` whether an answer was waited for in it, and `uncounted`
    by how much the time of day says that the command took longer: the machine slept, or its clock was set.
    """

    name: str
    at: str
    start: float
    seconds: float
    parts: tuple[Part, ...]
    steps: tuple[Step, ...]
    gap: float = 0.0
    for_person: bool = False
    uncounted: float = 0.0

    def totals(self) -> dict[str, float]:
        """Whose the time of the command was; together they are all of it."""
        spans = [(part.start, part.end, part.owner) for part in (*self.parts, *all_parts(self.steps))]
        return divided(spans, self.seconds)


@dataclass(frozen=True)
class Waterfall:
    """Every command of a run that kept its times, and how many lines of the diary have none."""

    commands: tuple[Command, ...]
    unstamped: int

    def totals(self) -> dict[str, float]:
        """Whose the time was from the first command to the end of the last; together they are all of it."""
        found = dict.fromkeys((*FIRST, OWN, BETWEEN), 0.0)
        for command in self.commands:
            found["person" if command.for_person else BETWEEN] += command.gap
            for owner, seconds in command.totals().items():
                found[owner] += seconds
        return found


@dataclass(frozen=True)
class _Line:
    event: Mapping[str, Any]
    stamp: Stamp

    @property
    def step(self) -> str:
        name = self.event.get("step")
        return name if isinstance(name, str) else ""


@dataclass(frozen=True)
class _Stamped:
    """A diary by its commands: the lines with a stamp, each after the one before it, and the number of the others."""

    commands: Mapping[str, Sequence[_Line]]
    children: Mapping[tuple[str, str], "_Stamped"]
    unstamped: int

    def end(self, command: str) -> float:
        """When a command wrote its last line here or below."""
        ends = (below.end(command) for below in self.children.values())
        return max((*(line.stamp.end for line in self.commands.get(command, ())[-1:]), *ends), default=0.0)


def waterfall(diary: Diary) -> Waterfall:
    """The waterfall of a run."""
    stamped = _stamped(diary)
    made: list[Command] = []
    last, waiting = None, False
    for name, lines in stamped.commands.items():
        begun, ended = _time(lines[0]), _time(lines[-1])
        gap = (begun - last).total_seconds() - lines[0].stamp.end if begun and last else 0.0
        gap = max(0.0, gap) if made else 0.0
        start = made[-1].start + made[-1].seconds + gap if made else 0.0
        counted = lines[-1].stamp.end - lines[0].stamp.end
        slept = (ended - begun).total_seconds() - counted if begun and ended else 0.0
        found = replace(_command(name, stamped), start=start, gap=gap, for_person=waiting and gap > 0)
        made.append(replace(found, uncounted=slept if abs(slept) > SLACK else 0.0))
        last, waiting = ended, _waits(lines[-1].event)
    return Waterfall(tuple(made), stamped.unstamped)


def all_parts(steps: Iterable[Step]) -> Iterator[Part]:
    """Every part of steps and of their children."""
    for step in steps:
        yield from step.parts
        for child in step.children:
            yield from all_parts(child.steps)


def divided(spans: Sequence[tuple[float, float, str]], seconds: float) -> dict[str, float]:
    """Whose each moment was of so many seconds; what several had at once counts for the first of them."""
    found = dict.fromkeys((*FIRST, OWN), 0.0)
    turns: list[tuple[float, int, str]] = []
    for start, end, owner in spans:
        if owner in FIRST and start < min(end, seconds):
            turns += [(start, 1, owner), (min(end, seconds), -1, owner)]
    turns.sort(key=lambda turn: turn[0])
    under_way = dict.fromkeys(FIRST, 0)
    for (moment, change, owner), (following, _, _) in pairwise([*turns, (seconds, 0, "")]):
        under_way[owner] += change
        present = next((each for each in FIRST if under_way[each] > 0), "")
        if present:
            found[present] += following - moment
    found[OWN] = max(0.0, seconds - sum(found.values()))
    return found


def _stamped(diary: Diary) -> _Stamped:
    commands: dict[str, list[_Line]] = {}
    others = 0
    for event in diary.events:
        stamp = read_stamp(event)
        before = commands.get(stamp.id) if stamp else None
        if stamp and before and stamp.start < before[-1].stamp.end:
            stamp = read_stamp(event, before[-1].stamp.end)
        if stamp is None:
            others += 1
        else:
            commands.setdefault(stamp.id, []).append(_Line(event, stamp))
    return _Stamped(commands, {key: _stamped(child) for key, child in diary.children.items()}, others)


def _command(name: str, stamped: _Stamped) -> Command:
    lines = stamped.commands[name]
    first = lines[0]
    own = _startup(lines)
    steps = _steps(lines, own[-1].end if own else first.stamp.start)
    end = stamped.end(name)
    at = first.event.get("at")
    title = first.stamp.command or str(first.event.get("event") or "")
    return Command(title, at if isinstance(at, str) else "", 0.0, end, own, tuple(_nested(steps, stamped, name, end)))


def _startup(lines: Sequence[_Line]) -> tuple[Part, ...]:
    """What was done before the first step: all up to the last part that only the start of a command has."""
    found: list[Part] = []
    most = 0
    for line in lines:
        for part in line.stamp.parts:
            found.append(part)
            most = len(found) if part.name in STARTUP else most
        if line.step:
            break
    return tuple(found[:most])


def _steps(lines: Sequence[_Line], began: float = 0.0) -> list[Step]:
    """The visits to steps in lines that follow each other; what no step is named for belongs to the one under way."""
    found: list[Step] = []
    is_open = False
    for line in lines:
        if line.stamp.end <= began and line.stamp.start < began and not line.step:
            continue
        parts = tuple(part for part in line.stamp.parts if part.start >= began)
        event, name = str(line.event.get("event") or ""), line.step
        over = bool(name) and event not in OPEN
        word = line.event.get("outcome") if event in ("end", "recover") else event
        outcome = word if over and isinstance(word, str) else ""
        if is_open and name in ("", found[-1].name):
            before = found[-1]
            found[-1] = replace(before, outcome=outcome, end=line.stamp.end, parts=(*before.parts, *parts))
        else:
            found.append(Step(name or event, outcome, max(line.stamp.start, began), line.stamp.end, parts))
        is_open = not over if name else is_open
    return found


def _nested(steps: Sequence[Step], stamped: _Stamped, command: str, end: float) -> Iterator[Step]:
    """The steps with the child runs that were driven in them. A step that was cut off lasts as long as its children."""
    for number, step in enumerate(steps):
        is_cut_off = number == len(steps) - 1 and not step.outcome
        until = end if is_cut_off else step.end
        children = []
        for (parent, item), below in stamped.children.items():
            lines = below.commands.get(command, ()) if parent == step.name else ()
            mine = [line for line in lines if step.start <= line.stamp.start and line.stamp.end <= until]
            if mine:
                inner = tuple(_nested(_steps(mine), below, command, until))
                children.append(Child(item, inner[0].start, inner[-1].end, inner))
        children.sort(key=lambda child: child.start)
        last = max([step.end, *(child.end for child in children)]) if is_cut_off else step.end
        # What agentd does while children work is to wait for them.
        parts = (part._replace(name=CHILDREN) if children and part.name == REST else part for part in step.parts)
        yield replace(step, end=last, parts=tuple(parts), children=tuple(children))


def _waits(event: Mapping[str, Any]) -> bool:
    """Whether a command ended because an answer was missing."""
    return event.get("event") == "ask" or (event.get("event") == "pause" and event.get("why") == "waiting")


def _time(line: _Line) -> datetime | None:
    """When a line was written, by the time of day; None if it does not say so in a way that can be compared."""
    at = line.event.get("at")
    try:
        found = datetime.fromisoformat(at) if isinstance(at, str) else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo else None
