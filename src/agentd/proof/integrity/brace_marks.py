"""Marks that languages with braces have in common: exits that hide failures, and early returns."""

import re
from collections.abc import Iterator

from agentd.patterns import regex
from agentd.proof.integrity.parsed import Mark, mark
from agentd.proof.integrity.rules import HIDDEN, SKIPPED
from agentd.proof.integrity.source import Source
from agentd.values import dataclass

_RETURN = regex(r"^\s*(return)\s*;?\s*$", re.M)


@dataclass(frozen=True)
class Group:
    """A class, module or `describe` that tests stand in, with its marks."""

    start: int
    end: int
    title: str
    marks: tuple[Mark, ...]


def around(groups: list[Group], at: int) -> list[Group]:
    """The groups that a position is in, the outermost first."""
    return [group for group in groups if group.start < at < group.end]


def mark_at(source: Source, at: int, rule: str, what: str, owner: str = "", sure: bool = True) -> Mark:
    """A mark that quotes the line of a position."""
    return mark(source.lines, source.line(at), rule, what, owner, sure)


def hidden(source: Source, hides: re.Pattern[str]) -> tuple[Mark, ...]:
    """Each place that hides the results of the tests."""
    return tuple(
        mark_at(source, match.start(), HIDDEN, f"{match[0].strip()} hides what the tests come to")
        for match in hides.finditer(source.bare)
    )


def early_return(source: Source, opened: int, closed: int, asserts: re.Pattern[str]) -> Iterator[Mark]:
    """A return before the first assertion of a body, with something after it."""
    back = _RETURN.search(source.bare, opened, closed)
    if (
        back
        and source.bare[back.end() : closed].strip(" \n\t};)")
        and not asserts.search(source.bare, opened, back.start())
    ):
        sure = source.depth(opened, back.start()) <= 1
        yield mark_at(source, back.start(1), SKIPPED, "returns before it asserts anything", "", sure)
