"""The project's own specs as agents write them."""

from typing import Annotated

from pydantic import Field

from agentd.library import knowledge
from agentd.mcp.tools.words import Name, Text
from agentd.runs.call_scope import Desk
from agentd.runs.tool_result import Written


def write_main_spec(
    desk: Desk, path: Annotated[Name, Field(description="A path in agentd/specs/, such as auth-flow.md")], content: Text
) -> Written:
    """Write a spec of the project itself. Replaces what is there."""
    return knowledge.write_main_spec(desk, path, content)
