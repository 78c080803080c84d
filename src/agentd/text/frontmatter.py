"""The YAML at the head of a document, written by a serializer and read with the lines it stands on."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from agentd.errors import Corrupt
from agentd.model.finding import Finding
from agentd.patterns import regex
from agentd.text import lossless_yaml
from agentd.text.outline import split_lines
from agentd.values import dataclass

_HEAD = regex(r"\ufeff?---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_LINE = regex(r":(\d+):\d+: (.*)\.$", re.DOTALL)


@dataclass(frozen=True)
class Front:
    """A document in two: the data at its head and the lines of its body, which begins at line `first`."""

    data: Mapping[str, Any]
    lines: tuple[str, ...]
    first: int
    findings: tuple[Finding, ...] = ()


def read(text: str) -> Front:
    """The parts of a document; what is wrong with its head is a finding, and the body is there all the same."""
    lines = split_lines(text)
    if not lines or lines[0].rstrip() != "---":
        fix = "begin the file with the lines '---', 'id: …' and '---'"
        missing = Finding("missing_frontmatter", "the front matter is missing", 1, fix=fix)
        return Front({}, tuple(lines), 1, (missing,))
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), 0)
    if not end:
        unclosed = Finding("invalid_frontmatter", "the front matter has no closing '---'", 1, fix="add a line '---'")
        return Front({}, tuple(lines[1:]), 2, (unclosed,))
    body = tuple(lines[end + 1 :])
    try:
        data = lossless_yaml.load("\n".join(lines[1:end]))
    except Corrupt as error:
        found = _LINE.search(error.message)
        line, what = (int(found[1]) + 1, found[2]) if found else (1, error.message)
        return Front({}, body, end + 2, (Finding("invalid_frontmatter", what, line, fix="write it as 'key: value'"),))
    return Front(data, body, end + 2)


def key_line(text: str, key: str) -> int:
    """Where a key stands at the head of a document; 1 if it does not."""
    return next((number for number, line in enumerate(split_lines(text), 1) if line.startswith(f"{key}:")), 1)


def write(data: Mapping[str, Any], body: str) -> str:
    """A whole document."""
    return f"---\n{lossless_yaml.dump(data)}---\n\n{body.strip()}\n"


def update(text: str, data: Mapping[str, Any]) -> str:
    """The document with these keys at its head changed; everything else stays byte for byte."""
    if "\r" in text and "\n" not in text:
        return update(text.replace("\r", "\n"), data).replace("\n", "\r")
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    head = _HEAD.match(text)
    if head is None:
        newline = "\r\n" if "\r\n" in text else "\n"
        return mark + f"---\n{lossless_yaml.dump(data)}---\n\n".replace("\n", newline) + text.removeprefix(mark)
    document = lossless_yaml.parse(head[1], "front matter")
    inner = document.updated({**document.data, **data}).text
    return text[: head.start(1)] + inner + text[head.end(1) :]


def checksum(body: str) -> str:
    """What a body says, whatever its line ends and the empty lines around it."""
    return "sha256:" + hashlib.sha256("\n".join(split_lines(body)).strip().encode("utf-8", "surrogatepass")).hexdigest()
