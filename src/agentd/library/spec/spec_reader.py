"""A spec read into a value, with a finding for every problem. Never raises, never guesses."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from agentd.errors import Corrupt
from agentd.library.spec import rule_checks, scenario_steps
from agentd.library.spec.headings import Part, parts
from agentd.library.spec.metadata import take
from agentd.library.spec.plain_spec import plain
from agentd.library.spec.spec_writer import DIAGRAM, OWN, info, unfenced
from agentd.model.change import PRIORITIES, Priority, Requirement, Scenario, Spec
from agentd.model.finding import Finding
from agentd.model.rules import Rules
from agentd.text import frontmatter, quoting
from agentd.text.outline import Outline, opens, outline

_JSON = ("json", "jsonschema", "json-schema")


def read(text: str, rules: Rules = scenario_steps.USUAL) -> tuple[Spec | None, tuple[Finding, ...]]:
    """The spec as far as it can be understood, None if the text is empty of parts; and every finding."""
    known = plain(text, rules)
    return (known, ()) if known else with_care(text, rules)


def with_care(text: str, rules: Rules) -> tuple[Spec | None, tuple[Finding, ...]]:
    """The same for a text of any form."""
    front = frontmatter.read(text)
    sheet = outline(front.lines, front.first)
    found = parts(sheet, str(front.data.get("title") or ""), rules)
    spec, findings = (_Reader(sheet, rules).spec(front.data, found)) if front.data or found else (None, [])
    findings += rule_checks.check(text, front, sheet, found, spec, rules)
    last = sheet.first + len(sheet.lines) - 1
    judged = (
        replace(each, line=max(1, min(each.line, last)), severity=rules.severity(each.rule))
        for each in (*front.findings, *findings)
    )
    return spec, tuple(sorted(judged, key=lambda each: each.line))


def parse(text: str, source: str) -> Spec:
    """The spec, for callers that need it."""
    spec, findings = read(text)
    worst = next((finding for finding in findings if finding.severity == "High"), None)
    if worst:
        raise Corrupt(f"{source}:{worst.line}: {worst.message}.", worst.fix)
    if spec is None:
        raise Corrupt(f"{source}:1: there is no spec here.", f"${{EDITOR:-vi}} {source}")
    return spec


class _Reader:
    """Reads the parts of a spec and collects findings."""

    def __init__(self, sheet: Outline, rules: Rules) -> None:
        self.sheet = sheet
        self.rules = rules
        self.findings: list[Finding] = []

    def spec(self, head: Mapping[str, Any], found: list[Part]) -> tuple[Spec, list[Finding]]:
        once: dict[str, Part] = {}
        for part in found:
            if part.kind == "section":
                once.setdefault(part.key, part)
        requirements = tuple(self.requirement(part) for part in found if part.kind == "requirement")
        scenarios = [self.scenario(part) for part in found if part.kind == "scenario"]
        order = {requirement.id: place for place, requirement in enumerate(requirements)}
        scenarios.sort(key=lambda scenario: order.get(scenario.requirement, len(order)))
        title = next((part.title for part in found if part.kind == "title"), None)
        spec = Spec(
            id=_text(head, "id"),
            title=_text(head, "title") if title is None else quoting.unescape_line(title),
            overview=self.text(once.get("overview")),
            requirements=requirements,
            scenarios=tuple(scenarios),
            flow_diagram=self.diagram(once.get("flow diagram")),
            data_model=self.data_model(once.get("data model")),
            created_at=_text(head, "created_at"),
            updated_at=_text(head, "updated_at"),
            version=_text(head, "version") or "1.0",
        )
        return spec, self.findings

    def lines(self, part: Part) -> tuple[str, ...]:
        return self.sheet.lines[part.line - self.sheet.first + 1 : part.end - self.sheet.first + 1]

    def text(self, part: Part | None) -> str:
        return quoting.unescape(self.lines(part), OWN) if part else ""

    def requirement(self, part: Part) -> Requirement:
        found = take(self.lines(part), part.key, part.line + 1)
        self.findings += found.findings
        priority = str(found.data.get("priority") or "medium").casefold()
        if priority not in PRIORITIES:
            what = f"the priority of {part.key} is '{priority}', which is not one of {', '.join(PRIORITIES)}"
            self.findings.append(Finding("invalid_value", what, found.line_of("priority"), fix="priority: medium"))
            priority = "medium"
        return Requirement(
            part.key,
            quoting.unescape_line(part.title),
            quoting.unescape(found.rest, OWN),
            cast(Priority, priority),
            str(found.data.get("status") or "draft"),
            part.line,
        )

    def scenario(self, part: Part) -> Scenario:
        found = scenario_steps.read(self.sheet, part.line + 1, part.end, self.rules)
        name = quoting.unescape_line(part.key)
        if self.rules.require_when_then and not (found.when and found.then):
            missing = [step.upper() for step in ("when", "then") if not getattr(found, step)]
            what = f"the scenario '{name}' has no {' and no '.join(missing)}"
            fix = f"add a line '- **{missing[0]}** …', or agentd validate --fix"
            self.findings.append(Finding("missing_when_then", what, part.line, fix=fix))
        return Scenario(name, found.when, found.then, found.given, part.of, part.line)

    def diagram(self, part: Part | None) -> str:
        lines = _trimmed(self.lines(part)) if part else []
        inner = unfenced(lines)
        if inner is not None and info(lines[0]) in DIAGRAM:
            return "\n".join(inner)
        return quoting.unescape(lines, OWN)

    def data_model(self, part: Part | None) -> Any:
        """The first JSON block of the section; None if the model is in words or in another language."""
        lines = self.lines(part) if part else ()
        start = next((at for at, line in enumerate(lines) if "json" in line.lower() and _is_json(line)), -1)
        if part is None or start < 0:
            return None
        first = part.line + 1 + start
        inner: list[str] = []
        for number in range(first + 1, part.end + 1):
            if number not in self.sheet.fenced or number + 1 not in self.sheet.fenced:
                break
            inner.append(lines[number - part.line - 1])
        try:
            return json.loads("\n".join(inner), parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            line = first + getattr(error, "lineno", 1)
            why = "it is nested too deeply" if isinstance(error, RecursionError) else getattr(error, "msg", str(error))
            what = f"the data model is not JSON: {why}"
            self.findings.append(Finding("invalid_value", what, line, fix="write the data model as a JSON schema"))
            return None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number in it")


def _is_json(line: str) -> bool:
    return bool(opens(line)) and info(line) in _JSON


def _trimmed(lines: tuple[str, ...]) -> list[str]:
    kept = list(lines)
    while kept and not kept[0].strip():
        del kept[0]
    while kept and not kept[-1].strip():
        kept.pop()
    return kept


def _text(head: Mapping[str, Any], key: str) -> str:
    value = head.get(key)
    return "" if value is None or isinstance(value, dict | list) else str(value)
