"""The commands of the change workflow: plan, impl, archive, and its steps one by one."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentd.app import asking, bound, branching, clarifying
from agentd.app.driving import go_on, start, told
from agentd.app.project import Project
from agentd.app.report import Report
from agentd.app.work import Work
from agentd.errors import ChangeNotComplete, ChangeNotReady, GateClosed, MissingDescription, Rejected
from agentd.state import lock
from agentd.state.layout import Place

# The steps of the change workflow that a person may have done by themselves, and the phases they may be done in.
SINGLE = {
    "proposal": ("propose", "review_proposal", "specify", "break_down", "review_tasks", "validate"),
    "challenge": ("challenge", "approve"),
    "reproposal": ("revise",),
    "implement": ("ready", "implement"),
    "review": ("test", "review"),
    "resolve": ("resolve",),
}
# What `plan` came to where it had nothing to do.
OVER = {
    "challenged": "AlreadyComplete",
    "implementing": "BeyondPlanning",
    "complete": "BeyondPlanning",
    "archived": "BeyondPlanning",
}
PLANNED = ("proposed",)
BUILT = ("implementing",)
STEP_PHASES = {
    "proposal": PLANNED,
    "challenge": (*PLANNED, "rejected", "challenged"),
    "reproposal": PLANNED,
    "implement": ("challenged", *BUILT),
    "review": BUILT,
    "resolve": BUILT,
}


@dataclass(frozen=True)
class Wishes:
    """What a person wants of a new change besides its description."""

    skip_clarify: bool = False
    one_shot: bool = False
    git: str = ""


def plan(project: Project, change: str, description: str = "", wishes: Wishes | None = None) -> Report:
    """Start a change, or go on planning it; the phase alone says which."""
    place = _place_to_plan(project, change, description)
    if not project.store(place).exists():
        return _begin_change(project, place.name, description, wishes or Wishes())
    if wishes is not None and wishes != Wishes():
        project.say(f"⚠ {place.name} has begun already: what is chosen for a new change does not count")
    phase = project.store(place).load().run.phase
    if phase == "rejected":
        raise Rejected(
            f"⛔ Rejected: read the review block in {project.relative(place.folder)}/proposal.md, change what it names, "
            "then have it challenged again.",
            f"agentd challenge {place.name}",
        )
    report = _proceed(project, place, go_on(project, place, "plan"))
    return replace(report, action=OVER.get(phase) or report.action)


def _place_to_plan(project: Project, change: str, description: str) -> Place:
    """The change a person means. One that is archived, or a folder that is none, gives way to `-1`, `-2` …"""
    place = project.new_place("change", change)
    begun = project.store(place).exists()
    if begun and (not _is_archived(place) or not description.strip()):
        return place
    if not begun and _is_free(place.folder):
        return place
    said = clarifying.from_words(description)[0] if description.strip() else ""
    stem, number = _numbered(project, change)
    while True:
        place = project.new_place("change", f"{stem}-{number}")
        if not project.store(place).exists() and _is_free(place.folder):
            return place
        if project.store(place).exists() and not _is_archived(place):
            known = project.store(place).load()
            if not said or known.fields.get("description") == asking.writable(said):
                return place  # the same command, given again
        number += 1


def _numbered(project: Project, change: str) -> tuple[str, int]:
    """What numbers are added to, and the first to try: `x-1`, which stands in for `x`, is followed by `x-2`."""
    found = re.fullmatch(r"(.+)-([1-9]\d{0,8})", change)
    if found and project.new_place("change", found[1]).folder.exists():
        return found[1], int(found[2]) + 1
    return change, 1


def _is_archived(place: Place) -> bool:
    return place.folder.parent.name == "archive"


def _is_free(folder: Path) -> bool:
    """Whether a folder is not there, or holds nothing but clarifications and what a start that was cut off left behind."""
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
    said, detailed = clarifying.from_words(description)
    place = project.new_place("change", change)
    skipped = "--skip-clarify" if wishes.skip_clarify else "the description is detailed" if detailed else ""
    if not (skipped or project.attended or _is_written(place.folder / "clarifications.md")):
        clarifying.refuse_unclarified(change)
    one_shot = wishes.one_shot or project.config.get("workflow", "generation") == "one-shot"
    fields: dict[str, Any] = {"generation": "one-shot" if one_shot else "sequential"}
    if skipped:
        fields["clarification"] = f"skipped: {skipped}"
    if wishes.git:
        branching.refuse_impossible(project, change, wishes.git)
        fields["git"] = {"choice": wishes.git}
    return _proceed(project, place, start(project, "change", change, said, command="plan", fields=fields))


def _proceed(project: Project, place: Place, planned: Report) -> Report:
    """A person who chose to implement right away has it implemented."""
    last = next((d for d in reversed(project.store(place).load().decisions) if d.status == "answered"), None)
    chosen = last is not None and last.name in ("agree", "exhausted") and last.answer == "implement"
    if planned.phase == "challenged" and planned.why == "elsewhere" and chosen and project.attended and planned.drove:
        return impl(project, place.name)
    return planned


def step(project: Project, name: str, change: str) -> Report:
    """Do one step of a change, whatever comes before it; its gate holds as ever."""
    place = project.find(change, "change")
    names = SINGLE[name]
    with lock.acquire(place.folder, name):
        store = project.store(place)
        workflow = project.workflow("change", runnable=True)
        work = Work(project, workflow, store, store.load())
        _refuse_step(work, name)
        begin = next((one for one in names if workflow.steps[one].phase == work.state.run.phase), names[0])
        _refuse_gate(work, begin)
        work.stand_at(begin, f"a person had {name} done instead")
        while True:
            stop = work.go(steps=1)
            if stop.why != "paused" or work.resting or work.state.run.step not in names:
                break
    return told(project, place, work, stop)


def _refuse_step(work: Work, name: str) -> None:
    """Each step has its phases; a rejected plan is challenged again only if it was changed."""
    run, phases = work.state.run, STEP_PHASES[name]
    if run.phase not in phases:
        known = " or ".join(phases)
        raise ChangeNotReady(
            f"'{run.name}' is {run.phase}; {name} works on one that is {known}.", f"agentd status {run.name}"
        )
    seen = work.state.fields.get("challenged")
    unchanged = isinstance(seen, Mapping) and not bound.differences(seen, bound.checksums(work, bound.PLAN))
    if run.phase == "rejected" and unchanged:
        raise Rejected(
            f"'{run.name}' was rejected and nothing has changed since; challenging it again would say the same.",
            f"edit {work.project.relative(work.home)}/proposal.md, then: agentd challenge {run.name}",
        )


def _refuse_gate(work: Work, step: str) -> None:
    """A step that could not start is refused before anything is moved for it."""
    facts = work.facts(work.state.run, work.workflow.steps[step].needs)
    missing = [f"{name}: {why}" for name, why in facts.items() if why]
    if missing:
        folder, again = work.project.relative(work.home), f"agentd status {work.state.run.name}"
        raise GateClosed(f"Step {step} cannot start: {'; '.join(missing)} (in {folder}).", again)


def impl(project: Project, change: str) -> Report:
    """Implement a change whose plan was approved."""
    place = project.find(change, "change")
    phase = project.store(place).load().run.phase
    if phase in ("proposed", "rejected", "archived"):
        fixes = {
            "proposed": f"agentd plan {change}",
            "rejected": f"agentd status {change}",
            "archived": f"agentd log {change}",
        }
        raise ChangeNotReady(f"'{change}' is {phase}, so there is nothing to implement.", fixes[phase])
    if not any((folder / ".git").exists() for folder in (project.root, *project.root.parents)):
        raise ChangeNotReady("Implementing needs git, so that every change can be seen and undone.", "git init")
    return go_on(project, place, "impl")


def archive(project: Project, change: str) -> Report:
    """Bring the specs of a complete change into the library and move its folder to the archive."""
    place = project.find(change, "change")
    phase = project.store(place).load().run.phase
    if phase != "complete":
        fix = f"agentd status {change}" if phase in ("archived", "rejected") else f"agentd impl {change}"
        raise ChangeNotComplete(f"'{change}' is {phase}, not complete; nothing was moved.", fix)
    return go_on(project, place, "archive")
