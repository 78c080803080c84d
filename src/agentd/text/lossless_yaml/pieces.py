"""A YAML text as pieces that join to it exactly, and new pieces for new values; nothing here reads text."""

import marshal
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from agentd.text.lossless_yaml.scalar import spell, spell_key, spell_lines

STEP = 2
COLLECTIONS = (dict, list, tuple, Mapping)


class Leaf(NamedTuple):
    """A value that is changed as a whole: a scalar, a flow collection or an alias.

    tail      the rest of its line and the comments indented below it
    anchored  an alias elsewhere may stand for it, so it must not change
    keep      a block scalar to which the blank lines after it belong
    """

    written: str
    data: Any
    tail: str = ""
    anchored: bool = False
    flow: bool = False
    keep: bool = False

    @property
    def text(self) -> str:
        return self.written + self.tail


class Entry(NamedTuple):
    """One key or item: what stands before it, `key:` or `-`, the space before its value, the value."""

    key: str
    lead: str
    head: str
    gap: str
    value: "Node"

    @property
    def text(self) -> str:
        return f"{self.lead}{self.head}{self.gap}{self.value.text}"


class Block(NamedTuple):
    """A block collection. `trail` is what stands below its last entry and still belongs to it.

    texts     those of its entries
    stamp     tells quickly that other data is the same; may be missing
    pinned    it has an anchor itself, so that nothing in it may change
    anchored  it or something in it has one, so that it may not go away
    """

    entries: tuple[Entry, ...]
    indent: int
    trail: str
    texts: tuple[str, ...]
    text: str
    data: Any
    stamp: bytes
    pinned: bool = False
    anchored: bool = False
    tagged: bool = False

    def having(self, entries: Iterable[Entry], trail: str) -> "Block":
        """The same block with other entries, not stamped."""
        is_map = isinstance(self.data, dict)
        return block(tuple(entries), self.indent, is_map, trail, self.pinned, self.anchored, self.tagged)

    def putting(self, fresh: Mapping[int, Entry]) -> "Block":
        """The same map with other entries for some of its keys, by their position, not stamped."""
        entries, texts, data = list(self.entries), list(self.texts), dict(self.data)
        for at, item in fresh.items():
            entries[at], texts[at], data[item.key] = item, item.text, item.value.data
        text = "".join(texts) + self.trail
        return self._replace(entries=tuple(entries), texts=tuple(texts), text=text, data=data, stamp=b"")

    def stamped(self, stamp: bytes) -> "Block":
        return self._replace(stamp=stamp)


Node: TypeAlias = Leaf | Block


def block(
    entries: tuple[Entry, ...],
    indent: int,
    is_map: bool,
    trail: str = "",
    pinned: bool = False,
    anchored: bool = False,
    tagged: bool = False,
) -> Block:
    """A block collection of these entries, not stamped."""
    texts = tuple([item.text for item in entries])
    values = [item.value.data for item in entries]
    data = dict(zip((item.key for item in entries), values, strict=True)) if is_map else values
    return Block(entries, indent, trail, texts, "".join(texts) + trail, data, b"", pinned, anchored, tagged)


def stamp(value: Any) -> bytes:
    """Bytes that only the same value has; none for a value that is not made of plain dicts and lists."""
    try:
        return marshal.dumps(value, 2)  # the last version that does not depend on which objects are shared
    except ValueError:
        return b""


def build(value: object, indent: int, newline: str, tail: str, lead: str) -> Node:
    """A new value inside a collection at `indent`; `lead` comes before its first entry, `tail` after its last line.

    A leaf among the values stays as it is.
    """
    if isinstance(value, Leaf):
        return value
    if not value or value.__class__ is str or not isinstance(value, COLLECTIONS):
        return leaf(value, indent, newline, tail)
    if isinstance(value, Mapping):
        heads = [(key, f"{spell_key(key)}:", item) for key, item in value.items()]
    else:
        heads = [("", "-", item) for item in value]
    inner = indent + STEP
    between = newline + " " * inner
    last = len(heads) - 1
    entries = tuple(
        entry(key, between if n else lead, head, item, inner, newline, "" if n < last else tail)
        for n, (key, head, item) in enumerate(heads)
    )
    made = block(entries, inner, isinstance(value, Mapping))
    return made.stamped(stamp(made.data))


def entry(key: str, lead: str, head: str, value: object, indent: int, newline: str, tail: str = "") -> Entry:
    """A new entry of a collection at `indent`; a collection in a list starts on the line of its dash."""
    node = build(value, indent, newline, tail, " " if head == "-" else newline + " " * (indent + STEP))
    return Entry(key, lead, head, "" if isinstance(node, Block) else " ", node)


def leaf(value: object, indent: int, newline: str, tail: str) -> Leaf:
    """A new scalar or empty collection. With a tail it must end on its own line, so it is no literal block."""
    if tail.startswith("#"):
        tail = " " + tail
    if isinstance(value, Mapping):
        return Leaf("{}", {}, tail, flow=True)
    if isinstance(value, list | tuple):
        return Leaf("[]", [], tail, flow=True)
    written = spell(value)
    if isinstance(value, str) and "\n" in value and not tail:
        written = spell_lines(value, " " * (indent + STEP), newline) or written
    return Leaf(written, value, tail)


def plain(value: Any) -> Any:
    """A copy made of dicts and lists."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def same(old: Any, new: Any) -> bool:
    """Whether two values are written alike: unlike for Python, 1 is neither 1.0 nor true."""
    if isinstance(old, dict):
        return isinstance(new, Mapping) and old.keys() == new.keys() and all(same(old[key], new[key]) for key in old)
    if isinstance(old, list):
        return isinstance(new, list | tuple) and len(old) == len(new) and all(map(same, old, new))
    return type(old) is type(new) and bool(old == new or (old != old and new != new))
