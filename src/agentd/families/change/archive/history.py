"""The history of a spec: which archived change added, changed, renamed or removed each requirement. It writes nothing."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from difflib import get_close_matches
from itertools import groupby
from pathlib import Path
from typing import Literal

from agentd.errors import AgentdError, Corrupt, NotFound
from agentd.families.change import ARCHIVE, NAME
from agentd.families.change.archive import records
from agentd.families.change.archive.records import Archived, when
from agentd.library import snapshot, spec
from agentd.model.merge import Delta
from agentd.runs.overview import Unreadable
from agentd.runs.project import Project
from agentd.state import reading
from agentd.values import dataclass


@dataclass(frozen=True)
class Step:
    """What one archive did to the spec; if `known` is false, nothing tells what the spec was before."""

    change: str
    at: str
    before: str | None
    after: str | None
    delta: Delta
    known: bool = True


@dataclass(frozen=True)
class Event:
    """What a change did to a requirement; `was` is the id before a rename."""

    at: str
    change: str
    what: Literal["added", "changed", "renamed", "removed"]
    was: str = ""


@dataclass(frozen=True)
class Story:
    """A present or former requirement of the spec; it has no events if no archived change touched it."""

    id: str
    title: str
    events: tuple[Event, ...] = ()
    present: bool = True


@dataclass(frozen=True)
class History:
    """The requirements of a spec, the present ones first.

    `by_hand`: the library's text differs from what the last archive wrote. `untold`: the changes that touched the spec
    without a trace of what they did.
    """

    spec: str
    stories: tuple[Story, ...]
    in_library: bool = True
    by_hand: bool = False
    untold: tuple[str, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()


def history(project: Project, name: str) -> History:
    """The history of a spec, named by its path in the library; the library need not have it any more."""
    name = name.removeprefix("./").removeprefix(f"{snapshot.LIBRARY}/").removesuffix(".md")
    file, library = f"{name}.md", project.root / snapshot.LIBRARY
    unreadable: list[Unreadable] = []
    steps: list[Step] = []
    known = {each for each, problem in reading.listing(str(library)) if not problem}
    for entry in records.archived(project):
        if isinstance(entry, Unreadable):
            unreadable.append(entry)
            continue
        known.update(entry.specs)
        try:
            steps += _steps(project.root / ARCHIVE / entry.name, entry, file)
        except AgentdError as error:
            unreadable.append(Unreadable(f"{NAME}/{entry.name}", error))
    now = _text(library, file) if records.is_below(file) else None
    if now is None and not steps:
        raise _not_found(name, known, unreadable)
    return replace(told(name, steps, now), unreadable=tuple(unreadable))


def _steps(folder: Path, entry: Archived, file: str) -> Iterator[Step]:
    """What an archived change did to the spec, if anything; without a record, what it began with tells."""
    touched = entry.specs.get(file)
    if touched is not None:
        yield Step(entry.name, entry.at, touched.before, touched.after, touched.delta)
    elif file in entry.specs:
        after, base = _text(folder, f"specs/{file}"), snapshot.read(folder)
        known = base is not None and base.knows(file)
        before = base.text(file) if base else None
        yield Step(entry.name, entry.at, before, after, spec.delta(before, after) if known else Delta(), known)


def _text(home: Path, file: str) -> str | None:
    """The text of a spec, whatever its encoding; None if there is no such file."""
    page = reading.page(str(home), file)
    if page is not None and page.problem and not page.data:
        raise Corrupt(f"{home / file}: {page.problem}.", f"ls -l {home / file}")
    return None if page is None else page.raw


def _not_found(name: str, known: Iterable[str], unreadable: list[Unreadable]) -> NotFound:
    if unreadable:
        error = unreadable[0].error
        return NotFound(f"There is no spec '{name}' in what can be read of the archive: {error.message}", error.fix)
    near = get_close_matches(name, sorted(file.removesuffix(".md") for file in known), 1)
    fix = f"agentd history {near[0]}" if near else "agentd list --archived"
    return NotFound(f"There is no spec '{name}' in the library or in any archived change.", fix)


def told(name: str, steps: Iterable[Step], now: str | None) -> History:
    """The history that these archives and the present text of the spec make up."""
    living: dict[str, list[Event]] = {}
    gone: list[Story] = []
    untold = []
    taken: list[Step] = []
    for step in ordered(steps):
        if not step.known and taken:  # the best guess is what the archive before it wrote
            before = taken[-1].after
            step = replace(step, before=before, delta=spec.delta(before, step.after), known=True)
        taken.append(step)
        if step.known:
            gone += _apply(step, living)
        else:
            untold.append(step.change)
    stories = [Story(each, title, tuple(living.pop(each, ()))) for each, title in _titles(now).items()]
    lost = [Story(each, _last_title(each, taken), tuple(events), False) for each, events in living.items()]
    by_hand = bool(taken) and taken[-1].after != now
    return History(name, (*stories, *lost, *gone), now is not None, by_hand, tuple(untold))


def ordered(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The archives by time; of several at the same time, each after the one that wrote the text it found."""
    found: list[Step] = []
    by_time = sorted(steps, key=lambda step: (when(step.at), step.change))
    for _, group in groupby(by_time, key=lambda step: when(step.at)):
        left = list(group)
        while left:
            found.append(left.pop(_next(left, found[-1].after if found else None)))
    return tuple(found)


def _next(left: list[Step], text: str | None) -> int:
    """The index of the step that found this text, else of one that found a text which no other step wrote."""
    written = {step.after for step in left}
    fits = (at for at, step in enumerate(left) if step.known and step.before == text)
    begins = (at for at, step in enumerate(left) if step.known and step.before not in written)
    return next(fits, next(begins, 0))


def _apply(step: Step, living: dict[str, list[Event]]) -> Iterator[Story]:
    """Add the events of a step to the requirements that live on; gives the stories of those that it removed."""
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
    """The last title of a requirement that was removed by hand."""
    return next((titles[name] for step in reversed(steps) if name in (titles := _titles(step.after))), "")


def _titles(text: str | None) -> dict[str, str]:
    """The requirements of a spec in order, with their titles; the first counts if an id occurs twice."""
    found = spec.read(text)[0] if text is not None else None
    titles: dict[str, str] = {}
    for each in found.requirements if found else ():
        titles.setdefault(each.id, each.title)
    return titles
