"""The change family: its parts of the `Family` interface."""

from collections.abc import Iterator, Mapping
from typing import Any

from agentd.calling import roster
from agentd.calling.call import Callers
from agentd.engine.decide import Stop
from agentd.errors import AgentdError
from agentd.families.change import (
    NAME,
    QUICK,
    approval,
    forecast,
    format_check,
    git_setup,
    progress_lines,
    reentry,
    sketch,
    troubleshooting,
)
from agentd.families.change.archive.commands import archive
from agentd.families.change.call import ChangeCall
from agentd.families.change.impl import review_again
from agentd.families.change.specs import removed_in
from agentd.library import snapshot
from agentd.library.exclusive import holding
from agentd.runs.family import Family
from agentd.runs.lifecycle import go_on, notices
from agentd.runs.project import Project
from agentd.runs.report import Report, again, owner
from agentd.runs.work import Work
from agentd.state.codecs import State
from agentd.state.layout import Place
from agentd.usage.calls import spent

AGENTLESS = "archive"  # the command that calls no agent
VERDICTS = ("challenger", "reviewer")


def fields(work: Work, event: str, details: Mapping[str, str]) -> Mapping[str, Any]:
    """The verdict of a challenger's or a reviewer's step that has ended."""
    step = work.workflow.steps.get(details.get("step", ""))
    if step and step.what in VERDICTS and event in ("end", "recover") and details.get("outcome"):
        return {"verdict": details["outcome"].upper()}
    return {}


def summary(state: State) -> Mapping[str, Any]:
    """The fields of a report: what was done, the verdict, the number of reproposals, the cost."""
    return {
        "action": state.run.phase.capitalize(),
        "verdict": str(state.fields.get("verdict") or ""),
        "iteration_count": _reproposals(state.fields.get("llm_calls")),
        "cost": _costs(state.fields),
        "named": "resolved_change_id",
        "refused": state.run.phase == "rejected",
    }


def _reproposals(calls: Any) -> int:
    """How often a plan was revised; the attempts of one call count once."""
    made = [call for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []
    names = (str(call.get("call", number)) for number, call in enumerate(made) if call.get("step") == "reproposal")
    return len({name.rpartition(".")[0] or name for name in names})


def _costs(fields: Mapping[str, Any]) -> str:
    """The cost of the calls of a change, and how many are of unknown cost."""
    if not fields.get("llm_calls"):
        return ""
    made = spent(fields)
    known = f"${made.cost:.4f}" if made.calls > made.unknown else ""
    unknown = f"{made.unknown} of {made.calls} calls of unknown cost" if made.unknown else ""
    return " + ".join(filter(None, (known, unknown))) + f" in {made.calls} calls"


def opening(work: Work, command: str) -> Iterator[str]:
    """Lines to begin with: fallback agents, the phase, and before the first call a forecast of the cost."""
    if command != AGENTLESS:
        yield from notices(work)
    title = {"plan": "planning", "impl": "implementation", QUICK: "quick"}.get(command)
    if not title:
        return
    yield f"📊 Current state: phase={work.state.run.phase.capitalize()}"
    if work.state.run.phase not in work.workflow.commands.get(command, ()):
        return
    yield f"▶️  Starting {title} workflow..."
    if command == QUICK:
        yield from sketch.reminder(work)
    if command == "plan" and not work.state.fields.get("llm_calls"):
        yield forecast.foresee(work)


def started(project: Project, place: Place) -> None:
    """Tell what is not committed, and keep a snapshot of the library, which the archive will merge against."""
    git_setup.say_uncommitted(project)
    with holding(project.root):  # not in the middle of an archive, which may be rolled back
        snapshot.begin(place.folder, project.root)


def settled(work: Work) -> None:
    """Keep all specs in the snapshot while the change is planned, and then only those that it touches."""
    folder, phase = work.store.folder, work.state.run.phase
    if phase == "proposed":
        snapshot.widen(folder, work.project.root)
    elif phase != "rejected":
        snapshot.prune(folder, lambda: removed_in(folder))


def explain(work: Work, stop: Stop) -> AgentdError | None:
    """The error for a stop with a known cause, with what to do about it."""
    run, note = work.state.run, stop.note
    if stop.why == "blocked":
        return approval.closed_gate(work, note)
    failed = work.workflow.steps[run.step]
    agent = roster.name(work.project, failed.what)
    if unclear := troubleshooting.unclear_verdict(run.name, agent, note):
        return unclear
    if failed.kind == "do" and failed.what == "validate":
        return troubleshooting.bad_format(run.name, format_check.serious(work))
    inner = note.partition(": ")[2] if failed.kind == "each" else note
    child = work.project.workflow(failed.what) if failed.kind == "each" else None
    steps = list(child.steps.values()) if child else [failed]
    planner = roster.name(work.project, "planner")
    found = next(filter(None, (troubleshooting.unwritten(one, run.name, planner, inner) for one in steps)), None)
    if found and owner(work.workflow, work.state) == QUICK:
        found.fix = again(work.workflow, work.state)
    return found


def resume(project: Project, place: Place, command: str, steps: int | None) -> Report:
    """Continue with the command of the phase; archiving is more than driving the run."""
    if command != "archive":
        return go_on(project, place, command, steps)
    if project.store(place).load().run.step == project.workflow(NAME).entries["re_review"]:
        return review_again(project, place)
    return archive(project, place.name)


FAMILY = Family(
    Callers(ChangeCall),
    lines=progress_lines.lines,
    fields=fields,
    summary=summary,
    opening=opening,
    started=started,
    settled=settled,
    unblock=reentry.unblock,
    explain=explain,
    resume=resume,
)
