"""The project's ledger as bytes: one JSON object a line for each call of every run. A line that is none is passed over."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from agentd.usage.calls import Call, count, dollars_of, kind

_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Entry(NamedTuple):
    """One call of one run."""

    run: str
    step: str
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    duration_ms: int | None = None
    timestamp: str = ""
    call: str = ""


def line(run: str, call: Call) -> bytes:
    """The line for a call."""
    data = {
        "run": run,
        "step": call.step,
        "model": call.model,
        "tokens_in": count(call.usage.tokens_in),
        "tokens_out": count(call.usage.tokens_out),
        "cost": dollars_of(call.cost),
        "duration_ms": count(call.usage.duration_ms),
        "timestamp": call.timestamp,
        "call": call.call,
    }
    return f"{_compact(data)}\n".encode(errors="backslashreplace")  # a lone surrogate becomes its JSON escape


def parse(data: bytes) -> list[Entry]:
    """Every call, each once: of two lines about the same call the last one holds."""
    found: dict[object, Entry] = {}
    for number, text in enumerate(data.split(b"\n")):
        entry = _entry(text) if text else None
        if entry is not None:
            found[(entry.run, entry.step, entry.call, entry.timestamp) if entry.call else number] = entry
    return list(found.values())


def mean_cost(entries: Iterable[Entry], name: str, kinds: tuple[str, ...]) -> float | None:
    """What calls of a kind have cost on average, as far as it is known; None if no cost is."""
    known = [entry.cost for entry in entries if entry.cost is not None and kind(entry.step, kinds) == name]
    return sum(known) / len(known) if known else None


def _entry(text: bytes) -> Entry | None:
    try:
        data = json.loads(text.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or not isinstance(data.get("run"), str) or not isinstance(data.get("step"), str):
        return None
    model, timestamp, call = (value if isinstance(value, str) else "" for value in map(data.get, _TEXTS))
    return Entry(
        data["run"],
        data["step"],
        model,
        count(data.get("tokens_in")),
        count(data.get("tokens_out")),
        dollars_of(data.get("cost")),
        count(data.get("duration_ms")),
        timestamp,
        call,
    )


_TEXTS = ("model", "timestamp", "call")
