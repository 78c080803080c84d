"""What the documents of one change say about each other, the spec library and the base of the change. Nothing is read
here but what the shelf looks up, and nothing is written."""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from agentd.families.change import ARCHIVE
from agentd.library import coverage, references, snapshot
from agentd.library.shelf import Shelf
from agentd.model.change import Proposal, Spec, Tasks
from agentd.model.finding import Finding
from agentd.model.rules import Rules
from agentd.model.verdict import verdict_of
from agentd.review import challenge_page
from agentd.state.reading import Page


def between(
    home: str,
    known: Mapping[str, Any],
    specs: Mapping[str, Spec | None],
    pages: list[Page],
    gone: Mapping[str, int],
    rules: Rules,
    shelf: Shelf,
) -> Iterator[Finding]:
    """What the documents of a change say about each other, as far as they were understood; `gone` has its removals."""
    plan: Proposal | None = known.get("proposal.md")
    work: Tasks | None = known.get("tasks.md")
    understood = {name: value for name, value in specs.items() if value and name not in gone}

    def requirements(name: str) -> Collection[str] | None:
        found = specs[name] if name in specs else shelf.spec(name)
        if found is None and name in gone and name not in specs:
            found = shelf.before(home, name)
        if found is None:
            return Anything() if name in specs else None
        return {entry.id for entry in found.requirements}

    def line_of(word: str) -> int:
        text = next(page.text for page in pages if page.name == "proposal.md")
        return line_in(text, word)

    if plan:
        yield from references.every_affected_spec_is_there(
            plan, specs, lambda n: shelf.spec(n) is not None, line_of, rules
        )
        if work or "tasks.md" not in known:
            yield from references.every_spec_is_named(plan, work, specs, rules)
    yield from references.every_removed_spec_can_go(gone, specs, lambda name: _in_library(home, name, shelf), rules)
    if work:
        yield from references.every_spec_ref_leads_to_a_requirement(work, requirements, specs, rules)
        yield from coverage.every_requirement_has_a_task(
            understood, work, rules, lambda name: shelf.changed(home, name, understood[name])
        )


class Anything(frozenset[str]):
    """The requirements of a spec that could not be understood: any of them may be there."""

    def __contains__(self, _: object) -> bool:
        return True


def removals(known: Mapping[str, Any], pages: Iterable[Page]) -> dict[str, int]:
    """The specs that a change removes, with the lines of its proposal that say so."""
    plan: Proposal | None = known.get("proposal.md")
    gone = [one.id for one in plan.impact.affected_specs if one.removed] if plan else []
    text = next(page.text for page in pages if page.name == "proposal.md") if gone else ""
    return {name: line_in(text, name) for name in gone}


def _in_library(home: str, name: str, shelf: Shelf) -> bool:
    """Whether there is a spec to remove, or was until the change in this folder was archived."""
    return home.startswith(ARCHIVE) or os.path.lexists(f"{shelf.root}/{snapshot.LIBRARY}/{name}.md")


def disagreement(known: Mapping[str, Any], pages: list[Page], rules: Rules) -> Iterator[Finding]:
    """A verdict in CHALLENGE.md that is not that of the latest review in the proposal."""
    plan: Proposal | None = known.get("proposal.md")
    told = known.get("CHALLENGE.md")
    if plan is None or not plan.reviews or told is None or told.verdict is None:
        return
    latest = plan.reviews[-1]
    decided = verdict_of(latest.status)
    if decided and decided != told.verdict:
        line = challenge_page.verdict_line(next(page.text for page in pages if page.name == "CHALLENGE.md"))
        what = (
            f"CHALLENGE.md line {line} says {told.verdict}, the latest review, proposal.md line {latest.line}, "
            f"says {decided}"
        )
        fix = "make the two agree: the review in proposal.md is what counts, and CHALLENGE.md is made from it"
        yield Finding("invalid_review", what, line, rules.severity("invalid_review"), fix, "CHALLENGE.md")


def line_in(text: str, word: str) -> int:
    """The line on which a proposal names an affected spec: in its body, if it does so there."""
    place = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
    start = max(text.lower().find("affected spec"), 0)
    found = place.search(text, start) or place.search(text)
    return text.count("\n", 0, found.start()) + 1 if found else 1
