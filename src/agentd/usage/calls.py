"""The calls of a run as its state file keeps them. An unknown figure stays unknown and is never counted as zero."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from agentd.model.usage import Usage
from agentd.usage.recorded_calls import calls_in, listed
from agentd.values import dataclass

DECIMALS = 6
LARGEST = 10**15
_IDENTITY = ("step", "call", "timestamp")


@dataclass(frozen=True)
class Call:
    """One agent call that was made, `timestamp` being when it began: together with its name it tells one call from another.

    `cost` is what it is taken to have cost, `usage.cost` what its agent said. `bytes_in` is what agentd wrote to the
    agent, `bytes_out` what the agent answered; what its program sends to its model on its own is in neither.
    """

    step: str
    model: str
    usage: Usage
    cost: float | None
    timestamp: str
    call: str = ""
    agent: str = ""
    session: str = ""
    bytes_in: int | None = None
    bytes_out: int | None = None


@dataclass(frozen=True)
class Spent:
    """What calls came to as far as it is known; `unknown` is how many of them have no known cost."""

    cost: float
    unknown: int
    calls: int
    tokens_in: int
    tokens_out: int


@lru_cache(maxsize=4096)
def kind(step: str, kinds: tuple[str, ...]) -> str:
    """What kind of call a name stands for: with `spec-gen` a kind, `spec-gen-auth` is one; any other is its own."""
    return next((known for known in kinds if step == known or step.startswith(f"{known}-")), step)


def to_data(call: Call) -> dict[str, Any]:
    """The call as an entry of `llm_calls`."""
    usage = call.usage
    data: dict[str, Any] = {
        "step": call.step,
        "model": call.model,
        "tokens_in": count(usage.tokens_in),
        "tokens_out": count(usage.tokens_out),
        "duration_ms": count(usage.duration_ms),
        "cost": dollars_of(call.cost),
        "timestamp": call.timestamp,
    }
    extra = {
        "cached_in": count(usage.cached_in),
        "cost_reported": dollars_of(usage.cost),
        "bytes_in": count(call.bytes_in),
        "bytes_out": count(call.bytes_out),
    }
    data |= {key: value for key, value in extra.items() if value is not None}
    texts = {"agent": call.agent, "call": call.call, "session": call.session}
    return data | {key: text for key, text in texts.items() if text}


def since(fields: Mapping[str, Any], agent: str, session: str, me: tuple[str, str], usage: Usage) -> Usage:
    """What one call used where its agent counts the whole conversation: less what the calls before it used of it.

    `me` is the name and the time of the call itself, which may have been recorded before.
    """
    before = [
        entry
        for entry in calls_in(fields)
        if (entry.get("agent"), entry.get("session")) == (agent, session)
        and (entry.get("call"), entry.get("timestamp")) != me
    ]

    def rest(key: str, figure: int | None) -> int | None:
        return None if figure is None else max(0, figure - sum(count(entry.get(key)) or 0 for entry in before))

    return replace(
        usage,
        tokens_in=rest("tokens_in", usage.tokens_in),
        tokens_out=rest("tokens_out", usage.tokens_out),
        cached_in=rest("cached_in", usage.cached_in),
    )


def record(fields: Mapping[str, Any], call: Call) -> dict[str, Any]:
    """The usage fields of a run with this call among them; a call that was recorded before takes its old place."""
    before, new = listed(fields), to_data(call)
    again = [index for index, entry in enumerate(before) if call.call and _is_of(entry, call)]
    kept = [new if index in again[:1] else entry for index, entry in enumerate(before) if index not in again[1:]]
    entries = kept if again else [*before, new]
    known = calls_in({"llm_calls": entries})
    unknown = sum(dollars_of(entry.get("cost")) is None for entry in known)
    found = {
        "llm_calls": entries,
        "total_cost": total(dollars_of(entry.get("cost")) for entry in known),
        "total_tokens_in": total(count(entry.get("tokens_in")) for entry in known),
        "total_tokens_out": total(count(entry.get("tokens_out")) for entry in known),
    }
    if unknown or "unknown_costs" in fields:
        found["unknown_costs"] = unknown
    return found


def spent(fields: Mapping[str, Any]) -> Spent:
    """What the calls of a run came to."""
    known = calls_in(fields)
    costs = [dollars_of(entry.get("cost")) for entry in known]
    return Spent(
        cost=total(costs) or 0.0,
        unknown=costs.count(None),
        calls=len(known),
        tokens_in=int(total(count(entry.get("tokens_in")) for entry in known) or 0),
        tokens_out=int(total(count(entry.get("tokens_out")) for entry in known) or 0),
    )


def total(figures: Iterable[float | None]) -> float | None:
    """The sum of what is known; None if nothing is."""
    known = [figure for figure in figures if figure is not None]
    return round(sum(known), DECIMALS) if known else None


def count(value: object) -> int | None:
    """A number of tokens or milliseconds, if it is one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < LARGEST:
        return None
    return int(value) if value == int(value) else None


def dollars_of(value: object) -> float | None:
    """A cost, if it is one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < LARGEST:
        return None
    return round(float(value), DECIMALS)


def _is_of(entry: object, call: Call) -> bool:
    known = [getattr(call, key) for key in _IDENTITY]
    return isinstance(entry, Mapping) and [entry.get(key) for key in _IDENTITY] == known
