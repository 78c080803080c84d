"""The budget: a limit that is reached stands before the next call, with figures, and a person's word moves it on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.usage.budget import Excess, Limits, exceeded
from agentd.usage.calls import Spent

LIMITS = Limits(per_call=2.0, per_change=20.0, per_day=50.0, calls_per_change=100)
MONEY = st.integers(0, 10**9).map(lambda number: number / 10**6)


def spent(cost: float = 0.0, calls: int = 1, unknown: int = 0) -> Spent:
    return Spent(cost, unknown, calls, 0, 0)


def test_below_every_limit_nothing_stands_in_the_way() -> None:
    assert exceeded(LIMITS, spent(19.0, 99), 49.0, 2.0, 1.0, {}) is None
    assert exceeded(LIMITS, spent(0.0, 0), 0.0, None, None, {}) is None


@pytest.mark.parametrize(
    ("change", "day", "last", "expected", "found"),
    [
        (
            spent(20.4, unknown=3),
            0.0,
            None,
            None,
            Excess(
                "change",
                20.0,
                20.4,
                "This change has cost $20.40 besides 3 calls of unknown cost, and [budget] per_change allows $20.00.",
            ),
        ),
        (
            spent(19.5),
            0.0,
            None,
            0.7,
            Excess(
                "change",
                20.0,
                19.5,
                "This change has cost $19.50, the next call may cost about $0.7000, "
                "and [budget] per_change allows $20.00.",
            ),
        ),
        (
            spent(1.0),
            50.0,
            None,
            None,
            Excess("day", 50.0, 50.0, "Today's calls have cost $50.00, and [budget] per_day allows $50.00."),
        ),
        (
            spent(1.0),
            49.5,
            None,
            1.0,
            Excess(
                "day",
                50.0,
                49.5,
                "Today's calls have cost $49.50, the next call may cost about $1.00, "
                "and [budget] per_day allows $50.00.",
            ),
        ),
        (
            spent(1.0),
            0.0,
            2.31,
            1.0,
            Excess("call", 2.0, 2.31, "The last call cost $2.31, and [budget] per_call allows $2.00."),
        ),
        (
            spent(1.0),
            0.0,
            None,
            2.31,
            Excess("call", 2.0, 2.31, "The next call may cost about $2.31, and [budget] per_call allows $2.00."),
        ),
        (
            spent(0.0, calls=100, unknown=100),
            0.0,
            None,
            None,
            Excess("calls", 100, 100, "This change has made 100 calls, and [budget] calls_per_change allows 100."),
        ),
    ],
)
def test_a_limit_that_is_reached_says_so_with_its_figures(
    change: Spent, day: float, last: float | None, expected: float | None, found: Excess
) -> None:
    assert exceeded(LIMITS, change, day, last, expected, {}) == found


def test_what_was_allowed_counts_anew() -> None:
    allowed = {"change": 20.4}
    assert exceeded(LIMITS, spent(40.3), 0.0, None, None, allowed) is None
    found = exceeded(LIMITS, spent(40.5), 0.0, None, None, allowed)
    assert found is not None
    assert found.text == (
        "This change has cost $40.50, $20.10 of it since more was allowed, and [budget] per_change allows $20.00."
    )
    assert exceeded(LIMITS, spent(0.0, calls=199), 0.0, None, None, {"calls": 100}) is None
    again = exceeded(LIMITS, spent(0.0, calls=200), 0.0, None, None, {"calls": 100})
    assert again is not None
    assert "200 calls, and [budget] calls_per_change allows 100 more each time." in again.text


def test_what_was_allowed_on_another_day_counts_no_more() -> None:
    assert exceeded(LIMITS, spent(), 60.0, None, None, {"day": 55.0}) is None
    assert exceeded(LIMITS, spent(), 52.0, None, None, {"day": 55.0}) is not None


@given(MONEY, MONEY, st.none() | MONEY, st.none() | MONEY, st.integers(0, 500), st.integers(0, 50))
def test_allowing_every_limit_that_stands_lets_the_next_call_through(
    cost: float, day: float, last: float | None, expected: float | None, calls: int, unknown: int
) -> None:
    from_: dict[str, float] = {}
    asked = []
    while (found := exceeded(LIMITS, spent(cost, calls, unknown), day, last, expected, from_)) is not None:
        assert found.which not in asked, found
        asked.append(found.which)
        from_[found.which] = found.spent


@given(MONEY, MONEY, st.none() | MONEY, st.none() | MONEY, st.integers(0, 500))
def test_zero_switches_a_limit_off(
    cost: float, day: float, last: float | None, expected: float | None, calls: int
) -> None:
    assert exceeded(Limits(), spent(cost, calls), day, last, expected, {}) is None
