"""Files of the change as agents read and edit them."""

from typing import Annotated

from pydantic import Field

from agentd.families.change import read_tools, write_tools
from agentd.mcp.tools.words import ChangeId, Name
from agentd.runs.call_scope import Desk
from agentd.runs.tool_result import Text as Read
from agentd.runs.tool_result import Written


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
