"""The project's own specs as agents write them."""

from typing import Annotated

from pydantic import Field

from agentd.app import library
from agentd.app.desk import Desk
from agentd.app.writing import Written
from agentd.mcp.tools.words import Name, Text


def write_main_spec(
    desk: Desk, path: Annotated[Name, Field(description="A path in agentd/specs/, such as auth-flow.md")], content: Text
) -> Written:
    """Write a spec of the project itself. Replaces what is there."""
    return library.write_main_spec(desk, path, content)
