"""What the team family does that others do not: sessions by day, tasks in workspaces, a state that other tools can read."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from agentd.engine.decide import Stop
from agentd.engine.waves import Item
from agentd.errors import AgentdError, GateClosed
from agentd.families.team import LAYOUT, session
from agentd.landing import task
from agentd.runs.commands import first_words
from agentd.runs.family import Family
from agentd.runs.lifecycle import notices
from agentd.runs.project import Project
from agentd.runs.work import Work
from agentd.state.codecs import State

ONE_AFTER_ANOTHER = "team-task-late"
# Checks that documents are those that a person decided on, or that the work was begun with.
BOUND = ("design_is_approved", "documents_are_as_decided")
# Actions that only take up what is there already.
QUIET = (
    "summarize_design",
    "hear_design",
    "recommend_strategy",
    "hear_strategy",
    "complete_tasks",
    "manual_checks_are_confirmed",
    "put_aside",
    "reopen_gate",
)


def new_name(_: Project, description: str) -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}_{first_words(description)}"


def items(work: Work) -> Sequence[Item]:
    """The tasks, with what each depends on and the files that it declares to write."""
    return [one.item for one in session.listed(work)]


def may_begin(work: Work, item: Item, under_way: Sequence[Item]) -> str:
    """Why a task has to wait: where it is reviewed late, tasks are done one after another."""
    if work.workflow.steps[work.state.run.step].what == ONE_AFTER_ANOTHER:
        return f"waits for {under_way[0].id}: tasks that are reviewed together are done one after another"
    return task.may_begin(work, item, under_way)


def opening(work: Work, _: str) -> Sequence[str]:
    """Begin status.json with what every reader of it expects, before the first role is dispatched."""
    if "runtime_flags" not in work.state.fields:
        mode = "lean" if work.state.run.phase.endswith("_LEAN") else "full"
        work.set_fields(
            {
                "mode": mode,
                "assumptions": [],
                "gate_tracking": {"APPROVE_DESIGN": {"correction_status": "none", "last_correction_dispatch": None}},
                "retry_counts": {},
                "known_issues": [],
                "last_ci_result": None,
                **work.state.fields,
            }
        )
        session.project_instructions(work)
        work.keep("session")
    return list(notices(work))


def lines(work: Work, event: str, details: Mapping[str, str]) -> list[str] | None:
    """The lines for an event; agentd's own small steps are told only where they lead aside."""
    step = work.workflow.steps.get(details.get("step", ""))
    if step is None or step.kind != "do":
        return None
    usual = event == "begin" or (event == "end" and details.get("outcome") == step.forward)
    return [] if usual and step.what in QUIET else None


def fields(work: Work, event: str, details: Mapping[str, str]) -> Mapping[str, Any]:
    return session.fields(work, event, details)


def explain(work: Work, stop: Stop) -> AgentdError | None:
    """The error for a session with a document that was not decided on, or that does not count."""
    name, _, why = stop.note.partition(": ")
    home, run = work.project.relative(work.store.folder), work.state.run.name
    if stop.why != "blocked":
        return None
    if name not in BOUND:
        edit = f"edit {home}/{name}; then: " if (work.store.folder / name).is_file() else ""
        return GateClosed(
            f"Step {work.state.run.step} cannot start: {stop.note} (in {home}).", f"{edit}agentd resume team/{run}"
        )
    back = "INTAKE_LEAN" if session.is_lean(work) else "APPROVE_DESIGN"
    return GateClosed(
        f"{why} (in {home}).",
        f"put it back, or set current_state in {home}/status.json to {back}; then: agentd resume team/{run}",
    )


def summary(state: State) -> Mapping[str, Any]:
    return {"action": state.run.phase, "refused": state.run.result == "abandoned"}


FAMILY = Family(
    LAYOUT.later("call.agents"),
    lines=lines,
    fields=fields,
    summary=summary,
    opening=opening,
    explain=explain,
    settled=task.settle,
    new_name=new_name,
    may_begin=may_begin,
    specified=LAYOUT.later("closing.specification"),
)
