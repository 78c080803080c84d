"""JSON with comments: entries put into a text that a person keeps by hand, every other character left as it is.

It takes what editors and agents take: `//` and `/* */` comments, commas after the last entry.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from agentd.text.spacing import line_end

_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*?(?=\r?\n|\Z)|/\*.*?\*/", re.DOTALL)
_BESIDE = re.compile(r"(?:[ \t]*(?:/\*[^\n]*?\*/))*(?:[ \t]*//[^\n]*?(?=\r?\n|\Z))?")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SCALAR = re.compile(r"(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.+-])")
_INDENT = re.compile(r"[ \t]*")


class Broken(ValueError):
    """A text that is no object in JSON with comments, and the line where that shows."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.line = line


@dataclass(frozen=True)
class _Value:
    """A value and where it stands. `end` is after it, `last` after its last entry, `comma` after the comma there."""

    start: int
    end: int
    data: Any
    entries: Mapping[str, "_Value"] | None = None
    first: int = 0
    last: int = 0
    comma: int = 0


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


def loaded(text: str) -> dict[str, Any]:
    """What a text holds."""
    root = _whole(text)
    return dict(root.data) if root else {}


def merged(text: str, wanted: Mapping[str, Any]) -> str:
    """The text with everything wanted in it; itself, if it was there. What is wanted replaces what is in its place."""
    root = _whole(text)
    if root is None:
        joint = line_end(text) if text and not text.endswith("\n") else ""
        return text + joint + _spell(wanted, "  ", "", line_end(text)) + line_end(text)
    for edit in sorted(_edits(text, root, wanted), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _edits(text: str, place: _Value, wanted: Mapping[str, Any]) -> Iterator[_Edit]:
    entries = place.entries or {}
    for name in wanted.keys() & entries.keys():
        found, value = entries[name], wanted[name]
        if isinstance(value, Mapping):
            if found.entries is None:
                raise Broken(f"'{name}' is no object", _line(text, found.start))
            yield from _edits(text, found, value)
        elif json.dumps(found.data) != json.dumps(value):
            newline = line_end(text)
            yield _Edit(found.start, found.end, _spell(value, _unit(text), _indent(text, found.start), newline))
    new = {name: value for name, value in wanted.items() if name not in entries}
    if new:
        yield from _insert(text, place, new) if entries else _fill(text, place, new)


def _insert(text: str, place: _Value, new: Mapping[str, Any]) -> Iterator[_Edit]:
    """New entries after the last one and the comments beside it, in the manner of the first."""
    beside = _BESIDE.match(text, place.comma or place.last)
    assert beside is not None
    spread = "\n" in text[place.start : place.first]
    indent = _indent(text, place.first) if spread else _indent(text, place.start) + _unit(text)
    gap = line_end(text) + indent if spread or "//" in beside[0] else " "
    added = gap + _spell_entries(new, gap, _unit(text) if spread else "", indent, line_end(text))
    if place.comma:
        yield _Edit(beside.end(), beside.end(), added + ",")
    elif beside[0]:
        yield _Edit(place.last, place.last, ",")
        yield _Edit(beside.end(), beside.end(), added)
    else:
        yield _Edit(place.last, place.last, "," + added)


def _fill(text: str, place: _Value, new: Mapping[str, Any]) -> Iterator[_Edit]:
    """The first entries of an empty object, below the comments in it."""
    inside = _COMMENT.finditer(text, place.start + 1, place.end - 1)
    at = max((found.end() for found in inside), default=place.start + 1)
    outer, newline = _indent(text, place.start), line_end(text)
    indent = outer + _unit(text)
    added = newline + indent + _spell_entries(new, newline + indent, _unit(text), indent, newline)
    yield _Edit(at, at, added if "\n" in text[at : place.end] else added + newline + outer)


def _spell_entries(new: Mapping[str, Any], gap: str, unit: str, indent: str, newline: str) -> str:
    return f",{gap}".join(f"{json.dumps(name)}: {_spell(value, unit, indent, newline)}" for name, value in new.items())


def _spell(value: Any, unit: str, indent: str, newline: str) -> str:
    """A value as text; on one line without a unit to indent it by."""
    spelled = json.dumps(value, indent=unit or None, ensure_ascii=False)
    return spelled.replace("\n", newline + indent)


def _indent(text: str, at: int) -> str:
    """What the line of a place begins with."""
    found = _INDENT.match(text, text.rfind("\n", 0, at) + 1)
    return found[0] if found else ""


def _unit(text: str) -> str:
    """How deep the text is indented by one level: as its first indented line is, else two spaces."""
    found = re.search(r"\n([ \t]+)[\"}]", text)
    return found[1] if found else "  "


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _whole(text: str) -> _Value | None:
    try:
        return _read(text)
    except RecursionError:
        raise Broken("it is nested too deeply", 1) from None


def _read(text: str) -> _Value | None:
    """The object a text holds; nothing if it holds nothing but comments."""
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    if start == len(text):
        return None
    root = _value(text, start)
    if root.entries is None:
        raise Broken("it holds something else than an object", _line(text, start))
    end = _skip(text, root.end)
    if end != len(text):
        raise Broken("something stands after the object", _line(text, end))
    return root


def _skip(text: str, at: int) -> int:
    """The end of the white space and comments from a place on."""
    found = _GAP.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int) -> _Value:
    if text.startswith("{", at):
        return _object(text, at)
    if text.startswith("[", at):
        return _array(text, at)
    found = _STRING.match(text, at) or _SCALAR.match(text, at)
    if not found:
        raise Broken("a value is missing or misspelled", _line(text, at))
    try:
        return _Value(at, found.end(), json.loads(found[0]))
    except ValueError:
        raise Broken("a number is too long", _line(text, at)) from None


def _object(text: str, start: int) -> _Value:
    entries: dict[str, _Value] = {}
    first = last = comma = 0
    at = _skip(text, start + 1)
    while not text.startswith("}", at):
        name = _STRING.match(text, at)
        if not name or (entries and not comma):
            raise Broken("a name in quotes, a comma or a closing brace is missing", _line(text, at))
        colon = _skip(text, name.end())
        if not text.startswith(":", colon):
            raise Broken("a colon is missing", _line(text, colon))
        value = _value(text, _skip(text, colon + 1))
        entries[json.loads(name[0])] = value
        first, last = first or at, value.end
        at, comma = _after(text, value.end)
    return _Value(start, at + 1, {name: value.data for name, value in entries.items()}, entries, first, last, comma)


def _array(text: str, start: int) -> _Value:
    items: list[Any] = []
    comma = 0
    at = _skip(text, start + 1)
    while not text.startswith("]", at):
        if items and not comma:
            raise Broken("a comma or a closing bracket is missing", _line(text, at))
        value = _value(text, at)
        items.append(value.data)
        at, comma = _after(text, value.end)
    return _Value(start, at + 1, items)


def _after(text: str, at: int) -> tuple[int, int]:
    """Where the next thing stands after an entry, and where the comma between them ends, if there is one."""
    at = _skip(text, at)
    return (_skip(text, at + 1), at + 1) if text.startswith(",", at) else (at, 0)
