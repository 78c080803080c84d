"""A spec rendered as a new file. A value that would not read back as the same is refused with the reason."""

import json
import re
from typing import Any

from agentd.library.spec import scenario_steps
from agentd.model.change import PRIORITIES, Requirement, Scenario, Spec
from agentd.patterns import regex
from agentd.text import frontmatter, lossless_yaml, quoting
from agentd.text.outline import closes, opens

OWN = quoting.structure(
    r"#{1,3}(?:[ \t]|$)|#{4,6}[ \t]+[*_`\[]*(?:R\d|(?i:scenario|requirement))|</?(?i:spec)\b"
)  # a text may have deeper headings, unless they begin a part
DIAGRAM = ("", "mermaid")
_ID = regex(r"[a-z0-9-]+")
_REQUIREMENT_ID = regex(r"R[0-9]+")
_INFO = regex(r" {0,3}[`~]+[ \t]*([\w+-]*)")


def render(spec: Spec) -> str:
    """The whole file."""
    if not _ID.fullmatch(spec.id):
        raise ValueError(f"the id of a spec is made of a-z, 0-9 and '-', not {spec.id!r}")
    ids = [requirement.id for requirement in spec.requirements]
    doubled = next((one for one in ids if ids.count(one) > 1), "")
    if doubled:
        raise ValueError(f"requirement {doubled} is there twice; give each its own id")
    unknown = next((one.requirement for one in spec.scenarios if one.requirement not in ("", *ids)), "")
    if unknown:
        raise ValueError(f"a scenario belongs to {unknown}, which is not one of the requirements: {', '.join(ids)}")
    body = "\n\n".join(_body(spec))
    return frontmatter.write(_head(spec, ids, body), f"<spec>\n\n{body}\n\n</spec>")


def fenced(info: str, content: str) -> str:
    """A code block with a fence longer than any inside it."""
    longest = max((len(run) for run in re.findall("`{3,}", content)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{info}\n{content}\n{fence}"


def unfenced(lines: list[str]) -> list[str] | None:
    """The content of a text that is exactly one code block; None for any other."""
    fence = opens(lines[0]) if lines else ""
    if not fence or fence == "<!--":
        return None
    end = next((at for at, line in enumerate(lines) if at and closes(line, fence)), 0)
    return lines[1:end] if end == len(lines) - 1 and end else None


def info(line: str) -> str:
    """The language a fence names."""
    found = _INFO.match(line)
    return found[1].lower() if found else ""


def _head(spec: Spec, ids: list[str], body: str) -> dict[str, Any]:
    blocks = {info(line) for line in body.split("\n") if opens(line)}
    return {
        "id": spec.id,
        "type": "spec",
        "title": spec.title,
        "version": spec.version,
        "created_at": spec.created_at,
        "updated_at": spec.updated_at,
        "requirements": {"total": len(ids), "ids": ids},
        "design_elements": {
            "has_mermaid": "mermaid" in blocks,
            "has_json_schema": spec.data_model is not None,
            "has_pseudo_code": bool(blocks & {"pseudo", "pseudocode"}),
            "has_api_spec": bool(blocks & {"openapi", "graphql", "proto", "protobuf"}),
        },
    }


def _body(spec: Spec) -> list[str]:
    parts = [f"# {_line('title', spec.title)}", "## Overview", quoting.escape(spec.overview, OWN), "## Requirements"]
    for requirement in spec.requirements:
        parts += _requirement(requirement)
        for scenario in spec.scenarios:
            if scenario.requirement == requirement.id:
                parts += _scenario(scenario, "####")
    parts.append("## Acceptance Criteria")
    for scenario in spec.scenarios:
        if not scenario.requirement:
            parts += _scenario(scenario, "###")
    if spec.flow_diagram:
        parts += ["## Flow Diagram", _diagram(spec.flow_diagram)]
    if spec.data_model is not None:
        parts += ["## Data Model", fenced("json", _json(spec.data_model))]
    return [part for part in parts if part]


def _json(model: Any) -> str:
    try:
        return json.dumps(model, indent=2, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise ValueError(f"the data model must be JSON, without NaN, Infinity or itself inside it: {error}") from None


def _requirement(requirement: Requirement) -> list[str]:
    if not _REQUIREMENT_ID.fullmatch(requirement.id):
        raise ValueError(f"the id of a requirement is R and a number, such as R1, not {requirement.id!r}")
    if requirement.priority not in PRIORITIES:
        raise ValueError(f"the priority of {requirement.id} is one of {', '.join(PRIORITIES)}")
    data = {"id": requirement.id, "priority": requirement.priority, "status": requirement.status}
    title = _line(f"title of {requirement.id}", requirement.title)
    metadata = fenced("yaml", lossless_yaml.dump(data).rstrip("\n"))
    return [f"### {requirement.id} - {title}", metadata, quoting.escape(requirement.description, OWN)]


def _scenario(scenario: Scenario, level: str) -> list[str]:
    return [
        f"{level} Scenario: {_line('name of a scenario', scenario.name)}",
        "\n".join(scenario_steps.write(scenario)),
    ]


def _diagram(text: str) -> str:
    """A diagram in one fence, whether it has one or not; a text with a diagram in it stays as it is."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.strip().split("\n")
    inner = unfenced(lines)
    if inner is not None and info(lines[0]) in DIAGRAM:
        return fenced("mermaid", "\n".join(inner))
    if inner is not None or any(opens(line) and info(line) == "mermaid" for line in lines):
        return quoting.escape(text, OWN)
    return fenced("mermaid", text)


def _line(what: str, text: str) -> str:
    try:
        return quoting.escape_line(text)
    except ValueError as error:
        raise ValueError(f"the {what} {error}") from None
