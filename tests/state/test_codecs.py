"""State as values and as a file's keys: there and back, for every family, and what cannot be is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.app import LAYOUTS
from agentd.model.decision import Decision, Option
from agentd.model.run import Intent, Nudge, Run
from agentd.state.codecs import PLAIN, Codec, Malformed, State, decode, encode

WORDS = st.text("abcdefgh.-_", min_size=1, max_size=8)
TEXT = st.text(max_size=20)
RUNS = st.builds(
    Run,
    WORDS,
    WORDS,
    WORDS,
    WORDS,
    counts=st.dictionaries(WORDS, st.integers(0, 9), max_size=3),
    intent=st.none()
    | st.builds(
        Intent,
        WORDS,
        WORDS,
        st.lists(WORDS, max_size=2).map(tuple),
        st.dictionaries(WORDS, WORDS, max_size=2),
        st.none() | st.builds(Nudge, st.integers(1, 9), WORDS, TEXT),
    ),
    asked_by=TEXT,
    spent=TEXT,
    waived=st.lists(WORDS, max_size=3).map(tuple),
    clear=st.lists(WORDS, max_size=3).map(tuple),
    result=TEXT,
    begun=st.booleans(),
)
OPEN = st.builds(
    Decision,
    WORDS,
    TEXT,
    st.lists(st.builds(Option, WORDS, TEXT, TEXT), max_size=3).map(tuple),
    TEXT,
    TEXT,
    name=TEXT,
    header=TEXT,
    note=TEXT,
    by=TEXT,
    shown=st.dictionaries(WORDS, WORDS, max_size=2),
)
CODEC = st.sampled_from([layout.codec for layout in LAYOUTS])
UNKNOWN = st.dictionaries(st.text("xyz", min_size=3, max_size=6), TEXT, max_size=3)


@given(CODEC, RUNS, st.lists(OPEN, max_size=3).map(tuple), st.integers(0, 99), UNKNOWN)
def test_what_is_written_is_read_again(
    codec: Codec, run: Run, decisions: tuple[Decision, ...], saves: int, unknown: dict[str, str]
) -> None:
    data = encode(codec, State(run, decisions, unknown, saves))
    read = decode(codec, data)
    assert (read.run, read.decisions, read.saves) == (run, decisions, saves)
    assert unknown.items() <= data.items()
    assert encode(codec, read) == data


GOOD: dict[str, Any] = {"name": "x", "phase": "one", "run": {"workflow": "w", "step": "s"}}
DECISION = {"decision_id": "UD-1", "question": "?", "status": "pending", "state_context": "s", "asked_at": "now"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"phase": None}, None),
        ({"name": 7}, "name must be text"),
        ({"schema_version": "2.0"}, "schema_version is 2.0; this agentd reads 1.0"),
        ({"run": []}, "run must be a mapping"),
        ({"run": {"counts": {"a.b": -1}}}, "the count of 'a.b'"),
        ({"run": {"counts": {"a.b": True}}}, "the count of 'a.b'"),
        ({"run": {"waived": "x"}}, "waived must be a list"),
        ({"run": {"saves": "many"}}, "saves must be"),
        ({"run": {"intent": "now"}}, "intent must be a mapping"),
        ({"run": {"intent": {"call": "a-1.1", "nudge": {"times": "often"}}}}, "times must be a whole number"),
        ({"user_decisions": {}}, None),
        ({"user_decisions": {"a": 1}}, "user_decisions must be a list"),
        ({"user_decisions": [7]}, "a decision must be a mapping"),
        ({"user_decisions": [DECISION | {"answer": "yes"}]}, "status 'pending' cannot have answer 'yes'"),
        ({"user_decisions": [DECISION | {"status": "answered"}]}, "status 'answered'"),
        ({"user_decisions": [DECISION | {"status": "cancelled", "resolved_at": "now"}]}, "status 'cancelled'"),
        ({"user_decisions": [DECISION | {"status": "perhaps"}]}, "status 'perhaps'"),
        ({"user_decisions": [DECISION | {"options": ["a"]}]}, "options must be a list"),
    ],
)
def test_what_cannot_be_is_refused(change: dict[str, Any], said: str | None) -> None:
    if said is None:
        decode(PLAIN, GOOD | change)
    else:
        with pytest.raises(Malformed, match=said):
            decode(PLAIN, GOOD | change)
