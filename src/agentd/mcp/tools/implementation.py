"""What was implemented, as agents ask for it."""

from typing import Annotated

from pydantic import Field, StringConstraints

from agentd.families.change import read_tools
from agentd.mcp.tools.words import ChangeId
from agentd.runs.call_scope import Desk

Branch = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./@-]*$", max_length=200),
    Field(description="What to compare with"),
]


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
