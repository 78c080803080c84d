"""The review of an implementation as agents write it."""

from typing import Annotated, Literal

from pydantic import Field

from agentd.families.change import review_tools
from agentd.mcp.tools.argument_types import ChangeId, Count, Line, Part, Text
from agentd.model.severity import Severity
from agentd.model.verdict import CodeReview, CodeVerdict, Issue, SecurityStatus, TestResults, TestStatus
from agentd.runs.call_scope import Desk
from agentd.runs.tool_result import Written

SEVERITY: dict[str, Severity] = {"HIGH": "High", "MEDIUM": "Medium", "LOW": "Low"}


class Found(Part):
    """One problem with the implementation, at a place in its code."""

    severity: Literal["HIGH", "MEDIUM", "LOW"]
    title: Line
    description: Text
    file_path: Line | None = None
    line_number: Annotated[int | None, Field(ge=1, le=10_000_000)] = None
    quote: Annotated[
        Text | None,
        Field(
            description="The line or lines of code that this is about, copied from the file as they stand there. An issue "
            "whose file, line and quote are not found in or around what was changed does not count."
        ),
    ] = None
    recommendation: Text | None = None


class Tested(Part):
    """What the tests gave."""

    status: TestStatus
    total: Count = 0
    passed: Count = 0
    failed: Count = 0
    skipped: Count = 0


def create_review(
    desk: Desk,
    change_id: ChangeId,
    iteration: Annotated[int, Field(ge=0, le=10_000)],
    verdict: CodeVerdict,
    issues: Annotated[list[Found], Field(max_length=1000)],
    test_results: Tested | None = None,
    security_status: SecurityStatus | None = None,
    next_steps: Text | None = None,
) -> Written:
    """Write REVIEW.md: your verdict on the implementation, with every issue. Replaces what is there."""
    found = tuple(
        Issue(
            severity=SEVERITY[one.severity],
            title=one.title,
            description=one.description,
            suggestion=one.recommendation or "",
            file_path=one.file_path or "",
            line_number=one.line_number,
            quote=one.quote or "",
        )
        for one in issues
    )
    tests = TestResults(**test_results.model_dump()) if test_results else None
    review = CodeReview(
        change_id=change_id,
        verdict=verdict,
        issues=found,
        tests=tests,
        security=security_status,
        next_steps=next_steps or "",
        iteration=iteration,
    )
    return review_tools.write_review(desk, review)
