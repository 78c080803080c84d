"""The forecast: from the project's own calls where there are any, from typical ones where not, unknown without a price."""

import time

import pytest

from agentd.families.change import LAYOUT
from agentd.families.change.forecast import Forecast, forecast, in_words
from agentd.usage.calls import kind
from agentd.usage.ledger import Entry


def cent(_: str, tokens_in: int, tokens_out: int) -> float | None:
    return (tokens_in + 10 * tokens_out) / 1e6


def unknown_challenge(name: str, tokens_in: int, tokens_out: int) -> float | None:
    return None if name == "challenge" else cent(name, tokens_in, tokens_out)


def a_run(run: str, specs: int = 2, reviews: int = 1, tokens: int | None = 100) -> list[Entry]:
    """A whole round; each call has the same tokens in and a tenth of them out."""
    ids = [f"s{number}" for number in range(specs)]
    steps = ["clarification", "proposal-gen", *["proposal-review"] * reviews]
    steps += [step for name in ids for step in (f"spec-gen-{name}", *[f"spec-review-{name}"] * reviews)]
    steps += ["tasks-gen", *["tasks-review"] * reviews, "challenge"]
    out = None if tokens is None else tokens // 10
    return [Entry(run, step, "m", tokens, out, call=f"{step}-{number}") for number, step in enumerate(steps)]


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("proposal-gen", "proposal-gen"),
        ("proposal-review", "proposal-review"),
        ("spec-gen-auth-flow", "spec-gen"),
        ("spec-review-auth-flow", "spec-review"),
        ("tasks-gen", "tasks-gen"),
        ("tasks-review", "tasks-review"),
        ("challenge", "challenge"),
        ("reproposal", "reproposal"),
        ("clarification", "clarification"),
        ("implement", "implement"),
        ("challenger", "challenger"),
    ],
)
def test_a_step_has_a_kind(step: str, expected: str) -> None:
    assert kind(step, LAYOUT.kinds) == expected


def test_without_a_ledger_the_typical_figures_hold() -> None:
    found = forecast([], None, cent)
    calls = {"once": 4, "reviews": 2 + 5 + 2, "specs": 3}
    assert found.calls == sum(calls.values())
    assert found.tokens_in == 5_000 + 15_000 + 18_000 + 25_000 + 9 * 8_000 + 3 * 12_000
    assert found.tokens_out == 500 + 1_000 + 1_500 + 2_000 + 2 * 667 + 5 * 444 + 2 * 500 + 3 * 1_000
    assert found.cost == pytest.approx((found.tokens_in + 10 * found.tokens_out) / 1e6)
    assert in_words(found) == (
        "Forecast: about 16 calls, 171k tokens in, 13k out, $0.30 (typical figures: this project has no calls yet)"
    )


def test_the_number_of_specs_can_be_given() -> None:
    assert forecast([], 1, cent).calls == 4 + 2 + 1 + 2 + 2
    assert forecast([], 0, cent).calls == 4 + 2 + 2
    assert forecast(a_run("a", specs=5), 1, cent).calls == 4 + 1 + 1 + 1 + 1


def test_a_ledger_of_ones_own_is_the_basis() -> None:
    entries = a_run("a", specs=2, reviews=1) + a_run("b", specs=4, reviews=2, tokens=400)
    found = forecast(entries, None, cent)
    # 3 specs a run; proposal and tasks (1 + 2) / 2 reviews, so 2 each; specs (2 + 8) / 6 reviews each, so 5.
    assert found.calls == 4 + 2 + 3 + 5 + 2
    proposal, reviews, spec, spec_reviews = 250, (100 + 2 * 400) / 3, (2 * 100 + 4 * 400) / 6, (2 * 100 + 8 * 400) / 10
    assert found.tokens_in == 4 * proposal + 4 * reviews + 3 * spec + 5 * spec_reviews
    assert found.basis == f"from {len(entries)} earlier calls of this project"


def test_kinds_without_a_call_of_their_own_are_typical() -> None:
    found = forecast([Entry("a", "proposal-gen", "m", 100, 10)], 0, cent)
    assert found.basis == "from 1 earlier call of this project, typical figures for the rest"
    assert found.tokens_in == forecast([], 0, cent).tokens_in - 15_000 + 100


def test_calls_that_do_not_tell_their_tokens_are_no_basis_for_tokens() -> None:
    found = forecast(a_run("a", tokens=None), None, cent)
    assert found.basis == "typical figures: this project has no such calls yet"
    assert found.calls == 4 + 1 + 2 + 2 + 1


def test_a_run_that_was_cut_off_does_not_say_how_often_documents_are_reviewed() -> None:
    cut_off = [Entry("b", "proposal-gen", "m", 100, 10), Entry("b", "spec-gen-x", "m", 100, 10)]
    assert forecast(cut_off, 3, cent).calls == forecast([], 3, cent).calls
    assert (
        forecast(a_run("a", reviews=2) + cut_off, None, cent).calls == forecast(a_run("a", reviews=2), None, cent).calls
    )


def test_without_self_reviews_none_are_foreseen() -> None:
    assert forecast(a_run("a", specs=2, reviews=0), None, cent).calls == 4 + 2


def test_any_kind_without_a_price_makes_the_cost_unknown() -> None:
    found = forecast(a_run("a"), None, unknown_challenge)
    assert found.cost is None
    assert in_words(found).endswith(
        f"cost unknown (no price for challenge; from {len(a_run('a'))} earlier calls of this project)"
    )
    assert "cost unknown (no price for gpt-x; " in in_words(found, {"challenge": "gpt-x"})
    assert "$" not in in_words(found)


def test_what_is_free_is_known_to_be_free() -> None:
    found = forecast([], None, lambda *_: 0.0)
    assert found.cost == 0.0
    assert "less than a cent" in in_words(found)


@pytest.mark.parametrize(
    ("tokens", "shown"), [(999, "999"), (1000, "1k"), (121_400, "121k"), (999_499, "999k"), (1_250_000, "1.2M")]
)
def test_tokens_are_rounded_for_people(tokens: int, shown: str) -> None:
    assert f", {shown} tokens in, " in in_words(Forecast(tokens, 1, 1.0, 1, "x"))


def test_a_large_ledger_is_quick() -> None:
    entries = [entry for number in range(2000) for entry in a_run(f"run-{number}")]
    assert len(entries) >= 20_000
    begun = time.perf_counter()
    assert forecast(entries, None, cent).calls == 4 + 1 + 2 + 2 + 1
    assert time.perf_counter() - begun < 1.0
