"""What the documents of one change say about each other, the spec library and the base of the change. Nothing is written."""

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, cast

from agentd.families.change import ARCHIVE
from agentd.library import coverage, references, snapshot
from agentd.library.shelf import Shelf
from agentd.model.change import Proposal, Spec, Tasks
from agentd.model.finding import Finding
from agentd.model.rules import Rules
from agentd.model.verdict import verdict_of
from agentd.review import challenge_page
from agentd.state.reading import Page
from agentd.values import dataclass


@dataclass(frozen=True)
class Documents:
    """The documents of the change in `home`; `known` has the value of each by its name, None if it cannot be read."""

    home: str
    pages: Sequence[Page]
    known: Mapping[str, Any]

    @property
    def proposal(self) -> Proposal | None:
        return cast(Proposal | None, self.known.get("proposal.md"))

    @property
    def tasks(self) -> Tasks | None:
        return cast(Tasks | None, self.known.get("tasks.md"))

    @cached_property
    def specs(self) -> dict[str, Spec | None]:
        below = "specs/"
        return {n.removeprefix(below).removesuffix(".md"): v for n, v in self.known.items() if n.startswith(below)}

    @cached_property
    def removed(self) -> dict[str, int]:
        """The specs that the change removes, each with the line of the proposal that says so."""
        listed = self.proposal.impact.affected_specs if self.proposal else ()
        return {one.id: self.line_of(one.id) for one in listed if one.removed}

    def text(self, name: str) -> str:
        return next(page.text for page in self.pages if page.name == name)

    def line_of(self, word: str) -> int:
        """The line on which the proposal names an affected spec: in its body, if it does so there."""
        text = self.text("proposal.md")
        place = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
        found = place.search(text, max(text.lower().find("affected spec"), 0)) or place.search(text)
        return text.count("\n", 0, found.start()) + 1 if found else 1


class Anything(frozenset[str]):
    """The requirements of a spec that could not be understood: any of them may be there."""

    def __contains__(self, _: object) -> bool:
        return True


def check(documents: Documents, rules: Rules, shelf: Shelf) -> Iterator[Finding]:
    """What is wrong between the documents, as far as they were understood."""
    home, specs, gone = documents.home, documents.specs, documents.removed
    plan, work = documents.proposal, documents.tasks
    understood = {name: value for name, value in specs.items() if value and name not in gone}

    def requirements(name: str) -> Collection[str] | None:
        found = specs[name] if name in specs else shelf.spec(name)
        if found is None and name in gone and name not in specs:
            found = shelf.before(home, name)
        if found is None:
            return Anything() if name in specs else None
        return {entry.id for entry in found.requirements}

    if plan:
        yield from references.every_affected_spec_is_there(
            plan, specs, lambda name: shelf.spec(name) is not None, documents.line_of, rules
        )
        if work or "tasks.md" not in documents.known:
            yield from references.every_spec_is_named(plan, work, specs, rules)
    yield from references.every_removed_spec_can_go(gone, specs, lambda name: _in_library(home, name, shelf), rules)
    if work:
        yield from references.every_spec_ref_leads_to_a_requirement(work, requirements, specs, rules)
        yield from coverage.every_requirement_has_a_task(
            understood, work, rules, lambda name: shelf.changed(home, name, understood[name])
        )
    yield from _other_verdict(documents, rules)


def _in_library(home: str, name: str, shelf: Shelf) -> bool:
    """Whether there is a spec to remove, or was until the change was archived."""
    return home.startswith(ARCHIVE) or os.path.lexists(f"{shelf.root}/{snapshot.LIBRARY}/{name}.md")


def _other_verdict(documents: Documents, rules: Rules) -> Iterator[Finding]:
    """A verdict in CHALLENGE.md that is not that of the latest review in the proposal."""
    plan, told = documents.proposal, documents.known.get("CHALLENGE.md")
    if plan is None or not plan.reviews or told is None or told.verdict is None:
        return
    latest = plan.reviews[-1]
    decided = verdict_of(latest.status)
    if decided and decided != told.verdict:
        line = challenge_page.verdict_line(documents.text("CHALLENGE.md"))
        what = (
            f"CHALLENGE.md line {line} says {told.verdict}, the latest review, proposal.md line {latest.line}, "
            f"says {decided}"
        )
        fix = "make the two agree: the review in proposal.md is what counts, and CHALLENGE.md is made from it"
        yield Finding("invalid_review", what, line, rules.severity("invalid_review"), fix, "CHALLENGE.md")
