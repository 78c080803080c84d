"""Specs as agents write them, list them and read what they require."""

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from agentd.families.change import spec_tools, write_tools
from agentd.mcp.tools.argument_types import ChangeId, Line, Part, Prose, SpecId, Text
from agentd.model.change import Priority, Requirement, Scenario, Spec
from agentd.runs.call_scope import Desk
from agentd.runs.tool_result import Written


class Required(Part):
    """One requirement."""

    id: Annotated[str, StringConstraints(pattern=r"^R\d+$", max_length=20)]
    title: Line
    description: Text
    priority: Priority = "medium"


class Seen(Part):
    """One scenario."""

    name: Line
    when: Text
    then: Text
    given: Text | None = None


def create_spec(
    desk: Desk,
    change_id: ChangeId,
    spec_id: SpecId,
    title: Line,
    overview: Prose,
    requirements: Annotated[list[Required], Field(min_length=1, max_length=500)],
    scenarios: Annotated[list[Seen], Field(min_length=1, max_length=2000)],
    flow_diagram: Annotated[Text | None, Field(description="Mermaid, fenced or not")] = None,
    data_model: Annotated[dict[str, Any] | None, Field(description="A JSON Schema")] = None,
) -> Written:
    """Write specs/<spec_id>.md: requirements R1, R2 … and the scenarios that show them. Replaces what is there."""
    spec = Spec(
        id=spec_id,
        title=title,
        overview=overview,
        requirements=tuple(Requirement(one.id, one.title, one.description, one.priority) for one in requirements),
        scenarios=tuple(Scenario(one.name, one.when, one.then, one.given or "") for one in scenarios),
        flow_diagram=flow_diagram or "",
        data_model=data_model,
    )
    return write_tools.write_spec(desk, spec)


def list_specs(desk: Desk, change_id: ChangeId, spec_id: SpecId | None = None) -> spec_tools.Specs:
    """The specs of the change with their requirements; with spec_id, only those that must come before it."""
    return spec_tools.list_specs(desk, spec_id)


def read_all_requirements(desk: Desk, change_id: ChangeId) -> spec_tools.Specs:
    """Every requirement and scenario of every spec of the change, in full."""
    return spec_tools.read_all_requirements(desk)
