"""The tools of one call: which of them it may use now, and what each use comes to. Every refusal is an answer.

The rules are here for every way the tools are served; it knows nothing of the protocol.
"""

import logging
import os
from typing import Any

from pydantic import ValidationError

from agentd.errors import AgentdError
from agentd.mcp.argument_checks import check_arguments, problems
from agentd.mcp.tool import make_tool
from agentd.mcp.tools import MODULES
from agentd.redaction import redact, secret_values
from agentd.runs.call_scope import Desk
from agentd.values import dataclass

INSTRUCTIONS = (
    "The documents of one agentd change. Write them with these tools, never by hand: they check what you send. "
    "A refused call says what to send instead; correct it and call again."
)
NOBODY = "No agentd run is under way here."


@dataclass(frozen=True)
class Answer:
    """What a tool says: words for the agent, and the same as data unless it refused."""

    text: str
    data: dict[str, Any] | None = None

    @property
    def refused(self) -> bool:
        return self.data is None

    def result(self) -> dict[str, Any]:
        """The result of a call as the protocol has it."""
        content = [{"type": "text", "text": self.text}]
        if self.data is None:
            return {"content": content, "isError": True}
        return {"content": content, "structuredContent": self.data, "isError": False}


class Toolbox:
    """The tools at one desk; at none, there are no tools. What a call may do is read from the run's state each time."""

    def __init__(self, desk: Desk | None) -> None:
        self.desk = desk

    @property
    def instructions(self) -> str:
        return INSTRUCTIONS if self.desk else NOBODY

    def listed(self) -> list[dict[str, Any]]:
        """The tools that may be used now."""
        if self.desk is None:
            return []
        self.desk.note_client()
        return [make_tool(name).listed() for name in self.desk.tools() if name in MODULES]

    def call(self, name: str, sent: dict[str, Any]) -> Answer:
        """What the tool says, or what to send instead."""
        if self.desk is None:
            return Answer(NOBODY)
        self.desk.note_client()
        try:
            return self._call(self.desk, name, sent)
        except AgentdError as error:
            return Answer(error.message + (f" Instead: {error.fix}." if error.fix else ""))
        except Exception as error:  # a defect, which the transcript keeps for the person; the server goes on
            logging.getLogger(__name__).exception("The tool %s failed", name)
            why = redact(f"{type(error).__name__}: {error}", secret_values(os.environ))
            return Answer(f"Error executing tool {name}: {why}")

    def _call(self, desk: Desk, name: str, sent: dict[str, Any]) -> Answer:
        check_arguments(desk, sent)
        desk.admit(name, sent.get("change_id"))
        if name not in MODULES:
            return Answer(f"Unknown tool: {name}")
        tool = make_tool(name)
        try:
            arguments = tool.accept(sent)
        except ValidationError as error:
            return Answer("\n".join(problems(error)))
        arguments.pop("project_path")
        with desk.at_work(name, arguments.get("change_id")):
            data = tool.data(tool.function(desk, **arguments))
        return Answer(data["message"], data)
