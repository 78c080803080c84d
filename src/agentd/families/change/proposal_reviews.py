"""The review blocks of a proposal. Each call may add one, and none may change another."""

from collections.abc import Sequence

from agentd.families.change.documents import proposal
from agentd.families.change.documents.proposal.review_blocks import visit
from agentd.model.change import Review
from agentd.runs.work import Work
from agentd.state import durable


def reviews(work: Work) -> tuple[Review, ...]:
    """The review blocks of the proposal, oldest first."""
    return proposal.reviews(work.read("proposal.md"))


def put_reviews_back(work: Work, before: Sequence[Review], call: str = "") -> None:
    """Restore the reviews that the proposal had before a call, and keep the review of the call itself, if it is named."""
    text = work.read("proposal.md")
    now = proposal.reviews(text)
    mine = [review for review in now if call and review.call == call][-1:]
    # The review of a repeated attempt replaces that of the attempt before.
    due = [review for review in before if not mine or visit(review.call) != visit(mine[0].call)] + mine
    if not text or list(now) == due:
        return
    try:
        whole = proposal.with_reviews(text, due)
    except ValueError:
        return  # a review contradicts itself, which validation reports
    durable.replace(work.home / "proposal.md", whole.encode(errors="surrogateescape"), "document")
    work.say("⚠ the reviews in proposal.md were changed by the agent and have been restored")
