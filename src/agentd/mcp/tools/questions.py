"""Questions for the person before a proposal: as agents draft them, and as they were answered."""

from typing import Annotated

from pydantic import Field, StringConstraints

from agentd.families.change import write_tools
from agentd.mcp.tools.argument_types import ChangeId, Line, Part, Text
from agentd.model.change import Draft, Question
from agentd.runs.call_scope import Desk
from agentd.runs.tool_result import Written


class Drafted(Part):
    """One question."""

    topic: Annotated[Line, StringConstraints(max_length=60), Field(description="A header, at best of 12 characters")]
    question: Text
    options: Annotated[
        list[Annotated[Line, StringConstraints(max_length=200)]],
        Field(min_length=2, max_length=4, description="Short answers to choose from, the recommended one first"),
    ]
    rationale: Text | None = None


def draft_questions(
    desk: Desk, change_id: ChangeId, questions: Annotated[list[Drafted], Field(min_length=3, max_length=5)]
) -> Written:
    """Write questions.yaml: what to ask the person before the proposal is written. Replaces what is there."""
    drafts = (Draft(one.topic, one.question, tuple(one.options), one.rationale or "") for one in questions)
    return write_tools.write_questions(desk, tuple(drafts))


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
