"""What a face can look at: runs, their reports, their diaries. Nothing here changes anything, and its imports are light."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentd import files
from agentd.errors import AgentdError, NotFound, RunNotFound
from agentd.runs.project import Project
from agentd.runs.report import Report, report
from agentd.state import journal, lock


def status(project: Project, name: str) -> Report:
    """Where one run stands."""
    from agentd.runs.family import load  # looking at all runs loads no family's code

    try:
        place = project.find(name)
    except RunNotFound as error:
        wanted = name.rpartition("/")[0]
        layout = project.layout(wanted) if wanted else project.layouts[0]
        raise layout.missing(error.message, error.fix) from None
    state, family = project.store(place).load(), load(project.layout(place.family))
    found = report(project, place, state, family.summary(state))
    if found.doing == "finished":
        return found
    return replace(found, warnings=tuple(family.agents.notices(project, project.workflow(found.workflow))))


@dataclass(frozen=True)
class Unreadable:
    """A run that cannot be read, and why."""

    name: str
    error: AgentdError


def overview(project: Project, archived: bool = False) -> Iterator[Report | Unreadable]:
    """Every run; one that cannot be read is listed with its error and hides none of the others."""
    for place in project.places(over=archived):
        try:
            yield report(project, place, project.store(place).peek())
        except AgentdError as error:
            yield Unreadable(project.label(place), error)


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
    folder = project.find(name).folder
    found = [(path.relative_to(folder).as_posix(), path) for path in _transcripts(folder)]
    wanted = [(shown, path) for shown, path in found if not call or path.stem == call]
    if call and not wanted:
        known = ", ".join(dict.fromkeys(path.stem for _, path in found)) or "none"
        raise NotFound(f"There is no transcript of a call '{call}' (there are: {known}).", f"agentd log {name} --raw")
    for shown, path in wanted:
        yield shown, files.read(path).decode(errors="replace").splitlines()


def _transcripts(folder: Path) -> list[Path]:
    """Every transcript of a run and its children, in the order in which the calls began."""
    return sorted(folder.rglob("calls/*.jsonl"), key=lambda path: (begun(path), path.name))


def begun(path: Path) -> str:
    """When a call began, as the first line of its transcript says."""
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            head = json.loads(lines.readline())
    except (OSError, ValueError, RecursionError):
        return ""
    return str(head.get("at", "")) if isinstance(head, dict) else ""


def holder(project: Project, name: str) -> dict[str, Any] | None:
    """Who works on a run now."""
    return lock.holder(project.find(name).folder)
