"""The output of a program as plain lines: without colours, and each workspace package by itself. Pure."""

import re
from collections.abc import Iterable, Sequence

from agentd.patterns import regex

# Longer lines are data, not reports; they are cut so that no pattern takes long on them.
LONGEST = 2000
HUGE_NUMBER = 9

_ANSI = regex(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
# pnpm -r: `packages/web test: …`; turbo: `web:test: …`
_PACKAGE = regex(r"^(?:[@\w./-]+ test|[@\w./-]+:test)(?::[\w:-]+)?: ?")


def plain(line: str) -> str:
    """The line without colour codes, and without what it overwrites."""
    shown = _ANSI.sub("", line) if "\x1b" in line else line
    return shown.rstrip("\r\n").rpartition("\r")[2]


def clean(lines: Iterable[str]) -> tuple[str, ...]:
    """The lines as a person sees them, cut at LONGEST."""
    return tuple(plain(line[: 4 * LONGEST])[:LONGEST].rstrip() for line in lines)


def regrouped(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines of each package of a workspace together and without its name, if they were printed side by side."""
    groups: dict[str, list[str]] = {"": []}
    for line in lines:
        match = _PACKAGE.match(line)
        groups.setdefault(match[0] if match else "", []).append(line[match.end() :] if match else line)
    return tuple(line for group in groups.values() for line in group)


def section(lines: Sequence[str], start: int, following: re.Pattern[str]) -> Sequence[str]:
    """The lines from a position to the next one that matches."""
    return lines[start : next((n for n in range(start, len(lines)) if following.match(lines[n])), len(lines))]


def number(text: str | None) -> int:
    """A number in an output; 0 if it is missing or too large to be a count."""
    return int(text) if text and text.isdecimal() and len(text) <= HUGE_NUMBER else 0
