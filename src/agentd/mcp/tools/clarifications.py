"""Clarifications as agents write them."""

from typing import Annotated

from pydantic import Field

from agentd.families.change import write_tools
from agentd.mcp.tools.words import ChangeId, Line, Part, Text
from agentd.model.change import Question
from agentd.runs.call_scope import Desk
from agentd.runs.tool_result import Written


class Clarified(Part):
    """One question and its answer."""

    topic: Line
    question: Text
    answer: Text
    rationale: Text


def create_clarifications(
    desk: Desk, change_id: ChangeId, questions: Annotated[list[Clarified], Field(min_length=1, max_length=200)]
) -> Written:
    """Write clarifications.md: what was asked before the proposal, and what was answered. Replaces what is there."""
    asked = tuple(Question(one.topic, one.question, one.answer, one.rationale) for one in questions)
    return write_tools.write_clarifications(desk, asked)
