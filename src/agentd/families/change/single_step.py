"""`agentd step`: run one part of a change by itself. The checks that its steps need still apply."""

from collections.abc import Mapping
from typing import NamedTuple

from agentd.errors import ChangeNotReady, GateClosed, Rejected
from agentd.families.change import NAME, PLAN
from agentd.families.change.approval import closed_gate
from agentd.runs import checksums, ports
from agentd.runs.lifecycle import told
from agentd.runs.project import Project
from agentd.runs.report import Report
from agentd.runs.work import Work, work_on
from agentd.state import lock


class Single(NamedTuple):
    """What `agentd step NAME` runs, and the phases in which it may."""

    steps: tuple[str, ...]
    phases: tuple[str, ...]


# By the names that a person may give, each an entry of the table.
SINGLE = {
    "proposal": Single(
        ("propose", "review_proposal", "specify", "break_down", "review_tasks", "validate"), ("proposed",)
    ),
    "challenge": Single(("challenge", "approve"), ("proposed", "rejected", "challenged")),
    "reproposal": Single(("revise",), ("proposed",)),
    "implement": Single(("ready", "set_out", "baseline", "implement"), ("challenged", "implementing")),
    "review": Single(("test", "review", "judge"), ("implementing",)),
    "resolve": Single(("resolve",), ("implementing",)),
}


def step(project: Project, name: str, change: str) -> Report:
    """Run one part of a change, whatever step the run is at."""
    place = project.find(change, NAME)
    with lock.acquire(place.folder, name):
        work = work_on(project, place, runnable=True)
        work.laps.command = f"step {name}"
        _refuse_step(work, name)
        entry = "begin" if (name, work.state.run.phase) == ("implement", "challenged") else name
        _refuse_gate(work, work.workflow.entries[entry])
        ports.go_to(work, entry, f"a person had {name} done instead")
        while True:
            stop = ports.go(work, steps=1)
            if stop.why != "paused" or work.resting or work.state.run.step not in SINGLE[name].steps:
                break
    return told(project, place, work, stop)


def _refuse_step(work: Work, name: str) -> None:
    """Refuse a part in another phase, and a challenge of a rejected plan that has not changed since."""
    run, phases = work.state.run, SINGLE[name].phases
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
    """Refuse a step that could not start, before the run is moved to it."""
    facts = ports.facts(work, work.workflow.steps[step].needs)
    missing = "; ".join(f"{name}: {why}" for name, why in facts.items() if why)
    if missing:
        folder, again = work.project.relative(work.home), f"agentd status {work.state.run.name}"
        raise closed_gate(work, missing) or GateClosed(f"Step {step} cannot start: {missing} (in {folder}).", again)
