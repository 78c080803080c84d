"""YAML that people edit too: a change of the data changes only its own place in the text.

The text is cut into pieces once; an update swaps pieces and never parses. Comments, order, quotes and indentation of
everything else stay as they are, byte for byte. Times and words like `on` are text, and so is every key.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from agentd.errors import Corrupt
from agentd.patterns import regex
from agentd.text.lossless_yaml.load import cut
from agentd.text.lossless_yaml.load import load as load
from agentd.text.lossless_yaml.pieces import (
    COLLECTIONS,
    STEP,
    Block,
    Entry,
    Leaf,
    Node,
    build,
    entry,
    leaf,
    plain,
    same,
    stamp,
)
from agentd.text.lossless_yaml.place import BREAK, BREAKS, corrupt, place
from agentd.text.lossless_yaml.scalar import spell, spell_flow, spell_key
from agentd.values import dataclass

_MARK = "\ufeff"
_LAST_LINE = regex(f"{BREAK}[^{BREAKS}]*\\Z")
_WIDEST_FLOW = 100
_GONE = object()


@dataclass(frozen=True)
class Document:
    """A text and what it means. `data` is a copy: `updated` is the only way to change the text."""

    text: str
    path: str
    newline: str
    before: str
    root: Node
    after: str

    @cached_property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = plain(self.root.data)
        return found

    def updated(self, new: Mapping[str, Any]) -> "Document":
        """The document that says `new`; itself if it does already."""
        old, before = self.root, self.before
        if isinstance(old, Block):
            root: Node | None = self._inside(old, new)
        else:
            root = old if same(old.data, new) else None
        if root is old:
            return self
        if root is None:
            before, root = self._new_root(new)
        return Document(f"{before}{root.text}{self.after}", self.path, self.newline, before, root, self.after)

    def _inside(self, block: Block, new: object) -> Block | None:
        """The block changed in place; None if it has to be written anew."""
        if not new or not isinstance(new, Mapping if isinstance(block.data, dict) else list | tuple):
            return None
        changed = self._map(block, new) if isinstance(new, Mapping) else self._list(block, new)
        if block.pinned and changed is not block:
            raise self._refusal()
        return changed

    def _map(self, block: Block, new: Mapping[str, Any]) -> Block:
        if new.keys() == block.data.keys():
            return self._with_values(block, new)
        values = [new.get(item.key, _GONE) for item in block.entries]
        added: list[tuple[str, str, Any]] = []
        if len(new) > len(values) - values.count(_GONE):
            known = {item.key for item in block.entries}
            added = [(key, f"{spell_key(key)}:", value) for key, value in new.items() if key not in known]
        return self._block(block, values, added)

    def _with_values(self, block: Block, new: Mapping[str, Any]) -> Block:
        """The map when no key comes or goes. Most values are text that stays."""
        fresh = {}
        for at, (key, old) in enumerate(block.data.items()):
            value = new[key]
            if value is old or (value.__class__ is str and old.__class__ is str and value == old):
                continue
            item = self._entry(block.entries[at], value, block.indent)
            if item is not block.entries[at]:
                fresh[at] = item
        return block.putting(fresh) if fresh else block

    def _list(self, block: Block, new: Any) -> Block:
        size = len(block.entries)
        values = [*new[:size], *[_GONE] * (size - len(new))]
        return self._block(block, values, [("", "-", value) for value in new[size:]])

    def _block(self, block: Block, values: list[Any], added: list[tuple[str, str, Any]]) -> Block:
        entries: list[Entry] = []
        changed = bool(added)
        lead: str | None = None  # of an entry taken away: the comments in it stay
        for item, value in zip(block.entries, values, strict=True):
            if value is _GONE:
                lead = self._without(item, lead, entries)
                changed = True
                continue
            fresh = self._entry(item, value, block.indent)
            if lead is not None:
                fresh, lead = fresh._replace(lead=_joined(lead, fresh.lead)), None
            changed = changed or fresh is not item
            entries.append(fresh)
        if not changed:
            return block
        trail = block.trail
        for key, head, value in added:
            here = f"{trail}{self.newline}{' ' * block.indent}"
            here, lead, trail = here if lead is None else _joined(lead, here), None, ""
            entries.append(entry(key, here, head, value, block.indent, self.newline))
        return block.having(entries, trail if lead is None else _above(lead) + trail)

    def _without(self, item: Entry, lead: str | None, kept: list[Entry]) -> str:
        if item.value.anchored:
            raise self._refusal()
        if kept:
            kept[-1] = self._sealed(kept[-1])
        return item.lead if lead is None else _joined(lead, item.lead)

    def _entry(self, item: Entry, new: object, indent: int) -> Entry:
        old = item.value
        if isinstance(old, Leaf):
            return item if same(old.data, new) else self._new_value(item, new, indent)
        seen = stamp(new)
        if seen and seen == old.stamp:
            return item
        value = self._inside(old, new)
        if value is None:
            return self._new_value(item, new, indent)
        return item if value is old else item._replace(value=value.stamped(seen))

    def _new_value(self, item: Entry, new: Any, indent: int) -> Entry:
        """The entry with its value written anew; comments between key and value, and after it, stay."""
        old = item.value
        if old.anchored:
            raise self._refusal()
        if isinstance(old, Leaf) and not isinstance(new, COLLECTIONS):
            return item._replace(gap=item.gap or " ", value=leaf(new, indent, self.newline, old.tail))
        below = f"{self.newline}{' ' * (indent + STEP)}"
        if isinstance(old, Leaf):
            space, tail = item.gap, old.tail
            if old.flow and old.data and new and isinstance(new, Mapping | list | tuple):
                flow = spell_flow(new)
                if len(flow) <= _WIDEST_FLOW:
                    return item._replace(value=old._replace(written=flow, data=plain(new)))
        else:
            space, tail = "" if old.tagged else old.entries[0].lead, ""
        comments = _above(space) + below if "#" in space else ""
        value = build(new, indent, self.newline, tail, comments or (" " if item.head == "-" else below))
        if isinstance(value, Block):
            return item._replace(gap="", value=value)
        return item._replace(gap=(item.gap if isinstance(old, Leaf) else comments) or " ", value=value)

    def _new_root(self, new: Mapping[str, Any]) -> tuple[str, Node]:
        old = self.root
        if old.anchored:
            raise self._refusal()
        before, tail = (self.before, old.tail) if isinstance(old, Leaf) else (old.entries[0].lead, "")
        if not new:
            return before, Leaf("{}", {}, tail)
        lead = before.rstrip(" \t")
        if lead and lead[-1] not in BREAKS + _MARK:
            lead += self.newline
        return "", build(new, -STEP, self.newline, tail, lead)

    def _sealed(self, item: Entry) -> Entry:
        """The entry, ending in a way that blank lines below it add nothing to its value."""
        value: Node = item.value
        if isinstance(value, Block):
            *others, last = value.entries
            sealed = self._sealed(last)
            return item if sealed is last else item._replace(value=value.having([*others, sealed], value.trail))
        if not value.keep:
            return item
        if value.anchored:
            raise self._refusal()
        return item._replace(value=Leaf(spell(value.data), value.data, value.tail))

    def _refusal(self) -> Corrupt:
        return Corrupt(
            f"{self.path} cannot be updated: a value that has to change carries an anchor (&).",
            f"${{EDITOR:-vi}} {self.path}   # write the values out, without & and *",
        )


def parse(text: str, path: str) -> Document:
    """The document of a text; Corrupt, with the place, if it is not one mapping of plain data."""
    mark = _MARK if text.startswith(_MARK) else ""
    before, root, after = cut(text.removeprefix(_MARK), path)
    first = re.search(BREAK, text) if "\r" in text else None
    newline = first[0] if first and first[0] in ("\r\n", "\r") else "\n"
    if isinstance(root, Block):
        first_entry = root.entries[0]
        root = root.having([first_entry._replace(lead=mark + first_entry.lead), *root.entries[1:]], root.trail)
    else:
        before = mark + before
    return Document(text, path, newline, before, root, after or newline)


def parse_bytes(data: bytes, path: str) -> Document:
    """The document of a file's content."""
    try:
        return parse(data.decode("utf-8"), path)
    except UnicodeDecodeError as error:
        line, column = place(data[: error.start].decode("utf-8"))
        raise corrupt(path, line, column, f"the byte 0x{data[error.start]:02X} is not UTF-8 text") from None


def dump(data: Mapping[str, Any]) -> str:
    """A new text, keys in the order given."""
    return build(data, -STEP, "\n", "", "").text + "\n"


def _above(lead: str) -> str:
    """A lead without its last line break and what follows it."""
    last = _LAST_LINE.search(lead)
    return lead[: last.start()] if last else lead.rstrip()


def _joined(gone: str, lead: str) -> str:
    """The lead of an entry that takes the place of one before it."""
    last = _LAST_LINE.search(gone)
    return gone[: last.start()] + lead if last else gone + lead.lstrip(f" \t{BREAKS}")
