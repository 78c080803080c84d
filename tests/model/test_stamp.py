"""What a line of a diary says about the time before it: read whole, and refused or bounded where it cannot be."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.model.stamp import Inner, Part, Stamp, read_stamp

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["from", "to", "id"]), inner),
    max_leaves=8,
)
SECONDS = st.floats(0, 100, allow_nan=False)
PARTS = st.lists(st.tuples(st.text(max_size=3), SECONDS | JSON).map(list) | JSON, max_size=6)


def line(event: str = "end", **clock: Any) -> dict[str, Any]:
    since = clock.pop("since", 0.0)
    return {"event": event, "clock": {"command": "plan", "id": "a", "from": since, "to": 10.0, "parts": [], **clock}}


def test_the_parts_follow_each_other_and_what_is_left_is_a_part_too() -> None:
    inner = [["first line", 2.0, 3.0], ["read_file", 3.5, 3.75]]
    found = read_stamp(line(parts=[["save", 2.0], ["agent", 8.0, "claude", inner], ["judge", 9.5]]))
    agent = Part("agent", 2.0, 8.0, "claude", (Inner("first line", 2.0, 3.0), Inner("read_file", 3.5, 3.75)))
    parts = (Part("save", 0.0, 2.0), agent, Part("judge", 8.0, 9.5), Part("outcome", 9.5, 10.0))
    assert found == Stamp("a", "plan", 0.0, 10.0, parts)
    assert [part.owner for part in parts] == ["agentd", "agent", "agentd", "agentd"]


def test_before_a_step_begins_its_gate_is_tried() -> None:
    found = read_stamp(line("begin"))
    assert found
    assert found.parts == (Part("gate", 0.0, 10.0),)


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"event": "end", "clock": None},
        {"event": "end", "clock": [1, 2]},
        line(id=""),
        line(id=7),
        line(to=-5.0),
        line(to=float("nan")),
        line(to=float("inf")),
        line(to=10**400),
        line(to=True),
        line(to="10"),
        line(since=11.0),
        line(since=None),
    ],
)
def test_a_line_without_times_that_can_be_has_no_stamp(event: dict[str, Any]) -> None:
    assert read_stamp(event) is None


def test_a_part_that_ends_too_early_or_too_late_is_bounded_by_its_neighbours() -> None:
    found = read_stamp(line(parts=[["save", 6.0], ["prompt", 2.0], ["agent", 1e6, "x", [["first line", 1.0, 1e6]]]]))
    assert found
    assert found.parts == (
        Part("save", 0.0, 6.0),
        Part("prompt", 6.0, 6.0),
        Part("agent", 6.0, 10.0, "x", (Inner("first line", 6.0, 10.0),)),
    )


@given(SECONDS | JSON, SECONDS | JSON, PARTS | JSON, st.floats(0, 50))
def test_whatever_stands_there_the_parts_fill_the_time_and_no_more(
    start: Any, end: Any, parts: Any, not_before: float
) -> None:
    found = read_stamp(line(since=start, to=end, parts=parts), not_before)
    if found is None:
        return
    assert not_before <= found.start <= found.end
    edges = [found.start, *(edge for part in found.parts for edge in (part.start, part.end)), found.end]
    assert edges == sorted(edges)
    assert sum(part.end - part.start for part in found.parts) == pytest.approx(found.end - found.start)
    for part in found.parts:
        assert all(part.start <= one.start <= one.end <= part.end for one in part.inner)
