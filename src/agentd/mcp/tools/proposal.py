"""The proposal and the reviews in it, as agents write them."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from agentd.families.change import review_tools, write_tools
from agentd.mcp.tools.argument_types import ChangeId, Count, Line, Part, Prose, SpecId, Text
from agentd.model.change import AffectedSpec, Impact, Proposal, Scope
from agentd.runs.call_scope import Desk
from agentd.runs.tool_result import Written


class Affected(Part):
    """A spec the change touches, and the specs that must come before it."""

    id: SpecId
    depends: Annotated[tuple[SpecId, ...], Field(max_length=100)] = ()
    removed: Annotated[
        bool,
        Field(description="true if the change deletes this spec from agentd/specs/; create_spec is not called for it"),
    ] = False


class Reach(Part):
    """How far the change reaches."""

    scope: Scope
    affected_files: Annotated[int, Field(ge=1, le=1_000_000)]
    new_files: Count = 0
    affected_specs: Annotated[tuple[SpecId | Affected, ...], Field(max_length=500)] = ()
    affected_code: Annotated[tuple[Line, ...], Field(max_length=1000)] = ()
    breaking_changes: Text | None = None


def create_proposal(
    desk: Desk,
    change_id: ChangeId,
    summary: Prose,
    why: Prose,
    what_changes: Annotated[list[Text], Field(min_length=1, max_length=500)],
    impact: Reach,
) -> Written:
    """Write proposal.md. One that is there is replaced, but for the reviews in it: they stay as they are."""
    specs = (
        AffectedSpec(one) if isinstance(one, str) else AffectedSpec(one.id, one.depends, one.removed)
        for one in impact.affected_specs
    )
    reach = Impact(**impact.model_dump(exclude={"affected_specs"}), affected_specs=tuple(specs))
    return write_tools.write_proposal(desk, Proposal(change_id, summary, why, tuple(what_changes), reach))


def append_review(
    desk: Desk,
    change_id: ChangeId,
    status: Literal["approved", "needs_revision", "rejected"],
    iteration: Annotated[int, Field(ge=1, le=10_000)],
    reviewer: Line,
    content: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=50),
        Field(description="Markdown with the headings Summary, Issues, Verdict and Next Steps"),
    ],
) -> Written:
    """Add your review to proposal.md and write CHALLENGE.md from it. Called again in the same step, it replaces yours."""
    return review_tools.append_review(desk, status, iteration, reviewer, content)
