"""The documents of a change and what was implemented, as agents read, edit and check them."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from agentd.families.change import read_tools, write_tools
from agentd.mcp.tools.argument_types import ChangeId, Name
from agentd.runs.call_scope import Desk
from agentd.runs.tool_result import Text as Read
from agentd.runs.tool_result import Written

Branch = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./@-]*$", max_length=200),
    Field(description="What to compare with"),
]
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


def read_file(
    desk: Desk,
    change_id: ChangeId,
    file: Annotated[
        Name, Field(description="A path in the change or from the project's root; proposal, tasks, or a spec's id")
    ],
) -> Read:
    """The text of any file of the change."""
    return read_tools.read_file(desk, file)


def edit_file(
    desk: Desk,
    change_id: ChangeId,
    file: Name,
    old_text: Annotated[str, Field(min_length=1, description="What to replace; it must be there exactly once")],
    new_text: str,
) -> Written:
    """Replace one piece of text in a document of the change. Reviews and state cannot be edited."""
    return write_tools.edit_file(desk, file, old_text, new_text)


def validate_change(
    desk: Desk,
    change_id: ChangeId,
    strict: Annotated[bool, Field(description="Valid only without any finding")] = False,
) -> read_tools.Checked:
    """Check every document of the change, and what they say about each other. No agent is called."""
    return read_tools.validate_change(desk, strict)


def get_task(desk: Desk, change_id: ChangeId, task_type: TaskType) -> Read:
    """The instructions for a kind of task, filled in for this change."""
    return read_tools.get_task(desk, task_type)


def read_implementation_summary(desk: Desk, change_id: ChangeId, base_branch: Branch = "main") -> read_tools.Summary:
    """The implementer's notes, the tasks with their status, and what changed since the base branch."""
    return read_tools.read_implementation_summary(desk, base_branch)


def list_changed_files(
    desk: Desk,
    change_id: ChangeId,
    base_branch: Branch = "main",
    filter: Annotated[str, Field(max_length=200, description="A pattern such as src/*.py, or a part of a path")] = "",  # noqa: A002
) -> read_tools.Changed:
    """Every file that differs from the base branch, committed or not."""
    return read_tools.list_changed_files(desk, base_branch, filter)
