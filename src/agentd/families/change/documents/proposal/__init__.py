"""proposal.md as a value and as text. What stands in its sections counts; the front matter repeats it for machines.

The body is bound by a checksum; review blocks are no part of it and are only ever added.
"""

from agentd.families.change.documents.proposal.page import take_apart
from agentd.families.change.documents.proposal.proposal_edits import append_review as append_review
from agentd.families.change.documents.proposal.proposal_edits import replace_body as replace_body
from agentd.families.change.documents.proposal.proposal_edits import tidy as tidy
from agentd.families.change.documents.proposal.proposal_edits import with_reviews as with_reviews
from agentd.families.change.documents.proposal.proposal_reader import RULES, bound, look, verdict_of
from agentd.families.change.documents.proposal.proposal_reader import read as read
from agentd.families.change.documents.proposal.proposal_writer import render as render
from agentd.model.change import Review, ReviewStatus
from agentd.model.finding import Finding
from agentd.model.rules import Rules


def affected_specs(text: str) -> tuple[str, ...]:
    """The specs a change touches: what the line `Affected specs:` says, else the front matter."""
    return tuple(spec.id for spec in look(text).impact.specs)


def removed_specs(text: str) -> tuple[str, ...]:
    """Those of the affected specs that the change takes out of the library; most texts need no reading to say none."""
    if "removed" not in text.lower():
        return ()
    return tuple(spec.id for spec in look(text).impact.specs if spec.removed)


def body(text: str) -> str:
    """What an approval binds: everything but the reviews, the keys that change on the way, and white space."""
    return bound(look(text))


def reviews(text: str) -> tuple[Review, ...]:
    """The reviews, oldest first."""
    return take_apart(text, RULES).blocks.reviews


def verdict(text: str, rules: Rules = RULES) -> tuple[ReviewStatus | None, tuple[Finding, ...]]:
    """The status of the latest review; None, with the reason, if there is any doubt about it."""
    page = take_apart(text, rules)
    status, findings = verdict_of(page, rules)
    return status, page.blocks.findings + findings
