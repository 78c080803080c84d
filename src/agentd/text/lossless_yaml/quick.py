"""The plain YAML that most documents carry, read line by line: blocks of keys and lists with scalars on one line.

Gives up on anything else, so whatever it does give is what a full reader would have given.
"""

import re
from typing import Any

from agentd.text.lossless_yaml.scalar import CONSTANTS, meaning

_LINE = re.compile(
    r"( *)(?:(-)(?: |$))?"  # how deep, and whether it is an item of a list
    r"(?:([A-Za-z_][\w.-]*):(?: |$))?"
    r"(?:([\w/][^:#]*(?:(?::(?=\S)|(?<=\S)#)[^:#]*)*)"
    r'|("[^"\\]*"|\[(?:[A-Za-z][\w.-]*(?:, [A-Za-z][\w.-]*)*)?\])? *)'
)
_ABSENT = object()


def quick(text: str) -> dict[str, Any] | None:
    """What a mapping says; None where it is not written in the plainest way."""
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
        body = line.lstrip(" ") if line[0] == " " else line
        key, colon, plain = body.partition(": ")
        if colon and key.isidentifier() and _is_plain(plain):  # most lines; the pattern would say the same
            depth, dash = len(line) - len(body), None
            value: Any = plain if plain[0].isalpha() and plain not in CONSTANTS else meaning(plain)
            if depth == level and not waiting and block.__class__ is dict:
                if key in block:
                    return None
                block[key] = value
                continue
        else:
            found = _LINE.fullmatch(line)
            if found is None:
                return None
            pad, dash, key, plain, other = found.groups()
            depth = len(pad)
            value = meaning(plain.rstrip(" ")) if plain else _value(other)
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


def _is_plain(text: str) -> bool:
    return text[:1].isalnum() and ": " not in text and " #" not in text and text[-1] not in ": "


def _value(text: str | None) -> Any:
    """A text in quotes, a list of words, or nothing."""
    if text is None:
        return _ABSENT
    if text[0] == '"':
        return text[1:-1]
    return [meaning(word) for word in text[1:-1].split(", ") if word]
