"""Lists of names in a text: in backticks, in brackets, between commas, or as bullets."""

import re
from collections.abc import Sequence

from agentd.patterns import regex

ID = regex(r"-*[a-z0-9][a-z0-9-]*")
_NOTHING = ("", "-", "none", "none.", "n/a", "n/a.")
_SEPARATOR = regex("[,，、;；]")
_USUAL = regex(r"`[\w/][^` ]*`(?:, `[\w/][^` ]*`)*")
_TOKEN = regex(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)|([,，、;；])|[^`,，、;；]+|`+")


def is_spec(name: str) -> bool:
    """Whether a word can be the name of a spec; `none` cannot."""
    return ID.fullmatch(name) is not None and name != "none"


def names(lines: Sequence[str]) -> tuple[str, ...]:
    """The names in the lines of a label."""
    return tuple(name for name, _ in noted(lines))


def noted(lines: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The names, each with the text right after it; for a name without backticks that is part of the name."""
    first = [line.strip() for line in lines if line.strip()]
    if len(first) == 1 and _USUAL.fullmatch(first[0]):
        found = [(name, "") for name in first[0][1:-1].split("`, `")]
    else:
        below = [item for item in first if re.match(r"[-*+][ \t]", item)]
        head = " ".join(first[: first.index(below[0])] if below else first)
        found = _pieces(head[1:-1] if head.startswith("[") and head.endswith("]") else head)
        for item in below:
            found += _pieces(item[1:].strip()) if "`" in item else [(item[1:].strip(), "")]
    return tuple(each for each in found if each[0].strip().casefold() not in _NOTHING)


def span(text: str) -> str:
    """A code span of exactly this text."""
    ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _pieces(text: str) -> list[tuple[str, str]]:
    """The names between commas; of a piece with code spans, only the spans, each with the text after it."""
    if "`" not in text:
        return [(part.strip().strip("\"'"), "") for part in _SEPARATOR.split(text)]
    found: list[tuple[str, str]] = []
    spans: list[tuple[str, str]] = []
    plain = ""
    for token in _TOKEN.finditer(text + ","):
        if token[2]:
            inner = token[2]
            spans.append((inner[1:-1] if inner[0] == inner[-1] == " " and inner.strip(" ") else inner, ""))
        elif not token[3]:
            plain += token[0]
            if spans:
                spans[-1] = (spans[-1][0], spans[-1][1] + token[0])
        else:
            found += spans or [(plain.strip().strip("\"'"), "")]
            spans, plain = [], ""
    return found
