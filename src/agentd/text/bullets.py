"""Lists and labels in a section: `- item`, `- **Label**: text`, with the lines below that belong to each.

Text behind a bullet goes on in lines indented below it. What it means is for the document to say.
"""

import re
from collections.abc import Collection
from dataclasses import field

from agentd.patterns import regex
from agentd.text import quoting
from agentd.text.outline import Outline, opens
from agentd.values import dataclass

PAD = "  "
_BULLET = regex(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(?=\S)|[ \t]*\Z)")
_NAME = r"(\w[\w /-]{0,39}?)[ \t]*"
_LABEL = regex(rf"(?:(\*\*|__){_NAME}(?:\1[ \t]*[:：]|[:：]\1)|{_NAME}[:：])[ \t]*")


@dataclass
class Item:
    """A bullet or a paragraph: where it begins, its label if it has one that was asked for, and its lines."""

    line: int
    bullet: bool
    label: str = ""
    lines: list[str] = field(default_factory=list)


def write(lead: str, text: str, own: re.Pattern[str]) -> str:
    """A text behind a bullet or a label; one that begins like code begins on the next line."""
    written = quoting.escape(text, own, PAD)
    first = written.removeprefix(PAD)
    if first[:1].isspace() or opens(written.split("\n", 1)[0]):
        return f"{lead}\n{written}"
    return f"{lead} {first}" if first else lead


def read(item: Item, own: re.Pattern[str]) -> str:
    """The text of an item."""
    return quoting.unescape([PAD + line for line in item.lines], own, PAD)


def items(outline: Outline, start: int, end: int) -> list[Item]:
    """The items of lines `start` to `end`; a paragraph that belongs to no bullet is an item of its own."""
    found: list[Item] = []
    blank = True
    base = width = 0
    for number in range(start, end + 1):
        line = outline.lines[number - outline.first]
        if not line.strip():
            blank = True
            if found:
                found[-1].lines.append(dedent(line, width) if number in outline.fenced else "")
            continue
        indent = _indent(line)
        plain = number not in outline.fenced
        line = line.rstrip(" \t") if plain else line
        bullet = _BULLET.match(line) if plain and indent < base + 2 else None
        if bullet or not found or (blank and plain and indent < base + 2):
            base, width = (indent, indent + 2) if bullet else (min(base, indent) if found else indent, 0)
            found.append(Item(number, bullet is not None))
            line = line[bullet.end() :] if bullet else line
        else:
            line = dedent(line, width)
        found[-1].lines.append(line)
        blank = False
    return found


def fields(outline: Outline, start: int, end: int, labels: Collection[str], loose: bool = False) -> list[Item]:
    """The labelled items of lines `start` to `end`; what stands before the first is left out.

    Below a label that is no bullet, bullets belong to it; `loose` if all do that carry no bold label of their own.
    """
    found: list[Item] = []
    item: Item | None = None
    base = -1
    width = 0
    for number in range(start, end + 1):
        line = outline.lines[number - outline.first]
        line = line if number in outline.fenced else line.rstrip(" \t")
        indent = _indent(line)
        if number in outline.fenced or not line or (base >= 0 and indent > base + 1):
            if item:
                item.lines.append(dedent(line, width))
            continue
        base = indent
        bullet = _BULLET.match(line)
        label = _LABEL.match(line, bullet.end() if bullet else len(line) - len(line.lstrip(" \t")))
        name = (label[2] or label[3]).casefold() if label else ""
        if label and name in labels:
            item = Item(number, bullet is not None, name, [line[label.end() :]])
            width = indent + 2 if bullet else 0
            found.append(item)
        elif item and bullet and (label and label[1] if loose else item.bullet):
            item = None
        elif item:
            item.lines.append(line.strip() if item.bullet and not bullet else line)
    return found


def dedent(line: str, width: int) -> str:
    """A line without up to `width` columns of white space at its start."""
    column = at = 0
    while at < len(line) and column < width and line[at] in " \t":
        column += 1 if line[at] == " " else 4 - column % 4
        at += 1
    return line[at:]


def _indent(line: str) -> int:
    if line[:1] not in (" ", "\t"):
        return 0
    size = len(line) - len(line.lstrip(" "))
    if line[size : size + 1] != "\t":
        return size
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip(" "))
