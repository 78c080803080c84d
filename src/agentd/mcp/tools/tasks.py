"""Tasks as agents write them."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from agentd.families.change import task_tools, write_tools
from agentd.mcp.tools.argument_types import ChangeId, Line, Name, Part, Text
from agentd.model.change import Layer, Task
from agentd.runs.call_scope import Desk
from agentd.runs.tool_result import Written

TaskId = Annotated[
    str, StringConstraints(pattern=r"^((data|logic|integration|testing)\.[1-9]\d*|[1-4]\.[1-9]\d*)$", max_length=30)
]
SpecRef = Annotated[
    str,
    StringConstraints(
        pattern=r"^([a-z0-9][a-z0-9-]*:R\d+|specs/[a-z0-9][a-z0-9-]*\.md#R\d+|none)$",
        max_length=150,
    ),
    Field(description="spec-id:R1; none only for a change that affects no spec"),
]


class Touched(Part):
    """The file a task is about."""

    path: Name
    action: Literal["CREATE", "MODIFY", "DELETE", "RENAME"]


class Planned(Part):
    """One task; its id is layer.number, such as data.1."""

    layer: Layer
    number: Annotated[int, Field(ge=1, le=10_000)]
    title: Line
    file: Touched
    spec_ref: SpecRef
    description: Text
    depends: Annotated[tuple[TaskId, ...], Field(max_length=500)] = ()


def create_tasks(
    desk: Desk, change_id: ChangeId, tasks: Annotated[list[Planned], Field(min_length=1, max_length=2000)]
) -> Written:
    """Write tasks.md: the work in layers, each task on one file and for one requirement. Replaces what is there."""
    planned = (Task(path=one.file.path, action=one.file.action, **one.model_dump(exclude={"file"})) for one in tasks)
    return write_tools.write_tasks(desk, tuple(planned))


def finish_task(desk: Desk, change_id: ChangeId, task_id: TaskId) -> Written:
    """Say that a task is done, right after doing it. Refused as long as its file is as it was."""
    return task_tools.finish_task(desk, task_id)
