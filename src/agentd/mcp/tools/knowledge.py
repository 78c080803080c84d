"""The project's knowledge and its own specs, as agents read and write them."""

from typing import Annotated

from pydantic import Field

from agentd.library import knowledge
from agentd.mcp.tools.argument_types import Line, Name, Text
from agentd.runs.call_scope import Desk
from agentd.runs.tool_result import Text as Read
from agentd.runs.tool_result import Written

Where = Annotated[Name, Field(description="A path in agentd/knowledge/, such as 01-storage/sqlite.md")]


def read_knowledge(desk: Desk, path: Where) -> Read:
    """One page of what the project knows."""
    return knowledge.read_knowledge(desk, path)


def list_knowledge(desk: Desk, path: Annotated[str, Field(max_length=1000)] = "") -> knowledge.Pages:
    """The pages of what the project knows, all of them or those in a folder."""
    return knowledge.list_knowledge(desk, path)


def write_knowledge(desk: Desk, path: Where, title: Line, source: Line, content: Text) -> Written:
    """Write a page of what the project should remember, with where it comes from. Replaces what is there."""
    return knowledge.write_knowledge(desk, path, title, source, content)


def write_main_spec(
    desk: Desk, path: Annotated[Name, Field(description="A path in agentd/specs/, such as auth-flow.md")], content: Text
) -> Written:
    """Write a spec of the project itself. Replaces what is there."""
    return knowledge.write_main_spec(desk, path, content)
