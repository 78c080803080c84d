"""What follows from a failed call, as a table and as properties."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.calling.retry import LONGEST, MOVES, PATIENCE, Move, delay, next_move
from agentd.model.job import FAILURES, Failure


@pytest.mark.parametrize(
    ("failure", "tries", "others", "resumed", "asked", "move"),
    [
        ("transient", 1, True, False, 0, "again"),
        ("transient", 3, True, False, 0, "again"),
        ("transient", 4, True, False, 0, "other"),
        ("transient", 4, False, False, 0, "stop"),
        ("transient", 1, False, False, PATIENCE + 1, "pause"),
        ("transient", 1, True, False, PATIENCE + 1, "other"),
        ("quota", 1, True, False, 0, "other"),
        ("quota", 1, False, False, 0, "pause"),
        ("auth", 1, True, False, 0, "other"),
        ("auth", 1, False, False, 0, "pause"),
        ("hang", 1, True, False, 0, "other"),
        ("hang", 1, False, False, 0, "stop"),
        ("unreadable", 1, True, False, 0, "other"),
        ("unreadable", 1, False, False, 0, "stop"),
        ("lost", 1, True, True, 0, "afresh"),
        ("lost", 1, True, False, 0, "stop"),
        ("refused", 1, True, True, 0, "stop"),
        ("failed", 1, True, True, 0, "stop"),
    ],
)
def test_the_class_of_a_failure_decides(
    failure: Failure, tries: int, others: bool, resumed: bool, asked: float, move: Move
) -> None:
    assert next_move(failure, tries, 3, others, resumed, asked) == move


def test_every_class_has_its_moves_and_always_one_that_can_be_made() -> None:
    assert set(MOVES) == set(FAILURES)
    for failure, tries, others, resumed in product(FAILURES, (1, 99), (True, False), (True, False)):
        assert next_move(failure, tries, 3, others, resumed) in MOVES[failure]


@given(failure=st.sampled_from(FAILURES), retries=st.integers(0, 5), agents=st.integers(1, 4), resumed=st.booleans())
def test_a_call_is_never_tried_for_ever(failure: Failure, retries: int, agents: int, resumed: bool) -> None:
    calls, tries, left = 0, 0, agents - 1
    while True:
        calls, tries = calls + 1, tries + 1
        move = next_move(failure, tries, retries, bool(left), resumed)
        if move in ("stop", "pause"):
            break
        if move == "other":
            left, tries = left - 1, 0
        if move == "afresh":
            resumed, tries = False, 0
    assert calls <= agents * (retries + 1) + 1


@given(tries=st.integers(1, 60), first=st.floats(0, 1000), asked=st.floats(0, PATIENCE))
def test_the_wait_grows_is_bounded_and_is_never_shorter_than_asked(tries: int, first: float, asked: float) -> None:
    assert asked <= delay(tries, first, asked) <= max(asked, LONGEST)
    assert delay(tries, first) <= delay(tries + 1, first)
