"""Clarifications as agents write them."""

from typing import Annotated

from pydantic import Field

from agentd.app import writing
from agentd.app.desk import Desk
from agentd.mcp.tools.words import ChangeId, Line, Part, Text
from agentd.model.change import Question


class Clarified(Part):
    """One question and its answer."""

    topic: Line
    question: Text
    answer: Text
    rationale: Text


def create_clarifications(
    desk: Desk, change_id: ChangeId, questions: Annotated[list[Clarified], Field(min_length=1, max_length=200)]
) -> writing.Written:
    """Write clarifications.md: what was asked before the proposal, and what was answered. Replaces what is there."""
    asked = tuple(Question(one.topic, one.question, one.answer, one.rationale) for one in questions)
    return writing.write_clarifications(desk, asked)
