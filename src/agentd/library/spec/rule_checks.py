"""Checks of a spec as a whole: front matter, sections, ids of requirements, number of scenarios, placeholders."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from agentd.library.spec import placeholders
from agentd.library.spec.headings import Part
from agentd.model.change import Spec
from agentd.model.finding import Finding
from agentd.model.rules import Rules
from agentd.patterns import regex
from agentd.text.frontmatter import Front, key_line
from agentd.text.outline import Outline

_ID = regex(r"[a-z0-9-]+")
_FILL = "agentd validate --fix"
_ONCE = ("overview", "flow diagram", "data model")


def check(
    text: str, front: Front, sheet: Outline, found: list[Part], spec: Spec | None, rules: Rules
) -> Iterator[Finding]:
    """Every finding that is not about the content of a single requirement or scenario."""
    if sheet.unclosed:
        what = "the code fence or comment that begins here is never closed"
        yield Finding("untidy", what, sheet.unclosed, fix="close it")
    if front.data:
        yield from _head(text, front, spec)
    yield from _patterns(rules)
    yield from _headings(found, rules)
    yield from _requirements(sheet, found, rules)
    yield from _scenarios(sheet, found, rules)
    if any(words in text for words in placeholders.ALL):  # a quick test: most specs have none
        yield from placeholders.check(sheet, found, rules)


def missing_headings(found: list[Part], rules: Rules) -> list[str]:
    """The required sections that a spec does not have, in the order of a new spec."""
    there = {part.key for part in found if part.kind == "section"}
    wanted = list(rules.required_headings)
    if "requirements" not in map(str.casefold, wanted):
        wanted.insert(1 if wanted and wanted[0].casefold() == "overview" else 0, "Requirements")
    return [title for title in wanted if title.casefold() not in there]


def missing_scenarios(sheet: Outline, found: list[Part], rules: Rules) -> int:
    """How many scenarios are missing. With a configured pattern, matches count instead of headings."""
    scenarios = [part for part in found if part.kind == "scenario"]
    pattern = compiled(rules.scenario_pattern) if rules.scenario_pattern else None
    count = len(scenarios)
    if pattern:
        texts = (_plain(sheet, part.line, part.end) for part in scenarios)
        count = sum(bool(pattern.search(text) or re.search(pattern.pattern, text, re.DOTALL)) for text in texts)
        count = max(
            count, sum(1 for _ in pattern.finditer(_plain(sheet, sheet.first, sheet.first + len(sheet.lines) - 1)))
        )
    return max(0, rules.scenario_min_count - count)


@lru_cache(maxsize=64)
def compiled(pattern: str) -> re.Pattern[str] | None:
    """A pattern from the configuration; None if it is not a regular expression."""
    try:
        return re.compile(pattern, re.MULTILINE)
    except re.error:
        return None


def _plain(sheet: Outline, start: int, end: int) -> str:
    """Lines without code and without bold marks, so that a pattern sees `**WHEN** x` as `WHEN x`."""
    return "\n".join(line for _, line in sheet.plain_lines(start, end)).replace("**", "")


def _head(text: str, front: Front, spec: Spec | None) -> Iterator[Finding]:
    data = front.data
    if not _ID.fullmatch(str(data.get("id") or "")):
        what = f"the id '{data['id']}' is not made of a-z, 0-9 and '-'" if data.get("id") else "there is no id"
        yield Finding("invalid_frontmatter", what, key_line(text, "id"), fix="id: the-name-of-the-file")
    if data.get("type", "spec") != "spec":
        yield Finding(
            "invalid_frontmatter", f"the type is '{data['type']}', not 'spec'", key_line(text, "type"), fix="type: spec"
        )
    said = data.get("requirements")
    if said is None or spec is None:
        return
    if not isinstance(said, dict):
        fix = "requirements: {total: 1, ids: [R1]}"
        yield Finding(
            "invalid_frontmatter",
            "requirements is not a mapping with total and ids",
            key_line(text, "requirements"),
            fix=fix,
        )
    elif counted(said, spec) != said:
        yield Finding(
            "untidy",
            "the requirements in the front matter are not those of the text",
            key_line(text, "requirements"),
            fix=_FILL,
        )


def counted(said: dict[str, Any], spec: Spec) -> dict[str, Any]:
    """The counts in the front matter, corrected; a count that is not there is not added."""
    ids = [requirement.id for requirement in spec.requirements]
    right = {"total": len(ids), "ids": ids}
    return {key: right.get(key, value) for key, value in said.items()}


def _patterns(rules: Rules) -> Iterator[Finding]:
    for key in ("requirement_pattern", "scenario_pattern", "when_pattern", "then_pattern"):
        if compiled(getattr(rules, key)) is None:
            what = f"{key} in [validation] is not a regular expression"
            yield Finding("invalid_value", what, 1, fix=f"${{EDITOR:-vi}} agentd/config.toml, and set {key}")


def _headings(found: list[Part], rules: Rules) -> Iterator[Finding]:
    at = next((part.line for part in found if part.kind != "text"), 1)
    for title in missing_headings(found, rules):
        yield Finding("missing_heading", f"the section '{title}' is missing", at, fix=f"add '## {title}', or {_FILL}")
    seen = set()
    for part in found:
        if part.misplaced:
            right = "##" if part.kind == "section" else "###"
            yield Finding("untidy", f"'{part.title}' should be a heading with {right}", part.line, fix=_FILL)
        if part.kind == "section" and part.key in _ONCE:
            if part.key in seen:
                what = f"the section '{part.title}' is there already, and only the first is read"
                yield Finding("duplicate_heading", what, part.line, fix="put the two together")
            seen.add(part.key)


def _requirements(sheet: Outline, found: list[Part], rules: Rules) -> Iterator[Finding]:
    pattern = compiled(rules.requirement_pattern) if rules.requirement_pattern else None
    lines: dict[str, int] = {}
    yield from _none(sheet, found)
    for part in found:
        if part.kind == "stray":
            what = f"'{part.title}' does not begin with the id of a requirement, R and a number"
            yield Finding("invalid_requirement_format", what, part.line, fix="### R1 - title")
        if part.kind != "requirement":
            continue
        if part.key in lines:
            what = f"{part.key} is there twice, first on line {lines[part.key]}"
            yield Finding("duplicate_requirement", what, part.line, fix="give one of them another number")
        lines.setdefault(part.key, part.line)
        if pattern and not pattern.search(_text(sheet, part)):
            what = f"{part.key} does not match requirement_pattern: {rules.requirement_pattern}"
            yield Finding(
                "invalid_requirement_format", what, part.line, fix="change it, or the pattern in [validation]"
            )
    for part in found:
        if part.kind == "scenario" and part.of and part.of not in lines:
            what = f"the scenario '{part.key}' stands under {part.of}, which is not one of the requirements"
            yield Finding("broken_reference", what, part.line, fix=f"add '### {part.of} - title' under Requirements")


def _none(sheet: Outline, found: list[Part]) -> Iterator[Finding]:
    """A finding for a spec without requirements, unless a placeholder there is one already."""
    listed = next((part for part in found if part.kind == "section" and part.key == "requirements"), None)
    if listed is None or any(part.kind == "requirement" for part in found):
        return
    if not placeholders.empty_sections(sheet, listed.line, listed.end):
        yield Finding("invalid_requirement_format", "the spec has no requirement", listed.line, fix="### R1 - title")


def _text(sheet: Outline, part: Part) -> str:
    return "\n".join(sheet.lines[part.line - sheet.first : part.end - sheet.first + 1])


def _scenarios(sheet: Outline, found: list[Part], rules: Rules) -> Iterator[Finding]:
    missing = missing_scenarios(sheet, found, rules)
    if missing:
        at = next((part.line for part in found if part.key == "acceptance criteria"), 1)
        there = rules.scenario_min_count - missing
        what = f"there are too few scenarios: {there} of {rules.scenario_min_count}"
        yield Finding("missing_scenario", what, at, fix=f"add '### Scenario: name' with WHEN and THEN, or {_FILL}")
