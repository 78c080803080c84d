"""proposal.md, parsed and rendered. Its sections count; the front matter repeats them for machines.

A checksum covers the body, but not the review blocks, which are only ever added.
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
    """The specs that a change touches, by the line `Affected specs:`, else by the front matter."""
    return tuple(spec.id for spec in look(text).impact.specs)


def removed_specs(text: str) -> tuple[str, ...]:
    """The affected specs that the change removes from the library. A text without the word is not parsed."""
    if "removed" not in text.lower():
        return ()
    return tuple(spec.id for spec in look(text).impact.specs if spec.removed)


def body(text: str) -> str:
    """The text that an approval is bound to: all but reviews, white space and keys that change along the way."""
    return bound(look(text))


def reviews(text: str) -> tuple[Review, ...]:
    """The reviews, oldest first."""
    return take_apart(text, RULES).blocks.reviews


def verdict(text: str, rules: Rules = RULES) -> tuple[ReviewStatus | None, tuple[Finding, ...]]:
    """The status of the latest review; None, with a finding, if it is in doubt."""
    page = take_apart(text, rules)
    status, findings = verdict_of(page, rules)
    return status, page.blocks.findings + findings
