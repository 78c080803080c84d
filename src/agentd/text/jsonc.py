"""JSON with comments: entries put into a text that a person keeps by hand, every other character left as it is.

It takes what editors and agents take: `//` and `/* */` comments, commas after the last entry.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agentd.patterns import regex
from agentd.text.spacing import line_end

_STRING = r'"(?:[^"\\]|\\.)*"'
_COMMENT = regex(rf"{_STRING}|//[^\n]*|/\*.*?\*/|\A\ufeff", re.DOTALL)
_LAST_COMMA = regex(rf"{_STRING}|[{{\[]\s*,|,(?=\s*[}}\]])", re.DOTALL)
_COMMA = regex(r"\s*,")
_BESIDE = regex(r"(?:[ \t]*(?:/\*[^\n]*?\*/))*(?:[ \t]*//[^\n]*?(?=\r?\n|\Z))?")
_UNIT = regex(r"\n([ \t]+)[\"}]")
_SPACE = " \t\r\n"
_decode = json.JSONDecoder().raw_decode

_Edit = tuple[int, int, str]


class Broken(ValueError):
    """A text that is no object in JSON with comments, and the line where that shows."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.line = line


class _Value(NamedTuple):
    start: int
    end: int
    data: Any


class _Object(NamedTuple):
    """The entries of an object, and where its braces are and its first entry begins and its last one ends."""

    entries: Mapping[str, _Value]
    start: int
    end: int
    first: int
    last: int


def loaded(text: str) -> dict[str, Any]:
    """What a text holds."""
    return _Page(text).data


def merged(text: str, wanted: Mapping[str, Any]) -> str:
    """The text with everything wanted in it; itself, if it was there. What is wanted replaces what is in its place."""
    page = _Page(text)
    if page.is_empty:
        joint = page.newline if text and not text.endswith("\n") else ""
        return text + joint + page.spell(wanted, "") + page.newline
    for start, end, new in sorted(page.edits(page.start, wanted), reverse=True):
        text = text[:start] + new + text[end:]
    return text


class _Page:
    """A text, and the same as plain JSON: blanks stand in the place of comments and of commas after last entries."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.newline = line_end(text)
        unit = _UNIT.search(text)
        self.unit = unit[1] if unit else "  "
        self.bare = _COMMENT.sub(_blank, text)
        self.plain = _LAST_COMMA.sub(_blank, self.bare)
        self.start = self._skip(0)
        self.is_empty = self.start == len(text)
        self.data: dict[str, Any] = {} if self.is_empty else self._load()

    def _load(self) -> dict[str, Any]:
        try:
            data = json.loads(self.plain)
        except json.JSONDecodeError as error:
            raise Broken(f"{error.msg} (column {error.colno})", error.lineno) from None
        except RecursionError:
            raise Broken("it is nested too deeply", 1) from None
        except ValueError:
            long = re.search(r"[0-9]{4300}", self.plain)
            raise Broken("a number is too long", self._line(long.start() if long else 0)) from None
        if not isinstance(data, dict):
            raise Broken("it holds something else than an object", self._line(self.start))
        return data

    def _skip(self, at: int) -> int:
        while self.plain[at : at + 1] and self.plain[at] in _SPACE:
            at += 1
        return at

    def _line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1

    def _object(self, start: int) -> _Object:
        entries: dict[str, _Value] = {}
        at = first = last = self._skip(start + 1)
        while self.plain[at] != "}":
            name, end = _decode(self.plain, at)
            begin = self._skip(self.plain.index(":", end) + 1)
            data, last = _decode(self.plain, begin)
            entries[name] = _Value(begin, last, data)
            at = self._skip(last)
            at = self._skip(at + 1) if self.plain[at] == "," else at
        return _Object(entries, start, at, first, last)

    def edits(self, start: int, wanted: Mapping[str, Any]) -> Iterator[_Edit]:
        """What to put where so that everything wanted is in the object that begins at a place."""
        place = self._object(start)
        for name in wanted.keys() & place.entries.keys():
            found, value = place.entries[name], wanted[name]
            if isinstance(value, Mapping):
                if not isinstance(found.data, dict):
                    raise Broken(f"'{name}' is no object", self._line(found.start))
                yield from self.edits(found.start, value)
            elif json.dumps(found.data) != json.dumps(value):
                yield found.start, found.end, self.spell(value, self._indent(found.start))
        new = {name: value for name, value in wanted.items() if name not in place.entries}
        if new:
            yield from self._insert(place, new) if place.entries else self._fill(place, new)

    def _insert(self, place: _Object, new: Mapping[str, Any]) -> Iterator[_Edit]:
        """New entries after the last one and the comments beside it, in the manner of the first."""
        comma = _COMMA.match(self.bare, place.last)
        at = comma.end() if comma else place.last
        beside = _BESIDE.match(self.text, at)
        assert beside is not None
        spread = "\n" in self.text[place.start : place.first]
        indent = self._indent(place.first) if spread else self._indent(place.start) + self.unit
        gap = self.newline + indent if spread or "//" in beside[0] else " "
        added = beside[0] + gap + self._entries(new, gap, indent, spread)
        yield at, beside.end(), added + "," if comma else "," + added

    def _fill(self, place: _Object, new: Mapping[str, Any]) -> Iterator[_Edit]:
        """The first entries of an empty object, below the comments in it."""
        at = place.start + len(self.text[place.start : place.end].rstrip(_SPACE))
        outer = self.newline + self._indent(place.start)
        added = outer + self.unit + self._entries(new, outer + self.unit, self._indent(place.start) + self.unit)
        yield at, at, added if "\n" in self.text[at : place.end] else added + outer

    def _indent(self, at: int) -> str:
        """The white space that the line of a place begins with."""
        line = self.text[self.text.rfind("\n", 0, at) + 1 :]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _entries(self, new: Mapping[str, Any], gap: str, indent: str, spread: bool = True) -> str:
        return f",{gap}".join(f"{json.dumps(name)}: {self.spell(value, indent, spread)}" for name, value in new.items())

    def spell(self, value: Any, indent: str, spread: bool = True) -> str:
        """A value as text, on one line or `spread` over several."""
        spelled = json.dumps(value, indent=self.unit if spread else None, ensure_ascii=False)
        return spelled.replace("\n", self.newline + indent)


def _blank(found: re.Match[str]) -> str:
    return found[0] if found[0][0] in '"{[' else re.sub(r"[^\r\n]", " ", found[0])
