"""A proposal rendered as text that reads back as the same proposal."""

from typing import Any

from agentd.families.change.documents.proposal import impact, review_blocks
from agentd.families.change.documents.proposal.impact import OWN
from agentd.families.change.documents.proposal.name_lists import ID
from agentd.families.change.documents.proposal.page import SECTIONS
from agentd.families.change.documents.proposal.proposal_reader import STATUSES, bound, look
from agentd.model.change import AffectedSpec, Impact, Proposal
from agentd.text import bullets, frontmatter, quoting

_SHORT = 200


def render(proposal: Proposal) -> str:
    """A whole proposal.md with its reviews; ValueError, with words for an agent, if it cannot be written."""
    refuse(proposal)
    parts = "\n\n".join(f"## {SECTIONS[name]}\n\n{text}" for name, text in sections(proposal).items())
    body = f"<proposal>\n\n# Change: {proposal.id}\n\n{parts}\n\n</proposal>"
    data = head(proposal)
    data["checksum"] = frontmatter.checksum(bound(look(frontmatter.write(data, body))))
    return frontmatter.write(data, "\n\n".join([body, *map(review_blocks.write, proposal.reviews)]))


def refuse(proposal: Proposal) -> None:
    """ValueError if a proposal cannot be written."""
    problems = [
        (not ID.fullmatch(proposal.id), f"id '{proposal.id}' is not made of lower-case letters, digits and hyphens"),
        (not proposal.summary.strip(), "summary is empty"),
        (not proposal.why.strip(), "why is empty"),
        (not proposal.what_changes, "what_changes is empty"),
        (not all(change.strip() for change in proposal.what_changes), "one of what_changes is empty"),
        (proposal.status not in STATUSES, f"status '{proposal.status}' is not one of {', '.join(STATUSES)}"),
        (proposal.iteration < 1, f"iteration {proposal.iteration} is less than 1"),
    ]
    what = next((what for wrong, what in problems if wrong), "") or impact.problem(proposal.impact)
    if what:
        raise ValueError(f"{what[0].upper()}{what[1:]}.")


def sections(proposal: Proposal) -> dict[str, str]:
    """The text below each heading."""
    return {
        "summary": quoting.escape(proposal.summary, OWN),
        "why": quoting.escape(proposal.why, OWN),
        "what changes": "\n".join(bullets.write("-", change, OWN) for change in proposal.what_changes),
        "impact": impact.write(proposal.impact),
    }


def head(proposal: Proposal) -> dict[str, Any]:
    """The front matter without the checksum."""
    times = {key: getattr(proposal, key) for key in ("created_at", "updated_at", "author") if getattr(proposal, key)}
    return {
        "id": proposal.id,
        "type": "proposal",
        "version": proposal.version,
        **times,
        "status": proposal.status,
        "iteration": proposal.iteration,
        "summary": head_summary(proposal.summary),
        "impact": head_impact(proposal.impact),
        "affected_specs": [head_spec(spec) for spec in proposal.impact.affected_specs],
    }


def head_summary(summary: str) -> str:
    """The summary on one line, for lists of changes."""
    line = " ".join(summary.split())
    return line if len(line) <= _SHORT else line[: _SHORT - 1].rstrip() + "…"


def head_impact(value: Impact) -> dict[str, Any]:
    return {"scope": value.scope, "affected_files": value.affected_files, "new_files": value.new_files}


def head_spec(spec: AffectedSpec) -> dict[str, Any]:
    """The entry of a spec; the path of a removed one is that in the library."""
    path = f"agentd/specs/{spec.id}.md" if spec.removed else f"specs/{spec.id}.md"
    return {"id": spec.id, "path": path, "depends": list(spec.depends), **({"removed": True} if spec.removed else {})}
