"""`agentd step`: one part of a change done by itself, whatever comes before it; its gate holds as ever."""

from collections.abc import Mapping

from agentd.errors import ChangeNotReady, GateClosed, Rejected
from agentd.families.change import NAME, PLAN
from agentd.families.change.approval import plan_is_as_approved
from agentd.runs import checksums, ports
from agentd.runs.lifecycle import told
from agentd.runs.project import Project
from agentd.runs.report import Report
from agentd.runs.work import Work, work_on
from agentd.state import lock

# The names that a person may say, each an entry of the table, with the steps it goes through.
SINGLE = {
    "proposal": ("propose", "review_proposal", "specify", "break_down", "review_tasks", "validate"),
    "challenge": ("challenge", "approve"),
    "reproposal": ("revise",),
    "implement": ("ready", "set_out", "baseline", "implement"),
    "review": ("test", "review", "judge"),
    "resolve": ("resolve",),
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


def step(project: Project, name: str, change: str) -> Report:
    """Do one step of a change, whatever comes before it; its gate holds as ever."""
    place = project.find(change, NAME)
    names = SINGLE[name]
    with lock.acquire(place.folder, name):
        work = work_on(project, place, runnable=True)
        _refuse_step(work, name)
        entry = "begin" if (name, work.state.run.phase) == ("implement", "challenged") else name
        _refuse_gate(work, work.workflow.entries[entry])
        ports.go_to(work, entry, f"a person had {name} done instead")
        while True:
            stop = ports.go(work, steps=1)
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
    unchanged = isinstance(seen, Mapping) and not checksums.differences(seen, checksums.checksums(work, PLAN))
    if run.phase == "rejected" and unchanged:
        raise Rejected(
            f"'{run.name}' was rejected and nothing has changed since; challenging it again would say the same.",
            f"edit {work.project.relative(work.home)}/proposal.md, then: agentd challenge {run.name}",
        )


def _refuse_gate(work: Work, step: str) -> None:
    """A step that could not start is refused before anything is moved for it."""
    facts = ports.facts(work, work.workflow.steps[step].needs)
    missing = [f"{name}: {why}" for name, why in facts.items() if why]
    changed = plan_is_as_approved(work) if missing else ""
    if changed:
        raise GateClosed(f"{changed}.", f"agentd challenge {work.state.run.name}")
    if missing:
        folder, again = work.project.relative(work.home), f"agentd status {work.state.run.name}"
        raise GateClosed(f"Step {step} cannot start: {'; '.join(missing)} (in {folder}).", again)
