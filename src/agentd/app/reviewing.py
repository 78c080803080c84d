"""Reviews as reviewers write them: of a plan as a block in proposal.md, of an implementation as REVIEW.md.

Each carries the call that wrote it, so that a step that was cut off and begun again does not leave two.
"""

from dataclasses import replace

from agentd.app.desk import Desk
from agentd.app.writing import Written, listed, rendering
from agentd.documents import challenge, proposal, review
from agentd.errors import NotFound, Refused
from agentd.model.change import Review, ReviewStatus
from agentd.model.verdict import CodeReview, contradictions


def append_review(desk: Desk, status: ReviewStatus, iteration: int, reviewer: str, content: str) -> Written:
    """A review added to the proposal, and CHALLENGE.md made from it; one that contradicts itself is not written."""
    path = desk.path("proposal.md")
    if not path.is_file():
        raise NotFound("There is no proposal.md, so there is nothing to review.", "read_file shows what is there")
    mine = Review(status, iteration, reviewer, content, call=desk.call)
    made = challenge.from_review(desk.store.peek().run.name, mine)
    _refuse(contradictions(made.verdict, made.issues), "send needs_revision, or give each issue its severity")
    with rendering():
        text = proposal.append_review(desk.read(path), mine)
        report = challenge.render(made)
    desk.write(path, text)
    desk.write(desk.path("CHALLENGE.md"), report)
    shown = desk.shown(path)
    message = f"Added your review ({status}) to {shown} and wrote CHALLENGE.md."
    return listed(message, shown, proposal.read(text, desk.project.config.rules())[1])


def write_review(desk: Desk, found: CodeReview) -> Written:
    """REVIEW.md with the verdict on the implementation; one that contradicts itself is not written."""
    path = desk.path("REVIEW.md")
    against = contradictions(found.verdict, found.issues, found.tests, found.security)
    _refuse(against, "send NEEDS_CHANGES or MAJOR_ISSUES, or correct what the verdict does not go with")
    with rendering():
        text = review.render(replace(found, call=desk.call))
    desk.write(path, text)
    shown = desk.shown(path)
    return listed(f"Wrote {shown} ({found.verdict}).", shown, review.read(text, desk.project.config.rules())[1])


def _refuse(against: tuple[str, ...], fix: str) -> None:
    if against:
        raise Refused(f"Nothing was written: {'; '.join(against)}.", fix)
