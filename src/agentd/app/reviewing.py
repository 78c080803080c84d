"""Reviews as reviewers write them: of a plan as a block in proposal.md, of an implementation as REVIEW.md.

Each carries the call that wrote it, so that a step that was cut off and begun again does not leave two.
"""

from dataclasses import replace

from agentd.app.desk import Desk
from agentd.app.writing import Written, listed, rendering
from agentd.documents import challenge, proposal, review
from agentd.errors import NotFound, Refused
from agentd.model.change import Review, ReviewStatus
from agentd.model.verdict import CodeReview


def append_review(desk: Desk, status: ReviewStatus, iteration: int, reviewer: str, content: str) -> Written:
    """A review added to the proposal, and CHALLENGE.md made from it."""
    path = desk.path("proposal.md")
    if not path.is_file():
        raise NotFound("There is no proposal.md, so there is nothing to review.", "read_file shows what is there")
    mine = Review(status, iteration, reviewer, content, call=desk.call)
    with rendering():
        text = proposal.append_review(desk.read(path), mine)
        report = challenge.render(challenge.from_review(desk.store.peek().run.name, mine))
    desk.write(path, text)
    desk.write(desk.path("CHALLENGE.md"), report)
    shown = desk.shown(path)
    message = f"Added your review ({status}) to {shown} and wrote CHALLENGE.md."
    return listed(message, shown, proposal.read(text, desk.project.config.rules())[1])


def write_review(desk: Desk, found: CodeReview) -> Written:
    """REVIEW.md with the verdict on the implementation; one that contradicts itself is not written."""
    path = desk.path("REVIEW.md")
    if found.verdict == "APPROVED" and any(issue.severity == "High" for issue in found.issues):
        raise Refused("verdict: APPROVED goes with no HIGH issue.", "send NEEDS_CHANGES, or another severity")
    tests = found.tests
    if found.verdict == "APPROVED" and tests and (tests.status == "FAIL" or tests.failed):
        raise Refused("verdict: APPROVED goes with no failing test.", "send NEEDS_CHANGES or MAJOR_ISSUES")
    with rendering():
        text = review.render(replace(found, call=desk.call))
    desk.write(path, text)
    shown = desk.shown(path)
    return listed(f"Wrote {shown} ({found.verdict}).", shown, review.read(text, desk.project.config.rules())[1])
