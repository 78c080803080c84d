"""The YAML block with the metadata of a requirement; any other code block is part of the description."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from agentd.errors import Corrupt
from agentd.model.finding import Finding
from agentd.patterns import regex
from agentd.text import lossless_yaml
from agentd.text.outline import closes, opens

_OPENING = regex(r" {0,3}(?:`{3,}|~{3,})[ \t]*(?i:ya?ml)[ \t]*")
_KEYS = {"id", "priority", "status"}
_KEY_LINE = regex(r"[ \t]*(?:(?:id|priority|status)[ \t]*:|$)")
_ID = regex(r"R[0-9]+", re.IGNORECASE)
_PLACE = regex(r":(\d+):\d+: (.*)\.$", re.DOTALL)
_FIX = "write the lines id, priority and status, each as 'key: value'"


class Metadata(NamedTuple):
    """The data of the block, the lines around it, and findings. `first` is the line on which its content begins."""

    data: Mapping[str, Any]
    rest: Sequence[str]
    findings: tuple[Finding, ...] = ()
    first: int = 0
    content: Sequence[str] = ()

    def line_of(self, key: str) -> int:
        """The line of a key."""
        lines = enumerate(self.content, self.first)
        return next((number for number, line in lines if line.lstrip().startswith(key)), self.first)


def take(lines: Sequence[str], name: str, first: int) -> Metadata:
    """The metadata among the lines of requirement `name`, the first of which is line `first` of its file."""
    at = 0
    while at < len(lines):
        fence = opens(lines[at]) if lines[at] else ""
        if not fence:
            at += 1
            continue
        start = at
        at += 1
        while at < len(lines) and not closes(lines[at], fence):
            at += 1
        found = _judge(lines, start, at, name, first) if _OPENING.fullmatch(lines[start]) else None
        if found:
            return found
        at += 1
    return Metadata({}, lines)


@lru_cache(maxsize=4096)
def _load(text: str) -> Mapping[str, Any]:
    """Cached, because most specs of a project have the same few blocks."""
    return lossless_yaml.load(text)


def _judge(lines: Sequence[str], start: int, end: int, name: str, first: int) -> Metadata | None:
    """The block as metadata; None if it is an example in the description."""
    content = lines[start + 1 : end]
    taken = Metadata({}, [*lines[:start], *lines[end + 1 :]], (), first + start + 1, content)
    try:
        data = _load("\n".join(content))
    except Corrupt as error:
        if not all(map(_KEY_LINE.match, content)) or not any(map(str.strip, content)):
            return None
        found = _PLACE.search(error.message)
        line, what = (taken.first + int(found[1]) - 1, found[2]) if found else (taken.first, error.message)
        return taken._replace(findings=(Finding("invalid_requirement_format", what, line, fix=_FIX),))
    said = data.get("id")
    if said == name or (said is None and data.keys() <= _KEYS):
        return Metadata(data, taken.rest, (), taken.first, content)
    if not _ID.fullmatch(str(said)) or not data.keys() <= _KEYS:
        return None
    what = f"the heading says {name}, the metadata below it {said}"
    wrong = Finding("invalid_requirement_format", what, taken.line_of("id"), fix=f"id: {name}")
    return taken._replace(data=data, findings=(wrong,))
