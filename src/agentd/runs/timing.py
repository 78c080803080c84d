"""Where the time of a run went, read from its diaries. It changes nothing, and follows no link."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentd.model.stamp import Part
from agentd.model.waterfall import Command, Diary, Step, Waterfall, waterfall
from agentd.runs.diaries import DEEPEST, own_children
from agentd.runs.project import Project
from agentd.state import journal


def timing(project: Project, name: str) -> tuple[Path, Waterfall]:
    """The folder of a run, and where its time went."""
    folder = project.find(name).folder
    return folder, waterfall(diary(folder))


def diary(folder: Path, depth: int = 0) -> Diary:
    """The diary of the run in a folder, with those of its children."""
    found = () if depth >= DEEPEST else own_children(folder)
    return Diary(journal.read(folder), {(step, item): diary(place, depth + 1) for step, item, place in found})


def to_data(found: Waterfall) -> dict[str, Any]:
    """A waterfall as a program gets it: seconds, each start counted from the start of its command."""
    totals = {name: _rounded(seconds) for name, seconds in found.totals().items()}
    return {
        "commands": [_command(command) for command in found.commands],
        "totals": totals,
        "not_recorded": found.unstamped,
    }


def _command(command: Command) -> dict[str, Any]:
    return {
        "command": command.name,
        "at": command.at,
        "start": _rounded(command.start),
        "seconds": _rounded(command.seconds),
        "gap": _rounded(command.gap),
        "gap_for_person": command.for_person,
        "uncounted": _rounded(command.uncounted),
        "totals": {name: _rounded(seconds) for name, seconds in command.totals().items()},
        "parts": _parts(command.parts),
        "steps": [_step(step) for step in command.steps],
    }


def _step(step: Step) -> dict[str, Any]:
    children = [
        {"item": child.name, **_span(child.start, child.end), "steps": [_step(each) for each in child.steps]}
        for child in step.children
    ]
    made: dict[str, Any] = {"step": step.name, "outcome": step.outcome, **_span(step.start, step.end)}
    return {**made, "parts": _parts(step.parts), **({"children": children} if children else {})}


def _parts(parts: Sequence[Part]) -> list[dict[str, Any]]:
    found = []
    for part in parts:
        made: dict[str, Any] = {"part": part.name, "owner": part.owner, **_span(part.start, part.end)}
        if part.about:
            made["about"] = part.about
        if part.inner:
            made["inner"] = [{"name": one.name, **_span(one.start, one.end)} for one in part.inner]
        found.append(made)
    return found


def _span(start: float, end: float) -> dict[str, float]:
    return {"start": _rounded(start), "seconds": _rounded(end - start)}


def _rounded(seconds: float) -> float:
    return round(seconds, 4)
