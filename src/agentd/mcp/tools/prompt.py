"""The words of a task, as agents ask for them."""

from typing import Literal

from agentd.app import reading
from agentd.app.desk import Desk
from agentd.mcp.tools.words import ChangeId

TaskType = Literal[
    "create_proposal",
    "create_spec",
    "create_tasks",
    "review_proposal",
    "review_spec",
    "review_tasks",
    "revise_proposal",
    "revise_spec",
    "revise_tasks",
    "implement",
    "review_impl",
    "code_review",
    "resolve",
]


def get_task(desk: Desk, change_id: ChangeId, task_type: TaskType) -> reading.Text:
    """The instructions for a kind of task, filled in for this change."""
    return reading.get_task(desk, task_type)
