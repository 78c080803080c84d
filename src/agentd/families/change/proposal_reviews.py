"""The review blocks of a proposal: only ever added, each by the call that wrote it."""

from collections.abc import Sequence

from agentd.families.change.documents import proposal
from agentd.model.change import Review
from agentd.runs.work import Work
from agentd.state import durable


def reviews(work: Work) -> tuple[Review, ...]:
    """The review blocks of the proposal, oldest first."""
    return proposal.reviews(work.read("proposal.md"))


def put_reviews_back(work: Work, before: Sequence[Review], call: str = "") -> None:
    """The proposal with the reviews it had before a call, and with the one of the call if that is named."""
    text = work.read("proposal.md")
    now = proposal.reviews(text)
    mine = [review for review in now if call and review.call == call][-1:]
    # A repeated attempt takes the place of the one before it.
    due = [review for review in before if not mine or _visit(review) != _visit(mine[0])] + mine
    if not text or list(now) == due:
        return
    try:
        whole = proposal.with_reviews(text, due)
    except ValueError:
        return  # a review that contradicts itself is for validation to tell
    durable.replace(work.home / "proposal.md", whole.encode(errors="surrogateescape"), "document")
    work.say("⚠ the reviews in proposal.md were changed by the agent and have been put back")


def _visit(review: Review) -> str:
    return review.call.rpartition(".")[0]
