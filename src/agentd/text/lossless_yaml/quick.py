"""The plain YAML that most documents carry, read line by line: blocks of keys and lists with scalars on one line.

Gives up on anything else, so whatever it does give is what a full reader would have given.
"""

from functools import lru_cache
from typing import Any

from agentd.patterns import regex
from agentd.text.lossless_yaml.pieces import Leaf
from agentd.text.lossless_yaml.scalar import meaning

_LINE = regex(
    r"( *)(?:(-)(?: |$))?"  # how deep, and whether it is an item of a list
    r"(?:([A-Za-z_][\w.-]*):(?: |$))?"
    r"(?:([\w/][^:#]*(?:(?::(?=\S)|(?<=\S)#)[^:#]*)*)"
    r'|("[^"\\]*"|\[(?:[A-Za-z][\w.-]*(?:, [A-Za-z][\w.-]*)*)?\])? *)'
)
_ABSENT = object()


def quick(text: str, as_leaves: bool = False) -> dict[str, Any] | None:
    """What a mapping says, or where its scalars stand the leaves; None where it is not written in the plainest way."""
    lines = text.split("\n")
    if not "".join(lines).isprintable():
        return None
    root: dict[str, Any] = {}
    outer: list[tuple[int, Any]] = []
    level = 0
    block: Any = root  # the innermost open one
    waiting = ""  # a key of it whose value may stand below
    for line in lines:
        if not line:
            continue
        said = _said(line)
        if said is None:
            return None
        depth, dash, key, value, written = said
        if value.__class__ is tuple:
            value = list(value)
        if as_leaves and value is not _ABSENT:
            value = Leaf(written, value, flow=written[0] == "[")
        if depth != level or dash or waiting or block.__class__ is list:
            if waiting and (depth > level or (dash and depth == level)):
                inner: Any = [] if dash else {}
                block[waiting] = inner
                outer.append((level, block))
                level, block = depth, inner
            waiting = ""
            while outer and (level > depth or (not dash and block.__class__ is list)):
                level, block = outer.pop()
            if level != depth or (block.__class__ is list) != bool(dash):
                return None
        if dash and key is None and value is not _ABSENT:
            block.append(value)
            continue
        if dash:
            outer.append((level, block))
            block.append({})
            level, block = depth + 2, block[-1]
        if key is None or key in block:
            return None
        if value is _ABSENT:
            value, waiting = None, key
        block[key] = value
    return root or None


@lru_cache(maxsize=4096)
def _said(line: str) -> tuple[int, str | None, str | None, Any, str] | None:
    """A line by itself: how deep it is, its dash, its key, its value and how that is written. Most lines stand in many documents."""
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    pad, dash, key, plain, other = found.groups()
    if plain:
        plain = plain.rstrip(" ")
        return len(pad), dash, key, meaning(plain), plain
    return len(pad), dash, key, _value(other), other or ""


def _value(text: str | None) -> Any:
    """A text in quotes, a list of words, or nothing."""
    if text is None:
        return _ABSENT
    if text[0] == '"':
        return text[1:-1]
    return tuple(meaning(word) for word in text[1:-1].split(", ") if word)
