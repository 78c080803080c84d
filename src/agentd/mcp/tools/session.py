"""The documents of a session, as its roles read and write them."""

from typing import Annotated

from pydantic import Field

from agentd.families.team import document_tools
from agentd.mcp.tools.argument_types import Name, Text
from agentd.runs.call_scope import Desk
from agentd.runs.tool_result import Text as Read
from agentd.runs.tool_result import Written


def read_document(
    desk: Desk, file: Annotated[Name, Field(description="A document of the session, such as spec.md")]
) -> Read:
    """The text of a document of the session."""
    return document_tools.read_document(desk, file)


def write_document(
    desk: Desk,
    file: Annotated[Name, Field(description="One of the documents of your role, such as spec.md or adr/ADR-001.md")],
    content: Annotated[Text, Field(description="The whole document")],
) -> Written:
    """Write one of your documents. What is not valid is refused with the reason."""
    return document_tools.write_document(desk, file, content)
