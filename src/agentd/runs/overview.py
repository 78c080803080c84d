"""What a face can look at: runs, their reports, their diaries. Nothing here changes anything, and its imports are light."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentd.errors import AgentdError, NotFound, RunNotFound
from agentd.runs import uncommitted, unfinished
from agentd.runs.project import Project
from agentd.runs.report import Report, report
from agentd.runs.unfinished import Unfinished
from agentd.state import lock, reading
from agentd.state.layout import Place
from agentd.values import dataclass


def status(project: Project, name: str) -> Report:
    """Where one run stands."""
    try:
        place = project.find(name)
    except RunNotFound as error:
        wanted = name.rpartition("/")[0]
        layout = project.layout(wanted) if wanted else project.layouts[0]
        raise layout.missing(error.message, error.fix) from None
    state, family = project.store(place).load(), _family(project, place)
    found = _cut_off(report(project, place, state, family.summary(state)), unfinished.interrupted(project.root))
    if found.doing == "finished":
        return found
    return replace(found, warnings=tuple(family.agents().notices(project, project.workflow(found.workflow))))


@dataclass(frozen=True)
class Unreadable:
    """A run that cannot be read, and why."""

    name: str
    error: AgentdError


def overview(project: Project, archived: bool = False) -> Iterator[Report | Unreadable]:
    """Every run; one that cannot be read is listed with its error and hides none of the others.

    Without the archived ones, but for those whose files are not committed yet.
    """
    cut_off = unfinished.interrupted(project.root)
    places = list(project.places(over=archived))
    for name in uncommitted.marked(project.root):
        places += [place for place in project.places(name) if place not in places]
    if cut_off:  # its folder may have moved already
        places += [
            place for place in project.layout(cut_off.family).places(project.root, cut_off.run) if place not in places
        ]
    for place in places:
        try:
            yield _cut_off(report(project, place, project.store(place).peek()), cut_off)
        except AgentdError as error:
            if place.folder.exists():
                yield Unreadable(project.label(place), error)
            else:  # it was moved meanwhile, and is looked at there
                places += [each for each in project.places(place.name) if each not in places]


def _cut_off(found: Report, note: Unfinished | None) -> Report:
    """The report on a run, with the command that finishes what was cut off, if that was about this run."""
    if note is None or (note.family, note.run) != (found.workflow, found.name):
        return found
    words = f"the {note.command} was cut off; the same command finishes it"
    return replace(found, doing="interrupted", note=words, next=f"agentd {note.command} {note.run}")


def details(project: Project, name: str) -> Sequence[str]:
    """What the family of a run shows of it besides the ordinary."""
    place = project.find(name)
    return tuple(_family(project, place).details(project.store(place).load()))


def _family(project: Project, place: Place) -> Any:
    from agentd.runs.family import load  # looking at all runs loads no family's code

    return load(project.layout(place.family))


def transcripts(project: Project, name: str, call: str = "") -> Iterator[tuple[str, list[str]]]:
    """What agents printed in a run and its children, redacted, call by call, the oldest first; or of one call."""
    folder = project.find(name).folder
    found = [(path.relative_to(folder).as_posix(), path) for path in _transcripts(folder)]
    wanted = [(shown, path) for shown, path in found if not call or path.stem == call]
    if call and not wanted:
        known = ", ".join(dict.fromkeys(path.stem for _, path in found)) or "none"
        raise NotFound(f"There is no transcript of a call '{call}' (there are: {known}).", f"agentd log {name} --raw")
    for shown, path in wanted:
        yield shown, reading.own(path).decode(errors="replace").splitlines()


def _transcripts(folder: Path) -> list[Path]:
    """Every transcript of a run and its children, in the order in which the calls began."""
    return sorted(folder.rglob("calls/*.jsonl"), key=lambda path: (begun(path), path.name))


def begun(path: Path) -> str:
    """When a call began, as the first line of its transcript says."""
    try:
        with reading.opened(path) as lines:
            head = json.loads(lines.readline().decode(errors="replace"))
    except (OSError, ValueError, RecursionError):
        return ""
    return str(head.get("at", "")) if isinstance(head, dict) else ""


def holder(project: Project, name: str) -> dict[str, Any] | None:
    """Who works on a run now."""
    return lock.holder(project.find(name).folder)
