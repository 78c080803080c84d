"""Files of the change as agents read and edit them."""

from typing import Annotated

from pydantic import Field

from agentd.app import reading, writing
from agentd.app.desk import Desk
from agentd.mcp.tools.words import ChangeId, Name


def read_file(
    desk: Desk,
    change_id: ChangeId,
    file: Annotated[
        Name, Field(description="A path in the change or from the project's root; proposal, tasks, or a spec's id")
    ],
) -> reading.Text:
    """The text of any file of the change."""
    return reading.read_file(desk, file)


def edit_file(
    desk: Desk,
    change_id: ChangeId,
    file: Name,
    old_text: Annotated[str, Field(min_length=1, description="What to replace; it must be there exactly once")],
    new_text: str,
) -> writing.Written:
    """Replace one piece of text in a document of the change. Reviews and state cannot be edited."""
    return writing.edit_file(desk, file, old_text, new_text)
