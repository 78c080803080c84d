"""Reviews as reviewers write them: of a plan as a block in proposal.md, of an implementation as REVIEW.md.

Each carries the call that wrote it, so that a step that was cut off and begun again does not leave two.
"""

from agentd.app.desk import Desk
from agentd.app.writing import Written, listed, rendering
from agentd.documents import challenge, proposal
from agentd.errors import NotFound
from agentd.model.change import Review, ReviewStatus


def append_review(desk: Desk, status: ReviewStatus, iteration: int, reviewer: str, content: str) -> Written:
    """A review added to the proposal, and CHALLENGE.md made from it."""
    path = desk.path("proposal.md")
    if not path.is_file():
        raise NotFound("There is no proposal.md, so there is nothing to review.", "read_file shows what is there")
    review = Review(status, iteration, reviewer, content, call=desk.call)
    with rendering():
        text = proposal.append_review(desk.read(path), review)
        report = challenge.render(desk.store.peek().run.name, review)
    desk.write(path, text)
    desk.write(desk.path("CHALLENGE.md"), report)
    shown = desk.shown(path)
    message = f"Added your review ({status}) to {shown} and wrote CHALLENGE.md."
    return listed(message, shown, proposal.read(text, desk.project.config.rules())[1])
