"""The protocol of agentd's own programs, which any other program may use too.

One JSON object a line. `start` comes first, `result` last; events between them, and all other lines, are only shown.

    {"type": "start", "model": "m-1"}
    {"type": "text", "text": "what the agent says"}
    {"type": "tool", "tool": "create_proposal", "status": "success", "text": "what the tool said"}
    {"type": "result", "status": "success", "text": "…", "outcome": "approved", "session": "s-1", "model": "m-1",
     "refused": ["run_command"], "usage": {"tokens_in": 9, "tokens_out": 2, "cached_in": 4, "cost": 0.01},
     "cumulative": false}
    {"type": "result", "status": "error", "error": "what failed", "failure": "transient", "retry_after": 5}

Everything may be left out but `type` and `status`. `failure` is one of the classes in `model/job.py`; without it the
error's words tell. `tokens_in` includes `cached_in`. `cumulative` says that the usage is the whole conversation's.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from agentd.agents import events
from agentd.agents.events import Ending, Event, classify, parse, wait_asked
from agentd.model.job import FAILURES, Failure, Reply
from agentd.model.usage import Usage

LONGEST = 1e6
LONGEST_ERROR = 1000


class _WrongType(Exception):
    """A field of an event has the wrong type."""


def read(lines: Iterable[str], who: str) -> Reply:
    """Complete only with a result event that says success; lines that are not events are ignored."""
    return conclude(*parse(lines), who)


def conclude(told: Iterable[Event], ending: Ending, who: str) -> Reply:
    """The reply that these events make; errors name the agent as `who`."""
    model = ""
    results = []
    try:
        for event in told:
            if event.get("type") == "start":
                model = _text(event, "model", who)
            elif event.get("type") == "result":
                results.append(_result(event, who))
    except _WrongType as trouble:
        return Reply(error=str(trouble), failure="unreadable", model=model)
    if not results:
        return replace(unfinished(ending, who), model=model)
    if any(result != results[0] for result in results):
        return Reply(error=f"{who} gave two results that disagree.", failure="unreadable", model=model)
    return replace(results[0], model=results[0].model or model)


def unfinished(ending: Ending, who: str) -> Reply:
    """The reply of a program that ended without a result; the end of its standard error may say why."""
    ending = replace(ending, errors=ending.errors[-3:])
    said = " ".join(ending.said.split())[-LONGEST_ERROR:]
    error = f"{who} ended without a result{f': {said}' if said else '.'}"
    return Reply(error=error, failure=events.unfinished(ending)[1], retry_after=wait_asked(said))


def _result(event: Event, who: str) -> Reply:
    status, error = _text(event, "status", who), _text(event, "error", who)
    if status != "success":
        error = error or f"{who} ended with status {status!r}."
    return Reply(
        text=_text(event, "text", who),
        outcome=_text(event, "outcome", who),
        complete=not error,
        error=error,
        failure=_failure(event, error, who) if error else "",
        retry_after=min(LONGEST, _number(event, "retry_after", who) or wait_asked(error)) if error else 0.0,
        refused=_names(event, "refused", who),
        session=_text(event, "session", who),
        model=_text(event, "model", who),
        usage=_usage(event.get("usage"), who),
        cumulative=event.get("cumulative") is True,
    )


def _failure(event: Event, error: str, who: str) -> Failure:
    named = _text(event, "failure", who)
    return named if named in FAILURES else classify(error)


def _text(event: Event, field: str, who: str) -> str:
    value = event.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _WrongType(f"{who} gave a {event['type']} event with a `{field}` that is no text.")
    return value


def _names(event: Event, field: str, who: str) -> tuple[str, ...]:
    value = event.get(field) or []
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise _WrongType(f"{who} gave a {event['type']} event with a `{field}` that is no list of names.")
    return tuple(dict.fromkeys(value))


def _usage(value: object, who: str) -> Usage:
    if value is None:
        return Usage()
    if not isinstance(value, dict):
        raise _WrongType(f"{who} gave a usage that is no mapping.")
    return Usage(
        tokens_in=_count(value, "tokens_in", who),
        tokens_out=_count(value, "tokens_out", who),
        cost=_number(value, "cost", who),
        cached_in=_count(value, "cached_in", who),
    )


def _count(usage: Mapping[str, object], field: str, who: str) -> int | None:
    value = _number(usage, field, who)
    if value is None or isinstance(value, int):
        return value
    raise _WrongType(f"{who} gave a `{field}` that is no whole number.")


def _number(values: Mapping[str, object], field: str, who: str) -> float | None:
    value = values.get(field)
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < math.inf:
        return value
    raise _WrongType(f"{who} gave a `{field}` that is no number from 0 up.")
