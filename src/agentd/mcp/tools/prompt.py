"""The words of a task, as agents ask for them."""

from typing import Literal

from agentd.families.change import read_tools
from agentd.mcp.tools.words import ChangeId
from agentd.runs.call_scope import Desk
from agentd.runs.tool_result import Text as Read

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


def get_task(desk: Desk, change_id: ChangeId, task_type: TaskType) -> Read:
    """The instructions for a kind of task, filled in for this change."""
    return read_tools.get_task(desk, task_type)
