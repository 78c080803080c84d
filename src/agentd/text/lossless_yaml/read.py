"""Cuts a YAML text into its pieces at the marks of the parser's events; refuses what is not plain data."""

import re
from collections.abc import Iterator
from typing import Any

import yaml
from yaml import events

from agentd.errors import Corrupt
from agentd.patterns import regex
from agentd.text.lossless_yaml.pieces import Block, Entry, Leaf, Node, block, stamp
from agentd.text.lossless_yaml.place import BREAK as _BREAK
from agentd.text.lossless_yaml.place import BREAKS, corrupt, place
from agentd.text.lossless_yaml.scalar import meaning, spell

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNREADABLE = regex("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REST_OF_LINE = regex(f"[^{BREAKS}]*")
_EMPTY_LINE = regex(f"{_BREAK}([ \t]*)(?:#[^{BREAKS}]*)?(?=[{BREAKS}]|\\Z)")
_LAST_BREAK = regex(f"{_BREAK}\\Z")
_LAST_BREAKS = regex(f"{_BREAK}+\\Z")
_COLON = regex("[ \t]*:")
_DASH = regex(f"(?:[\\s\ufeff]|#[^{BREAKS}]*|[&!]\\S*)*+-")
_TAG = "tag:yaml.org,2002:"
_TYPES = {"int": (int,), "float": (float, int), "bool": (bool,), "null": (type(None),)}
_ENDS: Any = events.CollectionEndEvent  # the stubs know less of an event than the parser tells
_MOST_VALUES = 100_000


def read(text: str, path: str, loader: Any = LOADER) -> tuple[str, Node, str]:
    """What stands before the top-level mapping, the mapping, what stands after it."""
    odd = _UNREADABLE.search(text)
    if odd:
        line, column = place(text[: odd.start()])
        raise corrupt(path, line, column, f"the character U+{ord(odd[0]):04X} is not text")
    try:
        return _Reader(text, path, loader).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise corrupt(path, line, column, error.problem or error.context or "this is not YAML") from None
    except (yaml.YAMLError, RecursionError) as error:
        what = "it is nested too deeply" if isinstance(error, RecursionError) else " ".join(str(error).split())
        raise corrupt(path, 1, 1, what) from None


class _Reader:
    """One pass over the events; `anchors` keeps each value with the number of values in it."""

    def __init__(self, text: str, path: str, loader: Any) -> None:
        self.text = text
        self.path = path
        self.events: Iterator[Any] = yaml.parse(text, Loader=loader)
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.anchored = 0
        self.values = 0
        self.end = 0

    def document(self) -> tuple[str, Node, str]:
        next(self.events)
        start = next(self.events)
        top = next(self.events, start)
        if not isinstance(top, events.MappingStartEvent):
            empty = start is top or getattr(top, "value", None) == ""
            raise self.error(top, "the file is empty" if empty else "the file must be a mapping: keys with values")
        before, root, end = self.value(top, 0, -1)
        next(self.events)
        more = next(self.events)
        if not isinstance(more, events.StreamEndEvent):
            raise self.error(more, "a second document begins here, but a file holds one")
        return before, root, self.text[end:]

    def value(self, event: Any, at: int, indent: int) -> tuple[str, Node, int]:
        """The space after `at`, the value of an entry at `indent`, and where its lines end."""
        if isinstance(event, events.CollectionStartEvent) and not event.flow_style:
            return "", *self.block(event, at, indent)
        anchored = self.anchored
        data = self.data(event)
        start, end = event.start_mark.index, self.end
        if start == end:
            start = end = at
        written, keep = self.text[start:end], False
        if getattr(event, "style", None) in ("|", ">"):
            written, keep = _trimmed(written, data)
            end = start + len(written) if self.text.startswith(written, start) else end
        rest = _REST_OF_LINE.match(self.text, end)
        stop = self.below(rest.end() if rest else end, indent)
        flow = isinstance(event, events.CollectionStartEvent)
        leaf = Leaf(written, data, self.text[end:stop], self.anchored > anchored, flow, keep)
        return self.text[at:start], leaf, stop

    def block(self, event: Any, at: int, parent: int) -> tuple[Block, int]:
        is_map = isinstance(event, events.MappingStartEvent)
        self.check_tag(event)
        anchored, values = self.anchored, self.values
        entries: list[Entry] = []
        lines: dict[str, int] = {}
        indent = 0
        while not isinstance(item := next(self.events), _ENDS):
            key, start, end = self.key(item, lines) if is_map else self.dash(at)
            if not entries:
                indent = item.start_mark.column if is_map else start - _line_start(self.text, start)
            gap, value, stop = self.value(next(self.events) if is_map else item, end, indent)
            entries.append(Entry(key, self.text[at:start], self.text[start:end], gap, value))
            at = stop
        stop = self.below(at, parent)
        trail = self.text[at:stop]
        pinned = event.anchor is not None
        within = pinned or self.anchored > anchored
        made = block(tuple(entries), indent, is_map, trail, pinned, within, event.tag is not None)
        if pinned:
            self.remember(event, made.data, self.values - values)
        return made.stamped(stamp(made.data)), stop

    def key(self, event: Any, lines: dict[str, int]) -> tuple[str, int, int]:
        name = self.name(event, lines)
        colon = _COLON.match(self.text, event.end_mark.index)
        if not colon:
            raise self.error(event, "a key and its colon must stand on one line, without '?'")
        return name, event.start_mark.index, colon.end()

    def name(self, event: Any, lines: dict[str, int]) -> str:
        """A key as text, whatever it looks like."""
        line = event.start_mark.line + 1
        if not isinstance(event, events.ScalarEvent) or event.anchor:
            raise self.error(event, "a key must be a word, without '&' or '*'")
        name = str(event.value)
        if name == "<<" and not event.style:
            raise self.error(event, "'<<' is not read here; write the keys out")
        if name in lines:
            raise self.error(event, f"the key '{name}' was there already on line {lines[name]}")
        lines[name] = line
        return name

    def dash(self, at: int) -> tuple[str, int, int]:
        found = _DASH.match(self.text, at)
        assert found, "a list item begins with a dash"
        return "", found.end() - 1, found.end()

    def data(self, event: Any) -> Any:
        """The value of a scalar, an alias or a flow collection; leaves `end` where its text ends."""
        values = self.values
        self.values += 1
        self.end = event.end_mark.index
        if isinstance(event, events.AliasEvent):
            return self.recall(event)
        data = self.scalar(event) if isinstance(event, events.ScalarEvent) else self.collection(event)
        if event.anchor:
            self.remember(event, data, self.values - values)
        return data

    def collection(self, event: Any) -> Any:
        self.check_tag(event)
        is_map = isinstance(event, events.MappingStartEvent)
        found: dict[str, Any] = {}
        items: list[Any] = []
        lines: dict[str, int] = {}
        while not isinstance(item := next(self.events), _ENDS):
            if is_map:
                name = self.name(item, lines)
                found[name] = self.data(next(self.events))
            else:
                items.append(self.data(item))
        self.end = item.end_mark.index
        return found if is_map else items

    def scalar(self, event: Any) -> Any:
        tag = event.tag.removeprefix(_TAG) if event.tag else ""
        if tag in ("!", "str") or (not tag and event.style):
            return event.value
        try:
            data = meaning(event.value)
        except ValueError:
            raise self.error(event, "the number is too long") from None
        if tag and type(data) not in _TYPES.get(tag, ()):
            raise self.error(event, f"the tag {event.tag} does not make this plain data")
        return float(data) if tag == "float" and data is not None else data

    def check_tag(self, event: Any) -> None:
        expected = "map" if isinstance(event, events.MappingStartEvent) else "seq"
        if event.tag not in (None, "!", _TAG + expected):
            raise self.error(event, f"the tag {event.tag} does not make this plain data")

    def remember(self, event: Any, data: Any, values: int) -> None:
        self.anchored += 1
        self.anchors[event.anchor] = data, values

    def recall(self, event: Any) -> Any:
        if event.anchor not in self.anchors:
            raise self.error(event, f"there is no complete value &{event.anchor} before this")
        data, values = self.anchors[event.anchor]
        self.values += values
        if self.values > _MOST_VALUES:
            raise self.error(event, "the aliases stand for too many values")
        return data

    def below(self, at: int, indent: int) -> int:
        """Where the comments and spaces end that are indented deeper than `indent`: they belong to what is above."""
        end = at
        while indent >= 0 and (line := _EMPTY_LINE.match(self.text, at)):
            at = line.end()
            if len(line[1]) > indent or "\t" in line[1]:
                end = at
        return end

    def error(self, event: Any, what: str) -> Corrupt:
        return corrupt(self.path, event.start_mark.line + 1, event.start_mark.column + 1, what)


def _trimmed(written: str, data: str) -> tuple[str, bool]:
    """A block scalar without the line breaks that end it, and whether the blank lines after it are its own."""
    keep = "+" in re.split("[#\r\n]", written, maxsplit=1)[0]
    if not _LAST_BREAK.search(written):  # the file ends in it; a line added below would add a line break to it
        return spell(data), False
    return (_LAST_BREAK if keep else _LAST_BREAKS).sub("", written), keep


def _line_start(text: str, at: int) -> int:
    return max(text.rfind(char, 0, at) for char in BREAKS) + 1
