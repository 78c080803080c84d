"""Whether the change is valid, as agents ask for it."""

from typing import Annotated

from pydantic import Field

from agentd.families.change import read_tools
from agentd.mcp.tools.words import ChangeId
from agentd.runs.call_scope import Desk


def validate_change(
    desk: Desk,
    change_id: ChangeId,
    strict: Annotated[bool, Field(description="Valid only without any finding")] = False,
) -> read_tools.Checked:
    """Check every document of the change, and what they say about each other. No agent is called."""
    return read_tools.validate_change(desk, strict)
