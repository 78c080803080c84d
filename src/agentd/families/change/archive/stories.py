"""What the archives did to one spec, told requirement by requirement: values in, values out. It reads no file."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from agentd.families.change.archive.listing import when
from agentd.library import spec
from agentd.model.merge import Delta
from agentd.runs.overview import Unreadable

What = Literal["added", "changed", "renamed", "removed"]


@dataclass(frozen=True)
class Step:
    """What one archive did to the spec; `known`: whether anything tells how the spec was before it."""

    change: str
    at: str
    before: str | None
    after: str | None
    delta: Delta
    known: bool = True


@dataclass(frozen=True)
class Event:
    """What became of a requirement, by which change; `was` is the id it had before it was renamed."""

    at: str
    change: str
    what: What
    was: str = ""


@dataclass(frozen=True)
class Story:
    """A requirement that is in the spec, or was; no event tells of one that no archived change has touched."""

    id: str
    title: str
    events: tuple[Event, ...] = ()
    present: bool = True


@dataclass(frozen=True)
class History:
    """The requirements of a spec, those it has first. `by_hand`: the library's text is not what the last archive left;
    `untold`: changes that touched the spec and kept nothing that tells how."""

    spec: str
    stories: tuple[Story, ...]
    in_library: bool = True
    by_hand: bool = False
    untold: tuple[str, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()


def told(name: str, steps: Iterable[Step], now: str | None) -> History:
    """What these archives come to with the spec as it is now."""
    living: dict[str, list[Event]] = {}
    gone: list[Story] = []
    untold = []
    taken: list[Step] = []
    for step in ordered(steps):
        if not step.known and taken:  # what the archive before it left is the best that is known
            before = taken[-1].after
            step = replace(step, before=before, delta=spec.delta(before, step.after), known=True)
        taken.append(step)
        if step.known:
            gone += _take(living, step)
        else:
            untold.append(step.change)
    stories = [Story(each, title, tuple(living.pop(each, ()))) for each, title in _titles(now).items()]
    lost = [Story(each, _last_title(each, taken), tuple(events), False) for each, events in living.items()]
    by_hand = bool(taken) and taken[-1].after != now
    return History(name, (*stories, *lost, *gone), now is not None, by_hand, tuple(untold))


def ordered(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The archives as they came: by time, and where that is the same each after the one that left what it found."""
    found: list[Step] = []
    by_time = sorted(steps, key=lambda step: (when(step.at), step.change))
    for _, group in groupby(by_time, key=lambda step: when(step.at)):
        left = list(group)
        while left:
            found.append(left.pop(_next(left, found[-1].after if found else None)))
    return tuple(found)


def _next(left: list[Step], text: str | None) -> int:
    """Which of these goes on from a text: one that found it, else one that found what none of the others leaves."""
    leaves = {step.after for step in left}
    fits = (at for at, step in enumerate(left) if step.known and step.before == text)
    begins = (at for at, step in enumerate(left) if step.known and step.before not in leaves)
    return next(fits, next(begins, 0))


def _take(living: dict[str, list[Event]], step: Step) -> Iterator[Story]:
    """Bring what an archive did into the stories of the living; gives those of the requirements it ended."""
    delta = step.delta
    moved = [(old, new, living.pop(old, [])) for old, new in delta.renamed]
    titles = _titles(step.before) if delta.removed else {}
    for each in delta.removed:
        ended = (*living.pop(each, ()), Event(step.at, step.change, "removed"))
        yield Story(each, titles.get(each, ""), ended, False)
    for old, new, events in moved:
        living[new] = [*living.get(new, ()), *events, Event(step.at, step.change, "renamed", old)]
    for each in delta.added:
        living.setdefault(each, []).append(Event(step.at, step.change, "added"))
    for each in delta.changed:
        living.setdefault(each, []).append(Event(step.at, step.change, "changed"))


def _last_title(name: str, steps: list[Step]) -> str:
    """The title of a requirement that nobody but a hand took away."""
    return next((titles[name] for step in reversed(steps) if name in (titles := _titles(step.after))), "")


def _titles(text: str | None) -> dict[str, str]:
    """The requirements of a spec in order, with their titles; of two with one id the first counts."""
    found = spec.read(text)[0] if text is not None else None
    titles: dict[str, str] = {}
    for each in found.requirements if found else ():
        titles.setdefault(each.id, each.title)
    return titles
