"""A person's own workflows go the ordinary way, but for tasks in workspaces, which wait for files and for room."""

from collections.abc import Sequence

from agentd.calling.call import Callers
from agentd.engine.waves import Item
from agentd.landing import task
from agentd.runs.family import Family
from agentd.runs.work import Work

WORKSPACE = "open_workspace"


def may_begin(work: Work, item: Item, under_way: Sequence[Item]) -> str:
    """Why a task in a workspace has to wait beside those under way, or nothing."""
    child = work.project.workflow(work.workflow.steps[work.state.run.step].what)
    return task.may_begin(work, item, under_way) if any(s.what == WORKSPACE for s in child.steps.values()) else ""


FAMILY = Family(Callers, settled=task.settle, may_begin=may_begin)
