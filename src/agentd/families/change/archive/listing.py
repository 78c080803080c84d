"""Which changes are archived, and what each did to the library. It changes nothing."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from agentd.errors import AgentdError
from agentd.families.change import ARCHIVE, LAYOUT
from agentd.families.change.archive import record
from agentd.families.change.archive.record import Touched
from agentd.model.merge import Delta
from agentd.runs.overview import Unreadable
from agentd.runs.project import Project
from agentd.state import reading
from agentd.state.layout import Place

_EVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Effect:
    """What an archive did to one spec of the library."""

    what: Literal["added", "changed", "removed", "same"]
    delta: Delta


@dataclass(frozen=True)
class Archived:
    """A change in the archive, and what it did to each spec; None where it was archived without a record of that."""

    name: str
    at: str
    specs: Mapping[str, Effect | None] = field(default_factory=dict)


def archived(project: Project) -> list[Archived | Unreadable]:
    """Every change in the archive, the newest first; those that cannot be read come last, each with its error."""
    found: list[Archived] = []
    unreadable: list[Unreadable] = []
    for place in in_archive(project):
        try:
            found.append(_archived(project, place))
        except AgentdError as error:
            unreadable.append(Unreadable(project.label(place), error))
    return [*sorted(found, key=lambda one: (when(one.at), one.name), reverse=True), *unreadable]


def in_archive(project: Project) -> Iterator[Place]:
    """The changes in the archive, by name."""
    home = project.root / ARCHIVE
    found = (place for place in LAYOUT.places(project.root) if place.folder.parent == home)
    return (place for place in found if project.store(place).exists())


def when(at: str) -> datetime:
    """A time that a file carries; what is none was before everything else."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return _EVER
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _archived(project: Project, place: Place) -> Archived:
    kept = record.read(place.folder)
    if kept is None:
        store = project.store(place)
        at = str(store.peek().fields.get(store.codec.updated_key, ""))
        listed = reading.listing(str(place.folder), "specs")
        return Archived(place.name, at, {name.removeprefix("specs/"): None for name, problem in listed if not problem})
    return Archived(place.name, str(kept.at), {name: _effect(touched) for name, touched in kept.specs.items()})


def _effect(touched: Touched) -> Effect:
    if touched.after == touched.before:
        return Effect("same", touched.delta)
    if touched.after is None:
        return Effect("removed", touched.delta)
    return Effect("added" if touched.before is None else "changed", touched.delta)
