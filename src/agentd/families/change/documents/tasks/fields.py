"""The fields of a task: from the YAML block below its heading, or from labelled lines."""

import re
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from agentd.families.change.documents.tasks.items import Item
from agentd.patterns import regex
from agentd.text.outline import Outline, closes, opens
from agentd.values import dataclass

if TYPE_CHECKING:
    import yaml

_YAML_FENCE = regex(r" {0,3}[`~]{3,}[ \t]*ya?ml\b", re.IGNORECASE)
_KEY = regex(r"[ \t]*[\"']?(?:id|action|status|file|spec_ref|depends_on)[\"']?[ \t]*:")
_KEYS = ("id", "action", "status", "file", "spec_ref")
_PLAIN = regex(
    r"id: ([a-z]+\.\d+)\naction: (CREATE|MODIFY|DELETE|RENAME)\nstatus: (pending|in_progress|completed|blocked)\n"
    r"file: (?!(?i:null)\n)([\w/.](?:[\w/.@+() -]*[\w/.)])?)\n"
    r"spec_ref: ([a-z0-9-]+:R\d+)\ndepends_on:(?: \[\]|(?P<listed>(?:\n  - [a-z]+\.\d+)+))"
)
_NOTHING = ("", "~", "null", "Null", "NULL")
_NONE = ("none", "n/a", "-", "–", "—", "[]", "无", "なし")
LABEL = regex(
    r"[ \t]*(?:[-*+][ \t]+)?[*_]{0,2}(file|path|spec|do|description|depends|action|status)(?:[ _-](?:ref|on))?"
    r"[*_]{0,2}[ \t]*[:：][*_]{0,2}[ \t]*(.*)",
    re.IGNORECASE,
)
_LABELS = {"path": "file", "spec": "spec_ref", "do": "description", "depends": "depends_on"}
_ACTION = regex(r"(.*?)[ \t]*[(（\[]([A-Z]+|(?i:create|modify|delete|rename))[)）\]]\s*$")
_MOST_NESTED = 5000  # deeper nesting overflows the stack of the C library


@dataclass
class Fields:
    """The fields of a task by key, and their lines.

    depends   the ids it depends on
    rest      the lines of its description
    block     the first and the last line inside its YAML block
    problem   the line and the reason why the block cannot be read
    """

    values: dict[str, str] = field(default_factory=dict)
    depends: tuple[str, ...] = ()
    lines: dict[str, int] = field(default_factory=dict)
    rest: list[str] = field(default_factory=list)
    block: tuple[int, int] | None = None
    problem: tuple[int, str] | None = None


def fields(plan: Outline, item: Item) -> Fields:
    """The fields below the first line of an item."""
    if item.level:
        block = _block(plan, item)
        if block:
            return _from_block(plan, item, block)
    return _from_labels(plan, item)


def _block(plan: Outline, item: Item) -> tuple[int, int] | None:
    """The lines inside the first YAML block with a key of a task, else inside the first YAML block."""
    other = None
    fence = ""
    start = 0
    for number in range(item.line + 1, item.end + 1):
        if number not in plan.fenced:
            continue
        line = plan.lines[number - plan.first]
        if not fence:
            fence, start = opens(line), number + 1 if _YAML_FENCE.match(line) else 0
        elif closes(line, fence):
            fence = ""
            if start and any(_KEY.match(inner) for inner in plan.lines[start - plan.first : number - plan.first]):
                return start, number - 1
            other = other or ((start, number - 1) if start else None)
    return other


def _from_block(plan: Outline, item: Item, block: tuple[int, int]) -> Fields:
    start, end = block
    lines = plan.lines[start - plan.first : end - plan.first + 1]
    found = _plain(lines, start) or _careful(lines, start)
    found.block = block
    first = plan.first
    found.rest = [
        *plan.lines[item.line + 1 - first : start - 1 - first],
        *plan.lines[end + 2 - first : item.end + 1 - first],
    ]
    return found


def _plain(lines: Sequence[str], first: int) -> Fields | None:
    """The fields of a block in the form that agentd writes, read without YAML; None for any other form."""
    plain = _PLAIN.fullmatch("\n".join(lines))
    if plain is None:
        return None
    listed = plain["listed"]
    depends = tuple(listed.split("\n  - ")[1:]) if listed else ()
    values = dict(zip(_KEYS, plain.groups(), strict=False))
    return Fields(values, depends, {key: first + at for at, key in enumerate(_KEYS)} | {"depends_on": first + 5})


def _careful(lines: Sequence[str], first: int) -> Fields:
    """The fields of any YAML block. Every scalar is read as text, so that the id 1.10 is not the number 1.1."""
    import yaml  # no block as agentd writes it needs the parser

    found = Fields()
    text = "\n".join(lines)
    if sum(map(text.count, ("[", "{", "- ", "? "))) > _MOST_NESTED:
        found.problem = first, "the YAML block is nested too deep"
        return found
    try:
        root = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else 0
        found.problem = first + min(line, max(0, len(lines) - 1)), f"the YAML block cannot be read: {error.problem}"
        return found
    except (yaml.YAMLError, ValueError):
        found.problem = first, "the YAML block cannot be read: it has characters that YAML does not allow"
        return found
    if not isinstance(root, yaml.MappingNode):
        found.problem = first, "the YAML block has no keys"
        return found
    for key, value in root.value:
        _take(found, key, value, first)
    return found


def _take(found: Fields, key: "yaml.Node", value: "yaml.Node", first: int) -> None:
    import yaml

    line = first + key.start_mark.line
    name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
    if name in found.lines:
        found.problem = line, f"'{name}' stands twice in the YAML block"
    found.lines[name] = line
    listed: list[Any] = value.value if isinstance(value, yaml.SequenceNode) else [None]
    if name == "depends_on" and all(isinstance(word, yaml.ScalarNode) for word in listed):
        found.depends = tuple(str(word.value).strip() for word in listed)
    elif name in (*_KEYS, "depends_on"):
        if not isinstance(value, yaml.ScalarNode):
            found.problem = line, f"'{name}' must be {'a list of ids' if name == 'depends_on' else 'text'}"
            return
        text = "" if not value.style and value.value in _NOTHING else str(value.value)
        if name == "depends_on":
            found.depends = _ids(text)
        else:
            found.values[name] = text


def _from_labels(plan: Outline, item: Item) -> Fields:
    """The fields of labelled lines such as `File: src/a.py (CREATE)`, with or without bullets."""
    found = Fields()
    for number in range(item.line + 1, item.end + 1):
        line = plan.lines[number - plan.first]
        label = LABEL.match(line) if number not in plan.fenced and (":" in line or "：" in line) else None
        name = label[1].lower() if label else ""
        name = _LABELS.get(name, name)
        if not label or name in found.lines:
            found.rest.append(line if item.level else line.strip())
            continue
        found.lines[name] = number
        value = label[2].strip()
        if name == "depends_on":
            found.depends = _ids(value)
        elif name == "description":
            found.rest.append(value)
        else:
            found.values[name] = value.strip("`")
    action = _ACTION.match(found.values.get("file", ""))
    if action:
        found.values["file"] = action[1].strip("`")
        found.values.setdefault("action", action[2])
    found.values.setdefault("action", "MODIFY")
    return found


def _ids(text: str) -> tuple[str, ...]:
    if text.lower().strip("() ") in _NONE:
        return ()
    return tuple(word.strip(" `") for word in re.split(r"[,，、;\s]+", text.strip("[]")) if word.strip(" `"))
