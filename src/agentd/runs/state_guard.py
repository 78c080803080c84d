"""What no agent may change in the state of its run, whatever its family: how far it has come, and what a person decided.

Agents may write in the folder of their run; what they did to these is put back when the call ends, and told.
"""

from dataclasses import replace

from agentd.model.run import Run
from agentd.model.workflow import Workflow
from agentd.runs.work import Work

KEYS = (
    "implementation",
    "git",
    "budget",
    "llm_calls",
    "total_cost",
    "total_tokens_in",
    "total_tokens_out",
    "unknown_costs",
    "user_decisions",
)


def put_state_back(work: Work) -> str:
    """What was put back in the state file, in words, or nothing. A phase that leads aside is not touched."""
    top = work.top
    with top.guard:
        for store in (work.store, top.store):
            broken = store.mend()
            if broken:
                name = store.path.relative_to(top.store.folder).as_posix()
                return f"{name} was {broken} while the agent worked, and was put back"
        said = [_keys_put_back(each) for each in dict.fromkeys((top, work))]
    return "; ".join(filter(None, said))


def _keys_put_back(work: Work) -> str:
    store, workflow = work.store, work.workflow
    if store.is_as_saved():
        return ""
    theirs = store.peek().run.phase
    foreign = theirs not in workflow.phases or is_ahead(workflow, theirs, work.state.run.phase)
    changed = store.put_back(*work.layout.guarded_keys, *KEYS, *([store.codec.phase_key] if foreign else []))
    name = store.path.relative_to(work.top.store.folder).as_posix()
    return f"{', '.join(changed)} in {name} changed while the agent worked, and was put back" if changed else ""


def standing(workflow: Workflow, run: Run) -> Run:
    """The run as it stands; at the step that was cut off, if its phase has come to be ahead of that one."""
    cut_off = workflow.steps.get(run.intent.call.rpartition("-")[0]) if run.intent else None
    if cut_off is None or not is_ahead(workflow, run.phase, cut_off.phase):
        return run
    return replace(run, phase=cut_off.phase, step=cut_off.name, result="")


def is_ahead(workflow: Workflow, phase: str, of: str) -> bool:
    """Whether a phase is further on than another; one that leads aside is not ahead of any."""
    road = workflow.road
    return phase in road and of in road and road.index(phase) > road.index(of)
