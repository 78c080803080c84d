"""Placeholders that a person has to replace; each is a finding until then."""

from collections.abc import Iterator, Sequence

from agentd.library.spec import scenario_steps
from agentd.library.spec.headings import Part
from agentd.model.finding import Finding
from agentd.model.rules import Rules
from agentd.patterns import regex
from agentd.text.outline import Outline

EMPTY_SECTION = "Nothing is said here yet."
EMPTY_STEP = "(to be completed)"
EMPTY_SCENARIO = "To be completed"
ALL = (EMPTY_SECTION, EMPTY_STEP, EMPTY_SCENARIO)
_NAME = regex(rf"{EMPTY_SCENARIO}(?: [0-9]+)?")


def check(sheet: Outline, found: Sequence[Part], rules: Rules) -> Iterator[Finding]:
    """A finding for each placeholder."""
    for number in empty_sections(sheet, sheet.first, sheet.first + len(sheet.lines) - 1):
        yield _finding("this section says nothing yet", number)
    label = scenario_steps.labels(rules.when_pattern, rules.then_pattern)
    for part in found:
        if part.kind != "scenario":
            continue
        if _NAME.fullmatch(part.key):
            yield _finding("this scenario has no name yet", part.line)
        for number, line in sheet.plain_lines(part.line + 1, part.end):
            begins = label(line)
            if (begins[1] if begins else line).strip() == EMPTY_STEP:
                yield _finding("this step says nothing yet", number)


def empty_sections(sheet: Outline, start: int, end: int) -> list[int]:
    """The lines between two that are the placeholder of a section."""
    return [number for number, line in sheet.plain_lines(start, end) if line.strip() == EMPTY_SECTION]


def _finding(what: str, line: int) -> Finding:
    return Finding("placeholder", what, line, fix="write what is meant")
