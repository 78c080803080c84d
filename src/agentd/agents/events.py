"""What adapters share to read a transcript: its events, how the program ended, and the class of a failure.

A transcript begins and ends with a line of agentd's own: `{"agentd": "begin", …}` and `{"agentd": "end", …}`.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from agentd.model.job import Failure, Reply
from agentd.patterns import regex
from agentd.values import dataclass

Event = Mapping[str, Any]

BEGIN, END = "begin", "end"
# The error of a program that printed its help instead of a result.
UNKNOWN = "it does not know an argument it was started with; `args` in its section of the configuration adds some"
_STATUS = regex(r"(?<![\d.])([45]\d\d)(?![\d.])")
_ADDRESS = regex(r"https?://\S+")
_WAIT = regex(r"(?i)retry[-_ ]?(?:after|in)\D{0,12}?(\d+(?:\.\d+)?)\s*(ms|m(?:in(?:ute)?s?)?\b|h(?:ours?)?\b)?")
_LOST = regex(
    r"(?i)(?:session|thread|conversation|rollout)\b.{0,80}?\b(?:not found|does not exist|no such|invalid)|no (?:conversation|session|rollout|saved session)\b.{0,40}?\bfound"
)
_QUOTA = regex(
    r"(?i)(?<!check )quota|usage limit|insufficient.{0,10}(?:credit|balance|funds)|credit balance|billing|limit (?:will )?resets?|out of credits|payment required"
)
_AUTH = regex(
    r"(?i)not logged in|log ?in|unauthori[sz]ed|authenticat|api[ _-]?key|credential|forbidden|permission[_ ]denied|invalid auth"
)
_WARNING = regex(r"(?i)^\W*warn(?:ing)?\b|\bdeprecated\b|\bunknown model\b|\bmodel\b.{0,80}\bnot (?:found|supported)\b")
# Not about how it was started: its terminal, its helpers, what agentd itself looks after; a line of its help.
_TRIFLE = regex(r"(?i)terminal|colou?r|ripgrep|yolo|PATH aliases|^\s*-|^\s+at ")
_TRANSIENT = regex(
    r"(?i)rate.?limit|too many requests|overloaded|high demand|timed? ?out|connection|stream|temporar|unavailable|internal server error|econn|socket|network|fetch failed|reset by peer|try again|exhausted|at capacity"
)


@dataclass(frozen=True)
class Ending:
    """How a program ended; what it printed on its standard error is in `errors`."""

    code: int = -1
    ended: str = ""
    errors: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        return " ".join(self.errors)


class CallFailed(Exception):
    """What ends a call before its time, with the class of the failure."""

    def __init__(self, error: str, failure: Failure = "failed", retry_after: float = 0.0) -> None:
        super().__init__(error)
        self.failure: Failure = failure
        self.retry_after = retry_after

    def result(self) -> dict[str, Any]:
        """What the result event of `protocol.py` says then."""
        told = {"failure": self.failure, "retry_after": self.retry_after}
        return {"status": "error", "error": str(self), **told}


def parse(lines: Iterable[str]) -> tuple[list[Event], Ending]:
    """The events of a transcript and how its program ended; other lines are ignored."""
    events, ending = [], Ending()
    for line in lines:
        event = load(line)
        if event is None:
            continue
        if event.get("agentd") == END:
            errors = event.get("errors")
            listed = tuple(str(each) for each in errors) if isinstance(errors, list) else ()
            code = event.get("code")
            ending = Ending(code if type(code) is int else -1, str(event.get("ended", "")), listed)
        elif "agentd" not in event:
            events.append(event)
    return events, ending


def warnings_in(lines: Iterable[str]) -> tuple[str, ...]:
    """What a program warns about in its events and on its standard error, each once."""
    events, ending = parse(lines)
    found = [line for line in ending.errors if _WARNING.search(line) and not _TRIFLE.search(line)]
    for event in events:
        match event:
            case {"type": "item.completed", "item": {"type": "error", "message": str(said)}}:
                found.append(said)
            case {"type": "error", "severity": "warning", "message": str(said)}:
                found.append(said)
    return tuple(dict.fromkeys(" ".join(said.split())[:300] for said in found))


def load(line: str) -> Event | None:
    """The event in a line, if it is one."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def classify(message: str, status: int | None = None) -> Failure:
    """The class of a failure, by the message of the service and its HTTP status, if known."""
    message = _ADDRESS.sub("", message)  # a port may look like a status
    found = _STATUS.search(message)
    code = status or (int(found[1]) if found else None)
    if _LOST.search(message):
        return "lost"
    if _QUOTA.search(message) or code == 402:
        return "quota"
    if code in (401, 403):
        return "auth"
    if code in (408, 409, 425, 429) or (code is not None and code >= 500):
        return "transient"
    if code is not None:
        return "failed"
    if _AUTH.search(message):
        return "auth"
    return "transient" if _TRANSIENT.search(message) else "failed"


def unfinished(ending: Ending) -> tuple[str, Failure]:
    """The error of a program that ended without a result, and the class of that failure."""
    if ending.ended in ("timeout", "silence"):
        return "it was ended before it gave a result", "hang"
    failure = classify(ending.said) if ending.said else "unreadable"
    spoke = ending.said and 0 < ending.code < 128  # a signal is no answer, whatever was said before
    return ending.said or "it ended without a result", "unreadable" if failure == "failed" and not spoke else failure


def failed(reply: Reply, error: str, failure: Failure) -> Reply:
    """The reply of a call that failed, with the time to wait if the error names one."""
    return replace(reply, error=error, failure=failure, retry_after=wait_asked(error))


def wait_asked(message: str) -> float:
    """The seconds a message asks to wait, 0 if it does not."""
    found = _WAIT.search(message)
    if not found:
        return 0.0
    unit = (found[2] or "").lower()
    factor = 0.001 if unit == "ms" else 60 if unit.startswith("m") else 3600 if unit.startswith("h") else 1
    return float(found[1]) * factor


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def count_of(value: object) -> int | None:
    """A number of tokens, if it is one."""
    return value if type(value) is int and value >= 0 else None


def amount_of(value: object) -> float | None:
    """An amount of dollars, if it is one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value < 1e300 else None
