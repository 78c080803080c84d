"""The tools by which reviewers write: a review of a plan is a block in proposal.md, one of an implementation is REVIEW.md.

Each names the call that wrote it, so that a step that is repeated after a kill does not leave two.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agentd.errors import NotFound, Refused
from agentd.families.change.documents import proposal
from agentd.families.change.plan_places import Grounds
from agentd.model.change import Review, ReviewStatus
from agentd.model.verdict import Challenge, CodeReview, Issue, contradictions
from agentd.patterns import regex
from agentd.review import challenge_page, review_page
from agentd.review.code_grounding import unsaid
from agentd.review.plan_grounding import ungrounded
from agentd.runs.call_scope import Desk
from agentd.runs.project import Project
from agentd.runs.safe_paths import read_text
from agentd.runs.tool_result import Written, listed, rendering
from agentd.state import durable

_UNWRITABLE = regex(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def append_review(desk: Desk, status: ReviewStatus, iteration: int, reviewer: str, content: str) -> Written:
    """Add a review to the proposal and make CHALLENGE.md from it; a review that contradicts itself is not written."""
    path = desk.path("proposal.md")
    if not path.is_file():
        raise NotFound("There is no proposal.md, so there is nothing to review.", "read_file shows what is there")
    mine = Review(status, iteration, reviewer, content, call=desk.call)
    made = _challenge(desk.project, desk.folder, desk.change, mine)
    text, report = _rendered(desk.read(path), mine, made)
    desk.write(path, text)
    desk.write(desk.path("CHALLENGE.md"), report)
    shown = desk.shown(path)
    message = f"Added your review ({status}) to {shown} and wrote CHALLENGE.md."
    doubts = [f"- '{one.title}' is ungrounded: {one.ungrounded}." for one in made.issues if one.ungrounded]
    if doubts:
        message = "\n".join([message, *doubts, "Call again with places that exist, or without any."])
    return listed(message, shown, proposal.read(text, desk.project.config.rules())[1])


def keep_review(project: Project, folder: Path, change: str, mine: Review) -> None:
    """Put a review that a challenger gave without the tool where the tool would have put it.

    The caller holds the lock of the run. A review that contradicts itself is refused, and nothing is written.
    """
    path = folder / "proposal.md"
    mine = replace(mine, content=_UNWRITABLE.sub("\ufffd", mine.content))
    made = _challenge(project, folder, change, mine)
    text, report = _rendered(read_text(path, project.relative(path)), mine, made)
    durable.replace(path, text.encode(), "document")
    durable.replace(folder / "CHALLENGE.md", report.encode(), "document")


def finish_review(project: Project, folder: Path, change: str, mine: Review) -> str:
    """Write CHALLENGE.md for a review block that is already in the proposal; a kill may have come between the two."""
    with rendering():
        report = challenge_page.render(_challenge(project, folder, change, mine))
    durable.replace(folder / "CHALLENGE.md", report.encode(), "document")
    return report


def ground(project: Project, folder: Path, issues: Sequence[Issue]) -> tuple[Issue, ...]:
    """The issues, each with the reason if it names a place that neither the change, the library nor the project has."""
    if not issues:
        return ()
    grounds = Grounds(project.root, folder)
    specs = grounds.specs(issues)
    return tuple(replace(issue, ungrounded=ungrounded(issue, specs, grounds.lines)) for issue in issues)


def write_review(desk: Desk, found: CodeReview) -> Written:
    """Write REVIEW.md with the verdict on the implementation; a review that contradicts itself is not written."""
    path = desk.path("REVIEW.md")
    against = contradictions(found.verdict, found.issues, found.tests, found.security)
    _refuse(against, "send NEEDS_CHANGES or MAJOR_ISSUES, or correct what the verdict does not go with")
    with rendering():
        text = review_page.render(replace(found, call=desk.call))
    desk.write(path, text)
    shown = desk.shown(path)
    message = f"Wrote {shown} ({found.verdict})."
    doubts = [f"- '{one.title}' does not count: {why}." for one in found.issues if (why := unsaid(one))]
    if doubts:
        message = "\n".join([message, *doubts, "Call again with the file, the line and a quote of its code for each."])
    return listed(message, shown, review_page.read(text, desk.project.config.rules())[1])


def _challenge(project: Project, folder: Path, change: str, mine: Review) -> Challenge:
    """The challenge that a review block makes, its issues grounded."""
    made = challenge_page.from_review(change, mine)
    _refuse(contradictions(made.verdict, made.issues), "send needs_revision, or give each issue its severity")
    return replace(made, issues=ground(project, folder, made.issues))


def _rendered(text: str, mine: Review, made: Challenge) -> tuple[str, str]:
    """The proposal with the review in it, and CHALLENGE.md."""
    with rendering():
        return proposal.append_review(text, mine), challenge_page.render(made)


def _refuse(against: tuple[str, ...], fix: str) -> None:
    if against:
        raise Refused(f"Nothing was written: {'; '.join(against)}.", fix)
