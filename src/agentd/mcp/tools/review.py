"""The review of an implementation as agents write it."""

from typing import Annotated, Literal

from pydantic import Field

from agentd.app import reviewing
from agentd.app.desk import Desk
from agentd.app.writing import Written
from agentd.mcp.tools.words import ChangeId, Count, Line, Name, Part, Text


class Found(Part):
    """One problem with the implementation."""

    severity: Literal["HIGH", "MEDIUM", "LOW"]
    title: Line
    description: Text
    file_path: Name | None = None
    line_number: Annotated[int | None, Field(ge=1, le=10_000_000)] = None
    recommendation: Text | None = None


class Tested(Part):
    """What the tests gave."""

    status: Literal["PASS", "FAIL", "PARTIAL", "UNKNOWN"]
    total: Count = 0
    passed: Count = 0
    failed: Count = 0
    skipped: Count = 0


def create_review(
    desk: Desk,
    change_id: ChangeId,
    iteration: Annotated[int, Field(ge=0, le=10_000)],
    verdict: Literal["APPROVED", "NEEDS_CHANGES", "MAJOR_ISSUES"],
    issues: Annotated[list[Found], Field(max_length=1000)],
    test_results: Tested | None = None,
    security_status: Literal["CLEAN", "WARNINGS", "VULNERABILITIES", "NOT_RUN"] | None = None,
    next_steps: Text | None = None,
) -> Written:
    """Write REVIEW.md: your verdict on the implementation, with every issue. Replaces what is there."""
    raise NotImplementedError
