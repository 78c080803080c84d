"""Whether the change is valid, as agents ask for it."""

from typing import Annotated

from pydantic import Field

from agentd.app import reading
from agentd.app.desk import Desk
from agentd.mcp.tools.words import ChangeId


def validate_change(
    desk: Desk,
    change_id: ChangeId,
    strict: Annotated[bool, Field(description="Valid only without any finding")] = False,
) -> reading.Checked:
    """Check every document of the change, and what they say about each other. No agent is called."""
    return reading.validate_change(desk, strict)
