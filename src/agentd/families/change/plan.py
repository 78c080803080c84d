"""`agentd plan`: start a change, or continue planning it."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentd.errors import MissingDescription, Rejected
from agentd.families.change import ARCHIVE, NAME, QUICK, clarification, git_setup
from agentd.families.change.impl import impl
from agentd.runs.choice import writable
from agentd.runs.lifecycle import go_on, start
from agentd.runs.ports import go_to
from agentd.runs.project import Project
from agentd.runs.report import Report
from agentd.runs.work import Work
from agentd.state.layout import Place
from agentd.values import dataclass

# The action that `plan` reports if it had nothing to do, by phase.
OVER = {
    "challenged": "AlreadyComplete",
    "implementing": "BeyondPlanning",
    "complete": "BeyondPlanning",
    "archived": "BeyondPlanning",
}


@dataclass(frozen=True)
class Wishes:
    """The options for a new change."""

    skip_clarify: bool = False
    one_shot: bool = False
    git: str = ""


def plan(project: Project, change: str, description: str = "", wishes: Wishes | None = None) -> Report:
    """Start a change, or continue planning it, depending on its phase."""
    place = place_to_plan(project, change, description)
    if not project.store(place).exists():
        return _begin_change(project, place.name, description, wishes or Wishes())
    if wishes is not None and wishes != Wishes():
        project.say(f"⚠ '{place.name}' already exists; --skip-clarify, --one-shot and --git are ignored.")
    phase = project.store(place).load().run.phase
    if phase == "rejected":
        raise Rejected(
            f"⛔ Rejected: read the review block in {project.relative(place.folder)}/proposal.md, change what it names, "
            "then have it challenged again.",
            f"agentd challenge {place.name}",
        )
    report = _proceed(project, place, go_on(project, place, "plan", first=_in_full))
    return replace(report, action=OVER.get(phase) or report.action)


def _in_full(work: Work) -> None:
    """Plan a quick change in full from now on, with the documents that it has."""
    if work.state.run.phase == "proposed" and work.state.fields.get("mode") == QUICK:
        work.note("mode", "full")
        go_to(work, "larger", "it is planned in full")


def place_to_plan(project: Project, change: str, description: str) -> Place:
    """The change to plan. If the name belongs to an archived change or to another folder, `-1`, `-2` … is added."""
    place = project.new_place(NAME, change)
    begun = project.store(place).exists()
    if begun and (not is_archived(place) or not description.strip()):
        return place
    if not begun and is_free(place.folder):
        return place
    said = clarification.from_words(description)[0] if description.strip() else ""
    stem, number = _numbered(project, change)
    while True:
        place = project.new_place(NAME, f"{stem}-{number}")
        if not project.store(place).exists() and is_free(place.folder):
            return place
        if project.store(place).exists() and not is_archived(place):
            known = project.store(place).load()
            if not said or known.fields.get("description") == writable(said):
                return place  # the same command again
        number += 1


def _numbered(project: Project, change: str) -> tuple[str, int]:
    """The name that a number is added to, and the first number to try: `x-1` is followed by `x-2`, not by `x-1-1`."""
    found = re.fullmatch(r"(.+)-([1-9]\d{0,8})", change)
    if found and project.new_place(NAME, found[1]).folder.exists():
        return found[1], int(found[2]) + 1
    return change, 1


def is_archived(place: Place) -> bool:
    return place.folder.parent.name == ARCHIVE.rpartition("/")[2]


def is_free(folder: Path) -> bool:
    """Whether a folder does not exist, or has only clarifications and the files of an interrupted start."""
    kept = ("clarifications.md", "base.json", "journal.jsonl")
    if not folder.exists():
        return True
    return folder.is_dir() and all(path.name in kept or path.name.startswith(".") for path in folder.iterdir())


def _is_written(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def _begin_change(project: Project, change: str, description: str, wishes: Wishes) -> Report:
    if not description.strip():
        raise MissingDescription(
            f"'{change}' is a new change and needs a description.", f'agentd plan {change} "what should change"'
        )
    said, detailed = clarification.from_words(description)
    place = project.new_place(NAME, change)
    skipped = "--skip-clarify" if wishes.skip_clarify else "the description is detailed" if detailed else ""
    if not (skipped or project.attended or _is_written(place.folder / "clarifications.md")):
        clarification.refuse_unclarified(change, said)
    one_shot = wishes.one_shot or project.config.get("workflow", "generation") == "one-shot"
    fields: dict[str, Any] = {"generation": "one-shot" if one_shot else "sequential"}
    if skipped:
        fields["clarification"] = f"skipped: {skipped}"
    if wishes.git:
        git_setup.refuse_impossible(project, change, wishes.git)
        fields["git"] = {"choice": wishes.git}
    elif project.attended:  # who is asked later must not be told then that no branch is possible
        git_setup.refuse_blocked(project)
    git_setup.refuse_without_git(project)
    return _proceed(project, place, start(project, NAME, change, said, command="plan", fields=fields))


def _proceed(project: Project, place: Place, planned: Report) -> Report:
    """Continue with `impl` if the person chose to implement right away."""
    last = next((d for d in reversed(project.store(place).load().decisions) if d.status == "answered"), None)
    chosen = last is not None and last.name in ("agree", "exhausted") and last.answer == "implement"
    if planned.phase == "challenged" and planned.why == "elsewhere" and chosen and project.attended and planned.drove:
        return impl(project, place.name)
    return planned
