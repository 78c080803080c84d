"""A stamp: what a line of the diary says about the time since the line before it. Whatever else stands there is no stamp.

Times are seconds since the start of the command, by a clock that nobody can set.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

# Parts that are not agentd's own time, and whose they are.
AGENT = "agent"
SERVICE = "service"
COMMAND = "command"
PERSON = "person"
CHILDREN = "children"
OWNERS = {AGENT: "agent", SERVICE: "agent", COMMAND: "project", PERSON: "person", CHILDREN: "children"}
OWN = "agentd"
# What can be seen of an agent's time from outside: until its first line, and until it asked for its tools.
FIRST_LINE = "first line"
TOOLS_ASKED = "tools asked for"
# What a command does before its first step.
STARTUP = ("interpreter", "imports", "open", "opening")
# What is left between the last part and the line.
REST = "outcome"
LONGEST = 10 * 365 * 86400.0
MOST = 1000


class Inner(NamedTuple):
    """Something seen inside of a part."""

    name: str
    start: float
    end: float


class Part(NamedTuple):
    """A part of the time between two lines; `about` says more, such as the name of the agent."""

    name: str
    start: float
    end: float
    about: str = ""
    inner: tuple[Inner, ...] = ()

    @property
    def owner(self) -> str:
        return OWNERS.get(self.name, OWN)


class Stamp(NamedTuple):
    """The time between two lines, without a gap in it: the parts follow each other from `start` to `end`."""

    id: str
    command: str
    start: float
    end: float
    parts: tuple[Part, ...]


def read_stamp(event: Mapping[str, Any], not_before: float = 0.0) -> Stamp | None:
    """The stamp of a line of the diary; None if it has none that can be.

    Nothing in it begins before `not_before`, before what it follows, or ends after the line was written.
    """
    found = event.get("clock")
    if not isinstance(found, Mapping):
        return None
    name, start, end = found.get("id"), _seconds(found.get("from")), _seconds(found.get("to"))
    if not isinstance(name, str) or not name or start is None or end is None or end < start:
        return None
    start = max(start, not_before)
    end = max(end, start)
    listed = found.get("parts")
    parts: list[Part] = []
    for entry in listed[:MOST] if isinstance(listed, list) else ():
        part = _part(entry, parts[-1].end if parts else start, end)
        if part is not None:
            parts.append(part)
    since = parts[-1].end if parts else start
    if since < end:
        parts.append(Part("gate" if event.get("event") in ("begin", "skip", "ask") else REST, since, end))
    return Stamp(name, _text(found.get("command")), start, end, tuple(parts))


def _part(entry: Any, start: float, latest: float) -> Part | None:
    match entry:
        case [str(name), ended, *more]:
            end = _seconds(ended)
        case _:
            return None
    if end is None:
        return None
    end = min(max(end, start), latest)
    about = _text(more[0]) if more else ""
    inner = more[1] if len(more) > 1 and isinstance(more[1], list) else []
    seen = (_inner(one, start, end) for one in inner[:MOST])
    return Part(name, start, end, about, tuple(one for one in seen if one is not None))


def _inner(entry: Any, start: float, end: float) -> Inner | None:
    match entry:
        case [str(name), begun, ended]:
            first, last = _seconds(begun), _seconds(ended)
            if first is None or last is None or last < start or first > end:
                return None
            first = min(max(first, start), end)
            return Inner(name, first, min(max(last, first), end))
    return None


def _seconds(value: Any) -> float | None:
    """A time that can be; a small negative one is a rounding."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1.0 <= value <= LONGEST:
        return None
    return max(0.0, float(value))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
