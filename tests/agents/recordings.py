"""What real programs printed, recorded against a scripted model, and how tests spoil it."""

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

HOME = Path(__file__).parent / "recorded"
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


def names(agent: str) -> set[str]:
    return {path.stem for path in (HOME / agent).glob("*.jsonl")}


def recorded(agent: str, name: str) -> list[str]:
    """The lines of a transcript."""
    return (HOME / agent / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()


@st.composite
def spoiled(draw: st.DrawFn, agent: str) -> list[str]:
    """A recorded transcript in which values are not what they should be, and lines are missing, cut or no JSON."""
    lines = recorded(agent, draw(st.sampled_from(sorted(names(agent)))))
    events = [json.loads(line) for line in lines]
    for _ in range(draw(st.integers(0, 4))):
        events.insert(
            draw(st.integers(0, len(events))), _spoil(draw, events.pop(draw(st.integers(0, len(events) - 1))))
        )
    texts = [json.dumps(event) for event in events]
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(texts) - 1))
        texts[at] = draw(st.sampled_from(["", texts[at][:-9], "no JSON", "[]", f"{texts[at]} {texts[at]}"]))
    return texts[: draw(st.integers(0, len(texts)))] if draw(st.booleans()) else texts


def _spoil(draw: st.DrawFn, value: Any) -> Any:
    """The value with something in it replaced by anything."""
    if not isinstance(value, dict | list) or not value or draw(st.integers(0, 5)) == 0:
        return draw(JSON)
    if isinstance(value, list):
        at = draw(st.integers(0, len(value) - 1))
        return [_spoil(draw, part) if place == at else part for place, part in enumerate(value)]
    key = draw(st.sampled_from(sorted(value)))
    return {**value, key: _spoil(draw, value[key])}
