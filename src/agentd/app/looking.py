"""What a face can look at: runs, their reports, their diaries. Nothing here changes anything, and its imports are light."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentd.app.project import Project
from agentd.app.report import Report, report
from agentd.errors import AgentdError, ChangeNotFound, NotFound, RunNotFound
from agentd.state import journal, lock


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
    from agentd.app import choosing

    return replace(found, warnings=tuple(choosing.notices(project, project.workflow(found.workflow))))


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


def log(project: Project, name: str, last: int = 0) -> tuple[Path, list[dict[str, Any]]]:
    """The diary of a run, each save once: a save that was cut off and made again counts as its last telling."""
    place = project.find(name)
    events: dict[Any, dict[str, Any]] = {}
    for number, event in enumerate(journal.read(place.folder)):
        key = event.get("n") if type(event.get("n")) is int else f"line {number}"
        events.pop(key, None)
        events[key] = event
    return place.folder, list(events.values())[-last:]


def transcripts(project: Project, name: str, call: str = "") -> Iterator[tuple[str, list[str]]]:
    """What agents printed in a run and its children, redacted, call by call, the oldest first; or of one call."""
    from agentd.app.transcripts import listed

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
