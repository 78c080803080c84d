"""What a face can look at: runs, their reports, their diaries. Nothing here changes anything, and its imports are light."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agentd.errors import AgentdError, ChangeNotFound, NotFound, RunNotFound
from agentd.model.merge import Delta
from agentd.runs.project import Project
from agentd.runs.report import Report, report
from agentd.state import journal, layout, lock
from agentd.state.layout import Place

if TYPE_CHECKING:
    from agentd.families.change.archive.record import Touched

_EVER = datetime.min.replace(tzinfo=UTC)


def status(project: Project, name: str) -> Report:
    try:
        place = project.find(name)
    except RunNotFound as error:
        if "/" in name.removeprefix("change/"):
            raise
        raise ChangeNotFound(error.message, error.fix) from None
    found = report(project, place, project.store(place).load())
    if found.doing == "finished":
        return found
    from agentd.calling import roster

    return replace(found, warnings=tuple(roster.notices(project, project.workflow(found.workflow))))


@dataclass(frozen=True)
class Unreadable:
    """A run that cannot be read, and why."""

    name: str
    error: AgentdError


def overview(project: Project, archived: bool = False) -> Iterator[Report | Unreadable]:
    """Every run; one that cannot be read is listed with its error and hides none of the others."""
    for place in project.places() if archived else project.active_places():
        try:
            yield report(project, place, project.store(place).peek())
        except AgentdError as error:
            yield Unreadable(f"{place.family or 'run'}/{place.name}", error)


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
            unreadable.append(Unreadable(f"change/{place.name}", error))
    return [*sorted(found, key=lambda one: (when(one.at), one.name), reverse=True), *unreadable]


def in_archive(project: Project) -> Iterator[Place]:
    """The changes in the archive, by name."""
    home = project.root / layout.ARCHIVE
    found = (place for place in layout.places(project.root) if place.folder.parent == home)
    return (place for place in found if project.store(place).exists())


def when(at: str) -> datetime:
    """A time that a file carries; what is none was before everything else."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return _EVER
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _archived(project: Project, place: Place) -> Archived:
    from agentd.families.change.archive import record
    from agentd.state import reading

    kept = record.read(place.folder)
    if kept is None:
        store = project.store(place)
        at = str(store.peek().fields.get(store.codec.updated_key, ""))
        listed = reading.listing(str(place.folder), "specs")
        return Archived(place.name, at, {name.removeprefix("specs/"): None for name, problem in listed if not problem})
    return Archived(place.name, str(kept.at), {name: _effect(touched) for name, touched in kept.specs.items()})


def _effect(touched: "Touched") -> Effect:
    if touched.after == touched.before:
        return Effect("same", touched.delta)
    if touched.after is None:
        return Effect("removed", touched.delta)
    return Effect("added" if touched.before is None else "changed", touched.delta)


def log(project: Project, name: str, last: int = 0) -> tuple[Path, list[dict[str, Any]]]:
    """The diary of a run, each save once: a save that was cut off and made again counts as its last telling.

    An archive that was undone is told although its saves are counted again from there.
    """
    place = project.find(name)
    events: dict[Any, dict[str, Any]] = {}
    undone = 0
    for number, event in enumerate(journal.read(place.folder)):
        undone += event.get("event") == journal.UNDONE
        key = (undone, event.get("n")) if type(event.get("n")) is int else f"line {number}"
        events.pop(key, None)
        events[key] = event
    return place.folder, list(events.values())[-last:]


def transcripts(project: Project, name: str, call: str = "") -> Iterator[tuple[str, list[str]]]:
    """What agents printed in a run and its children, redacted, call by call, the oldest first; or of one call."""
    from agentd.calling.transcripts import listed

    folder = project.find(name).folder
    found = [(path.relative_to(folder).as_posix(), path) for path in listed(folder)]
    wanted = [(shown, path) for shown, path in found if not call or path.stem == call]
    if call and not wanted:
        known = ", ".join(dict.fromkeys(path.stem for _, path in found)) or "none"
        raise NotFound(f"There is no transcript of a call '{call}' (there are: {known}).", f"agentd log {name} --raw")
    for shown, path in wanted:
        yield shown, path.read_text(encoding="utf-8", errors="replace").splitlines()


def holder(project: Project, name: str) -> dict[str, Any] | None:
    """Who works on a run now."""
    return lock.holder(project.find(name).folder)


def diagram(project: Project, name: str) -> str:
    """A workflow drawn, as Mermaid."""
    from agentd.workflows.diagram import draw

    return draw(project.workflow(name))
