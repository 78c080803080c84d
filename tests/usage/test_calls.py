"""Usage as a run's file keeps it: every call once, totals that are the sums, and nothing a person wrote is lost."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.model.usage import Usage
from agentd.text import lossless_yaml
from agentd.usage.calls import Call, Spent, record, since, spent, to_data

COUNT = st.none() | st.integers(0, 10**9)
COST = st.none() | st.floats(0, 10_000)
USAGE = st.builds(Usage, COUNT, COUNT, COST, COUNT, COUNT)
STEPS = st.sampled_from(["proposal-gen", "proposal-review", "spec-gen-auth", "challenge"])
CALLS = st.builds(
    Call,
    STEPS,
    st.sampled_from(["flash", "pro"]),
    USAGE,
    COST,
    st.just("2026-01-19T10:30:15Z"),
    st.text("ab", max_size=2),
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4)
FOREIGN = SCALARS | st.dictionaries(
    st.sampled_from(["step", "cost", "tokens_in", "tokens_out", "call", "mine"]), SCALARS, max_size=4
)


def known(entries: list[Any], key: str) -> list[float]:
    return [entry[key] for entry in entries if entry[key] is not None]


@pytest.mark.requirement(134)
def test_a_call_is_kept_in_the_documented_shape_and_order() -> None:
    usage = Usage(tokens_in=15234, tokens_out=892, duration_ms=4521)
    call = Call("proposal-gen", "gemini-3-flash-preview", usage, 0.0018802, "2026-01-19T10:30:15Z")
    assert list(to_data(call).items()) == [
        ("step", "proposal-gen"),
        ("model", "gemini-3-flash-preview"),
        ("tokens_in", 15234),
        ("tokens_out", 892),
        ("duration_ms", 4521),
        ("cost", 0.00188),
        ("timestamp", "2026-01-19T10:30:15Z"),
    ]


def test_what_else_is_known_of_a_call_follows() -> None:
    usage = Usage(10, 5, cost=0.25, cached_in=0)
    data = to_data(Call("challenge", "m", usage, 0.5, "t", call="challenge-1.1", agent="codex"))
    assert list(data)[7:] == ["cached_in", "cost_reported", "agent", "call"]
    assert (data["cached_in"], data["cost_reported"], data["agent"], data["call"]) == (
        0,
        0.25,
        "codex",
        "challenge-1.1",
    )


@pytest.mark.requirement(138)
def test_missing_figures_are_null_and_never_zero() -> None:
    fields = record({}, Call("challenge", "m", Usage(), None, "t"))
    (entry,) = fields["llm_calls"]
    assert [entry[key] for key in ("tokens_in", "tokens_out", "duration_ms", "cost")] == [None] * 4
    assert fields["total_cost"] is None
    assert fields["total_tokens_in"] is None
    assert fields["unknown_costs"] == 1
    assert spent(fields) == Spent(0.0, 1, 1, 0, 0)


@pytest.mark.parametrize("figure", [math.nan, math.inf, -1.0, 10.0**300])
def test_a_figure_that_can_be_none_is_unknown(figure: float) -> None:
    fields = record({}, Call("challenge", "m", Usage(5, 5, cost=figure), figure, "t"))
    assert fields["llm_calls"][0]["cost"] is None
    assert "cost_reported" not in fields["llm_calls"][0]
    assert fields["total_cost"] is None


@pytest.mark.requirement(134, 137)
@given(st.lists(CALLS, max_size=12))
def test_totals_are_the_sums_of_what_is_known(made: list[Call]) -> None:
    fields: dict[str, Any] = {}
    for call in made:
        fields |= record(fields, call)
    entries = fields.get("llm_calls", [])
    kept = {(call.step, call.call) if call.call else number: call for number, call in enumerate(made)}
    assert sorted(map(str, entries)) == sorted(str(to_data(call)) for call in kept.values())
    if not made:
        return
    for total, key in (("total_tokens_in", "tokens_in"), ("total_tokens_out", "tokens_out")):
        assert fields[total] == (sum(known(entries, key)) if known(entries, key) else None)
    costs = known(entries, "cost")
    assert fields["total_cost"] == (pytest.approx(sum(costs), abs=1e-6) if costs else None)
    assert fields.get("unknown_costs", 0) == len(entries) - len(costs)
    assert spent(fields) == Spent(
        fields["total_cost"] or 0.0,
        len(entries) - len(costs),
        len(entries),
        fields["total_tokens_in"] or 0,
        fields["total_tokens_out"] or 0,
    )


@given(st.lists(CALLS, min_size=1, max_size=6))
def test_recording_a_call_again_changes_nothing(made: list[Call]) -> None:
    fields: dict[str, Any] = {}
    for number, call in enumerate(made):
        fields |= record(fields, Call(**{**vars(call), "call": f"call-{number}"}))
    once = dict(fields)
    for number, call in enumerate(made):
        fields |= record(fields, Call(**{**vars(call), "call": f"call-{number}"}))
    assert fields == once


def test_a_call_recorded_again_takes_its_old_place() -> None:
    first = Call("proposal-gen", "m", Usage(), None, "t1", call="propose-1.1")
    fields = record({}, first)
    fields |= record(fields, Call("challenge", "m", Usage(1, 1), 1.0, "t2", call="challenge-1.1"))
    fields |= record(fields, Call("proposal-gen", "m", Usage(7, 3), 0.5, "t1", call="propose-1.1"))
    assert [entry["step"] for entry in fields["llm_calls"]] == ["proposal-gen", "challenge"]
    assert (fields["total_cost"], fields["total_tokens_in"], fields["unknown_costs"]) == (1.5, 8, 0)


def test_a_call_of_the_same_name_that_began_later_is_another_one() -> None:
    fields = record({}, Call("make-a", "m", Usage(1, 1), 1.0, "t1", call="a/make-1.1"))
    fields |= record(fields, Call("make-a", "m", Usage(1, 1), 1.0, "t2", call="a/make-1.1"))
    assert fields["total_cost"] == 2.0


def test_the_same_attempt_for_two_specs_is_two_calls() -> None:
    fields = record({}, Call("spec-gen-a", "m", Usage(1, 1), 1.0, "t", call="write_spec-1.1"))
    fields |= record(fields, Call("spec-gen-b", "m", Usage(1, 1), 1.0, "t", call="write_spec-1.1"))
    assert fields["total_cost"] == 2.0


@given(FOREIGN | st.lists(FOREIGN, max_size=5), CALLS)
def test_what_a_person_put_among_the_calls_is_kept(there: Any, call: Call) -> None:
    fields = record({"llm_calls": there}, Call(**{**vars(call), "call": "mine-1.1"}))
    before = there if isinstance(there, list) else [] if there is None else [there]
    assert [str(entry) for entry in fields["llm_calls"][:-1]] == [str(entry) for entry in before]
    found = spent(fields)
    assert math.isfinite(found.cost)
    assert found.cost >= (call.cost or 0.0) - 1e-6
    assert found.calls == sum(isinstance(entry, dict) for entry in fields["llm_calls"])


@given(st.lists(CALLS, min_size=1, max_size=4))
def test_the_file_gives_back_what_was_recorded(made: list[Call]) -> None:
    fields: dict[str, Any] = {}
    for call in made:
        fields |= record(fields, call)
    assert lossless_yaml.parse(lossless_yaml.dump(fields), "STATE.yaml").data == fields


def test_a_conversation_counted_as_a_whole_is_taken_apart_by_agent_and_session() -> None:
    def used(tokens: int, session: str, agent: str = "codex", name: str = "") -> dict[str, object]:
        return {
            "agent": agent,
            "session": session,
            "call": name,
            "timestamp": "t",
            "tokens_in": tokens,
            "tokens_out": 1,
        }

    fields = {
        "llm_calls": [used(100, "a"), used(50, "a"), used(900, "b"), used(700, "a", "claude"), used(30, "a", name="me")]
    }
    rest = since(fields, "codex", "a", ("me", "t"), Usage(180, 3, cached_in=None))
    assert (rest.tokens_in, rest.tokens_out, rest.cached_in) == (30, 1, None)
    assert since(fields, "codex", "a", ("me", "t"), Usage(10, 0)).tokens_in == 0
