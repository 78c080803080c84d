"""What a plain YAML scalar means, and how a value is spelled so that any YAML reader takes it for the same.

Reads the core of YAML 1.2: `on`, `yes`, times and `1:30` are text. Never spells a value in a way that a reader of
YAML 1.1 takes for something else, but for times, which people read more easily without quotes.
"""

import json
from collections.abc import Mapping
from datetime import datetime

from agentd.patterns import regex

CONSTANTS = {"": None, "~": None} | {
    spelled: value
    for word, value in (("null", None), ("true", True), ("false", False))
    for spelled in (word, word.title(), word.upper())
}
_INT = regex(r"[-+]?(0|[1-9][0-9]*)")
_HEX = regex(r"0x[0-9a-fA-F]+")
_FLOAT = regex(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_ODD_FLOAT = regex(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")

_PLAIN = regex(r"(?:[\w/]|\.[\w/])(?:[^:#]++|:(?=[^\s])|(?<=[^\s])#)*")
_PLAIN_IN_FLOW = regex(r"(?:[\w/]|\.[\w/])[^:#,\[\]{}\"'?&*!|>%@`]*")
_OTHER_TYPE = regex(r"(?i:null|true|false|yes|no|on|off|y|n)|[-+]?\.(?i:inf|nan)|[-+.]?[0-9][0-9a-fA-FxXoO_:.,+-]*")
_TIME = regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[-+][0-9]{2}:[0-9]{2})?)?")
_quoted = json.JSONEncoder(ensure_ascii=False).encode
_LONGEST_KEY = 1000  # a reader looks for the colon in the next 1024 characters


def meaning(text: str) -> str | int | float | bool | None:
    """The value of an unquoted scalar."""
    if text in CONSTANTS:
        return CONSTANTS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _INT.fullmatch(text):
        return int(text)
    if _HEX.fullmatch(text):
        return int(text, 16)
    if _FLOAT.fullmatch(text):
        return float(text)
    return float(text.replace(".", "", 1)) if _ODD_FLOAT.fullmatch(text) else text


def spell(value: object, flow: bool = False) -> str:
    """A scalar on one line; inside `[]` and `{}` more has to be quoted."""
    kind = type(value)
    if kind is str:
        return _spell_text(str(value), flow)
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return str(value)
    if isinstance(value, float):
        return _spell_float(value)
    raise TypeError(f"{kind.__name__} cannot be written as YAML")


def spell_key(key: object, flow: bool = False) -> str:
    """A key; always text, always on one line."""
    if type(key) is not str:
        raise TypeError(f"{type(key).__name__} cannot be a key in YAML")
    text = _spell_text(key, flow)
    if len(text) > _LONGEST_KEY:
        raise ValueError(f"a key of {len(text)} characters cannot be written as YAML")
    return text


def spell_flow(value: object) -> str:
    """A value of any shape on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{spell_key(key, True)}: {spell_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(spell_flow, value)) + "]"
    return spell(value, flow=True)


def spell_lines(text: str, pad: str, newline: str) -> str:
    """Text of several lines as a literal block; nothing if a block would not keep it as it is."""
    lines = text.removesuffix("\n").split("\n")
    if not all(line.isprintable() and line == line.rstrip() for line in lines):
        return ""
    if not lines[0] or not lines[-1] or lines[0][0] == " ":
        return ""
    header = "|" if text[-1] == "\n" else "|-"
    return newline.join([header, *(pad + line if line else "" for line in lines)])


def _spell_text(text: str, flow: bool) -> str:
    plain = (_PLAIN_IN_FLOW if flow else _PLAIN).fullmatch(text)
    if plain and text.isprintable() and text[-1] != " " and (not _OTHER_TYPE.fullmatch(text) or _is_time(text, flow)):
        return text
    quoted = _quoted(text)
    return quoted if quoted.isprintable() else "".join(map(_escape, quoted))


def _is_time(text: str, flow: bool) -> bool:
    if flow or not _TIME.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:  # a reader that knows times would stumble over the 31st of February
        return False
    return True


def _escape(char: str) -> str:
    if char.isprintable():
        return char
    if "\ud800" <= char <= "\udfff":
        raise ValueError(f"U+{ord(char):04X} is half a character and cannot be written as YAML")
    return f"\\U{ord(char):08X}"


def _spell_float(value: float) -> str:
    text = repr(value)
    if text in ("inf", "-inf", "nan"):
        return text.replace("inf", ".inf").replace("nan", ".nan")
    return text if "." in text else text.replace("e", ".0e")
