"""Why a change stopped, where the cause is known: the error for it, with what to do about it."""

from agentd.calling import roster
from agentd.engine.decide import Stop
from agentd.errors import AgentdError
from agentd.families.change import QUICK, approval, format_check, troubleshooting
from agentd.runs.report import again, owner
from agentd.runs.work import Work


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
