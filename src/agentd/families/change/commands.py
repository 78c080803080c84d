"""The commands of the change workflow: plan, impl, archive, and its steps one by one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentd import process
from agentd.engine.decide import Stop
from agentd.errors import (
    ChangeNotReady,
    GateClosed,
    MissingDescription,
    Rejected,
    UsageError,
)
from agentd.families.change import approval, clarification, code_verdict
from agentd.families.change import tasks as tasking
from agentd.model.workflow import Step
from agentd.proof import record
from agentd.runs import checksums, decisions, state_guard, worktree
from agentd.runs.lifecycle import go_on, start, told
from agentd.runs.project import Project
from agentd.runs.report import Report, report
from agentd.runs.work import Work
from agentd.state import lock
from agentd.state.layout import Place

# The steps of the change workflow that a person may have done by themselves, and the phases they may be done in.
SINGLE = {
    "proposal": ("propose", "review_proposal", "specify", "break_down", "review_tasks", "validate"),
    "challenge": ("challenge", "approve"),
    "reproposal": ("revise",),
    "implement": ("ready", "set_out", "baseline", "implement"),
    "review": ("test", "review", "judge"),
    "resolve": ("resolve",),
}
# What `plan` came to where it had nothing to do.
OVER = {
    "challenged": "AlreadyComplete",
    "implementing": "BeyondPlanning",
    "complete": "BeyondPlanning",
    "archived": "BeyondPlanning",
}
OUTSET = ("set_out", "baseline", "begin_anyway", "accept_baseline")
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
    said = clarification.from_words(description)[0] if description.strip() else ""
    stem, number = _numbered(project, change)
    while True:
        place = project.new_place("change", f"{stem}-{number}")
        if not project.store(place).exists() and _is_free(place.folder):
            return place
        if project.store(place).exists() and not _is_archived(place):
            known = project.store(place).load()
            if not said or known.fields.get("description") == decisions.writable(said):
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
    said, detailed = clarification.from_words(description)
    place = project.new_place("change", change)
    skipped = "--skip-clarify" if wishes.skip_clarify else "the description is detailed" if detailed else ""
    if not (skipped or project.attended or _is_written(place.folder / "clarifications.md")):
        clarification.refuse_unclarified(change)
    one_shot = wishes.one_shot or project.config.get("workflow", "generation") == "one-shot"
    fields: dict[str, Any] = {"generation": "one-shot" if one_shot else "sequential"}
    if skipped:
        fields["clarification"] = f"skipped: {skipped}"
    if wishes.git:
        worktree.refuse_impossible(project, change, wishes.git)
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
    unchanged = isinstance(seen, Mapping) and not checksums.differences(seen, checksums.checksums(work, checksums.PLAN))
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


def impl(
    project: Project, change: str, tasks: Sequence[str] = (), re_review: bool = False, resolve: bool = False
) -> Report:
    """Implement a change whose plan was approved, or some of its tasks; review it again, or have that resolved."""
    place = project.find(change, "change")
    phase = state_guard.standing(project.workflow("change"), project.store(place).load().run).phase
    _refuse_wishes(change, phase, tasks, re_review, resolve)
    if phase == "complete" and re_review:
        again = go_on(project, place, first=_review_again)
        follow = f"agentd impl {place.name} --resolve" if again.exit_code == 1 else again.next
        return replace(again, action="Reviewed", next=follow)
    if phase == "complete" and not resolve:
        approval.warn(project, place)
        return replace(report(project, place, project.store(place).load()), action="AlreadyComplete")
    if phase in ("proposed", "rejected", "archived"):
        fixes = {
            "proposed": f"agentd plan {change}",
            "rejected": f"agentd status {change}",
            "archived": f"agentd log {change}",
        }
        raise ChangeNotReady(f"'{change}' is {phase}, so there is nothing to implement.", fixes[phase])
    if not any((folder / ".git").exists() for folder in (project.root, *project.root.parents)):
        raise ChangeNotReady("Implementing needs git, so that every change can be seen and undone.", "git init")

    def first(work: Work) -> None:
        if tasks:
            tasking.want(work, tasks)
        take_up(work, resolve)

    return go_on(project, place, "impl", first=first)


def _refuse_wishes(change: str, phase: str, tasks: Sequence[str], re_review: bool, resolve: bool) -> None:
    """Options that do not go together, or not with the phase, are refused before anything is done."""
    if sum(map(bool, (tasks, re_review, resolve))) > 1:
        raise UsageError("--tasks, --re-review and --resolve are three different things.", f"agentd impl {change}")
    if phase == "complete" and tasks:
        raise UsageError(f"'{change}' is complete, so it has no tasks left.", f"agentd impl {change} --resolve")
    # The same command goes on after a kill, and by then --resolve has reopened the change.
    if (re_review and phase != "complete") or (resolve and phase not in ("complete", "implementing")):
        raise UsageError(f"'{change}' is {phase}; only a complete change is reviewed again.", f"agentd impl {change}")


def take_up(work: Work, resolve: bool = False) -> None:
    """Where a person's command goes on: with tasks that are open again, or with repairs where the loop had given up."""
    run = work.state.run
    worktree.refuse_lost(work)
    here = work.workflow.steps.get(run.step)
    if record.base(work):
        record.hold_base(work)
    elif run.phase == "implementing" and here and here.phase == run.phase and run.step != "set_out":
        work.stand_at("set_out", "nobody knows what the change began with", "back")
        return
    if resolve and run.phase == "complete":
        work.say("⚠ reopened: what the review found is resolved")
        work.stand_at("resolve", "a person had it resolved", "reopened")
        return
    asked = decisions.pending(work, "stuck")
    if (
        run.step == "stuck"
        and asked
        and not decisions.valid_answer(work.store.folder, asked)
        and not work.project.attended
    ):
        work.stand_at("resolve", "the command was given again", "again")
        return
    if run.phase != "implementing" or here is None or here.phase != run.phase or run.step in OUTSET:
        return
    begun_again = tuple(f"children/implement/{name}/" for name in tasking.reopened(work))
    if begun_again or (tasking.open_tasks(work) and run.step != "implement"):
        work.say("⚠ there are open tasks: they come first")
        work.stand_at("implement", "there are open tasks", "back", begun_again)


def _review_again(work: Work) -> Stop:
    """A complete change is tested and reviewed once more; what comes of it is told, and it stays complete."""
    process.end_leftovers("AGENTD_RUN", str(work.store.folder))
    again = Step(code_verdict.AGAIN, "complete", "each", "change-review")
    stop = work.drive_child(work.state.run, again, code_verdict.items(work)[0])
    if work.state is not work.saved:
        work.keep("reviewed again", outcome=stop.note)
    if stop.why != "finished":
        return stop
    if stop.note == "approved":
        work.say("✅ reviewed again: APPROVED")
        return Stop("elsewhere", "reviewed again: approved")
    name = work.state.run.name
    work.say(f"⚠ reviewed again: not approved; it stays complete. To have it repaired: agentd impl {name} --resolve")
    return Stop("failed", f"reviewed again: not approved; agentd impl {name} --resolve reopens it")
