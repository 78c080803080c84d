"""Transcripts of any content: the events of an agent with values of any type, and lines that are no events at all."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

RECORDED = Path(__file__).parent / "recorded"

_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
JSON = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)


def recorded(agent: str, name: str) -> list[str]:
    return (RECORDED / agent / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()


def transcripts(agent: str) -> st.SearchStrategy[list[str]]:
    """Lines made of the names and words that the agent's own transcripts are made of, in any order and nesting."""
    files = sorted((RECORDED / agent).glob("*.jsonl"))
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    events = [json.loads(line) for line in lines if line.startswith("{")]
    names, words = sorted({*_names(events)}), sorted({*_words(events)})
    values = st.recursive(
        JSON | st.sampled_from(words),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(names), inner, max_size=4),
        max_leaves=12,
    )
    kinds = st.sampled_from(sorted({event["type"] for event in events if "type" in event}))
    loose = st.builds(lambda kind, rest: {**rest, "type": kind}, kinds, st.dictionaries(st.sampled_from(names), values))
    altered = st.builds(_altered, st.sampled_from(events), st.integers(min_value=0), values)
    whole = st.one_of(loose, altered, values).map(json.dumps)
    return st.lists(whole | st.sampled_from(lines) | st.text(max_size=20), max_size=12)


def _altered(event: Any, place: int, value: Any) -> Any:
    """The same with another value in one place."""
    keys: Sequence[Any] = (
        list(event) if isinstance(event, dict) else range(len(event)) if isinstance(event, list) else ()
    )
    if not keys or place % 4 == 0:
        return value
    key = keys[place // 4 % len(keys)]
    changed = dict(event) if isinstance(event, dict) else list(event)
    changed[key] = _altered(event[key], place // 4 // len(keys), value)
    return changed


def _names(value: Any) -> Iterable[str]:
    if isinstance(value, dict):
        yield from value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _names(inner)


def _words(value: Any) -> Iterable[str]:
    if isinstance(value, str) and len(value) < 40:
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _words(inner)
