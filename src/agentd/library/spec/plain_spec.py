"""A spec in the form that agentd writes, read by an expression for each of its parts.

Gives up on anything else, so whatever it does give is what the careful reader would have given, without a finding.
"""

import re
from typing import cast

from agentd.library.spec import placeholders
from agentd.library.spec.scenario_steps import USUAL
from agentd.model.change import Priority, Requirement, Scenario, Spec
from agentd.model.rules import Rules
from agentd.patterns import regex
from agentd.text.literal import LINE, SCALAR, TEXT, TIME, is_literal

_HEAD = regex(
    r"---\nid: (?!null\n|true\n|false\n)([a-z][a-z0-9-]*+)\ntype: spec\n"
    rf"title: {SCALAR}\n"
    rf'version: "([\w.]*+)"\ncreated_at: ({TIME})\nupdated_at: ({TIME})\n'
    r"requirements:\n  total: ([1-9][0-9]{0,5})\n  ids:((?:\n    - R[0-9]++)++)\n"
    r"design_elements:\n(?:  has_mermaid: (?:true|false)\n)(?:  has_json_schema: (?:true|false)\n)"
    r"(?:  has_pseudo_code: (?:true|false)\n)(?:  has_api_spec: (?:true|false)\n)---\n\n"
    rf"<spec>\n\n# ({LINE})\n\n## Overview\n\n({TEXT})\n\n## Requirements\n\n"
)
_REQUIREMENT = regex(
    rf"### (R[0-9]++) - ({LINE})\n\n```yaml\nid: \1\npriority: (high|medium|low)\n"
    rf"status: (?!null\n|true\n|false\n)([a-z_]++)\n```\n\n({TEXT})\n\n"
)
_STEP = rf"({LINE}(?:\n- \*\*(?:AND|BUT)\*\* {LINE})*+)"
_SCENARIO = regex(
    rf"(####?) Scenario: ({LINE})\n\n(?:- \*\*GIVEN\*\* {_STEP}\n)?+- \*\*WHEN\*\* {_STEP}\n- \*\*THEN\*\* {_STEP}\n\n"
)
_CRITERIA = "## Acceptance Criteria\n\n"
_END = "</spec>\n"
_SECTIONS = ("flow diagram", "data model")  # a title that is one of these begins a section
_PATTERNS = ("required_headings", "requirement_pattern", "scenario_pattern", "when_pattern", "then_pattern")


def plain(text: str, rules: Rules) -> Spec | None:
    """The spec, if it is written in the plainest way and nothing is wrong with it."""
    head = _HEAD.match(text)
    if head is None or not is_literal(text) or not _is_usual(rules) or any(map(text.__contains__, placeholders.ALL)):
        return None
    name, version, created, updated, total, ids, title, overview = head.groups()
    requirements: list[Requirement] = []
    scenarios: list[Scenario] = []
    at, line, of = head.end(), text.count("\n", 0, head.end()) + 1, ""
    while not text.startswith(_CRITERIA, at):
        found = _REQUIREMENT.match(text, at)
        if found:
            of, what, priority, status, description = found.groups()
            requirements.append(Requirement(of, what, description, cast(Priority, priority), status, line))
        else:
            found = _SCENARIO.match(text, at) if of else None
            if found is None or found[1] != "####":
                return None
            scenarios.append(_scenario(found, of, line))
        line += text.count("\n", at, found.end())
        at = found.end()
    at, line = at + len(_CRITERIA), line + 2
    while text.startswith("### ", at):
        found = _SCENARIO.match(text, at)
        if found is None:
            return None
        scenarios.append(_scenario(found, "", line))
        line += text.count("\n", at, found.end())
        at = found.end()
    listed = [entry.id for entry in requirements]
    if (
        text[at:] != _END
        or ids.split("\n    - ")[1:] != listed
        or int(total) != len(listed)
        or len({*listed}) != len(listed)
        or len(scenarios) < rules.scenario_min_count
        or any(section in title.casefold() for section in _SECTIONS)
    ):
        return None
    return Spec(
        name,
        title,
        overview,
        tuple(requirements),
        tuple(scenarios),
        created_at=created.strip('"'),
        updated_at=updated.strip('"'),
        version=version or "1.0",
    )


def _scenario(found: re.Match[str], of: str, line: int) -> Scenario:
    given, when, then = (_joined(step or "") for step in found.groups()[2:])
    return Scenario(found[2], when, then, given, of, line)


def _joined(step: str) -> str:
    return step.replace("\n- **AND** ", "\nAND ").replace("\n- **BUT** ", "\nBUT ") if "\n" in step else step


def _is_usual(rules: Rules) -> bool:
    return all(getattr(rules, key) == getattr(USUAL, key) for key in _PATTERNS)
