"""Where the time of a run went, from its diaries: also from old and broken ones, over nights and over clocks that were set."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.model.stamp import Part
from agentd.model.waterfall import Child, Diary, Step, Waterfall, all_parts, waterfall

NOON = datetime(2026, 1, 19, 12, tzinfo=UTC)
START = [["interpreter", 0.1], ["imports", 0.3], ["open", 0.4], ["opening", 0.5]]


def line(event: str, to: float, *parts: list[Any], step: str = "", day: float = 0.0, **more: Any) -> dict[str, Any]:
    """A line of a diary. It was written `to` seconds into its command, which was begun at noon and `day` seconds more."""
    at = (NOON + timedelta(seconds=day + to)).isoformat()
    about: dict[str, Any] = {key: more.pop(key) for key in ("at", "outcome", "why", "note") if key in more}
    clock = {"command": "plan", "id": "a", "from": more.pop("since", 0.0), "to": to, "parts": [*parts], **more}
    return {"at": at, "event": event, **({"step": step} if step else {}), **about, "clock": clock}


def of(*events: dict[str, Any], **children: Diary) -> Waterfall:
    below = {tuple(name.split("__")): child for name, child in children.items()}
    return waterfall(Diary(events, below))  # type: ignore[arg-type]


def diary(*events: dict[str, Any]) -> Diary:
    return Diary(events, {})


PLAN = (
    line("begin", 1.0, *START, step="propose"),
    line("end", 7.0, ["save", 1.5], ["agent", 6.0, "claude"], since=1.0, step="propose", outcome="done"),
    line("begin", 7.5, ["save", 7.2], since=7.0, step="validate"),
    line("end", 10.0, ["command", 9.0, "test"], since=7.5, step="validate", outcome="valid"),
)


def spans(steps: Sequence[Step]) -> list[tuple[str, str, float, float]]:
    return [(step.name, step.outcome, step.start, step.end) for step in steps]


def test_a_command_is_its_start_and_its_steps_one_after_the_other() -> None:
    (command,) = of(*PLAN).commands
    assert (command.name, command.start, command.seconds, command.at[:10]) == ("plan", 0.0, 10.0, "2026-01-19")
    assert [part.name for part in command.parts] == ["interpreter", "imports", "open", "opening"]
    assert spans(command.steps) == [("propose", "done", 0.5, 7.0), ("validate", "valid", 7.0, 10.0)]
    assert [part.name for part in command.steps[0].parts] == ["gate", "save", "agent", "outcome"]
    assert command.totals() == pytest.approx({"agent": 4.5, "project": 1.5, "person": 0.0, "agentd": 4.0})


def test_what_is_saved_before_the_first_step_belongs_to_the_start() -> None:
    (command,) = of(
        line("start", 0.6, *START[:3]),
        line("begin", 1.0, ["save", 0.7], ["opening", 0.9], since=0.6, step="propose"),
    ).commands
    assert command.parts[-1].name == "opening"
    assert spans(command.steps) == [("propose", "", 0.9, 1.0)]


def test_a_diary_without_times_has_none() -> None:
    old = {"n": 1, "at": "2025-01-19T12:00:00Z", "event": "begin", "step": "propose"}
    found = of(old, old)
    assert (found.commands, found.unstamped) == ((), 2)
    assert sum(found.totals().values()) == 0


def test_a_run_that_an_older_release_began_has_the_times_of_its_later_commands() -> None:
    old = {"n": 1, "at": "2025-01-19T12:00:00Z", "event": "begin", "step": "propose"}
    found = of(old, {"event": 7, "step": [], "clock": {"id": "a"}}, *PLAN)
    assert (len(found.commands), found.unstamped) == (1, 2)
    assert found.commands[0].gap == 0


def test_a_night_between_two_commands_is_nobodys_work() -> None:
    night = 8 * 3600
    later = line("end", 2.0, step="implement", outcome="done", id="b", command="impl", day=10 + night)
    first, second = of(*PLAN, later).commands
    assert (first.gap, second.gap, second.start) == (0.0, night, 10.0 + night)
    totals = of(*PLAN, later).totals()
    assert totals["between"] == night
    assert totals["person"] == 0
    assert sum(totals.values()) == pytest.approx(second.start + second.seconds)


@pytest.mark.parametrize("last", [{"event": "ask"}, {"event": "pause", "why": "waiting"}])
def test_hours_without_an_answer_are_a_persons(last: dict[str, Any]) -> None:
    asked = {**line("begin", 10.5, since=10.0, step="approve"), **last}
    later = line("end", 2.0, step="approve", outcome="yes", id="b", day=10.5 + 5 * 3600)
    found = of(*PLAN, asked, later)
    assert found.commands[1].for_person
    assert found.totals()["person"] == 5 * 3600
    assert found.totals()["between"] == 0


def test_an_answer_at_the_terminal_is_waited_for_in_the_command() -> None:
    found = of(line("end", 3600.0, ["gate", 1.0], ["person", 3599.0], step="approve", outcome="yes"))
    assert found.totals()["person"] == 3598.0


def test_a_clock_that_is_set_back_between_commands_makes_no_negative_gap() -> None:
    earlier = line("end", 2.0, step="implement", outcome="done", id="b", day=-86400)
    first, second = of(*PLAN, earlier).commands
    assert (second.gap, second.start) == (0.0, first.seconds)


@pytest.mark.parametrize("hours", [8, -8])
def test_a_machine_that_sleeps_or_whose_clock_is_set_in_a_command_does_not_change_its_bars(hours: int) -> None:
    moved = [line_at(each, hours * 3600 * (number > 0)) for number, each in enumerate(PLAN)]
    later = line("end", 2.0, step="implement", outcome="done", id="b", day=10 + hours * 3600 + 60)
    first, second = of(*moved, later).commands
    assert spans(first.steps) == spans(of(*PLAN).commands[0].steps)
    assert (first.uncounted, second.gap) == (hours * 3600, 60)


def line_at(event: dict[str, Any], later: float) -> dict[str, Any]:
    return {**event, "at": (datetime.fromisoformat(event["at"]) + timedelta(seconds=later)).isoformat()}


@pytest.mark.parametrize("at", ["", "yesterday", "2026-01-19T12:00:00", 7, None, ["x"]])
def test_a_time_of_day_that_is_none_makes_no_gap(at: Any) -> None:
    found = of(*PLAN, line("end", 2.0, step="implement", outcome="done", id="b", at=at))
    assert [command.gap for command in found.commands] == [0.0, 0.0]


def test_a_step_that_was_killed_has_no_outcome_and_goes_on_in_the_next_command() -> None:
    killed = (line("begin", 1.0, *START, step="propose"),)
    again = line("recover", 2.0, step="propose", outcome="done", id="b", day=60)
    first, second = of(*killed, again).commands
    assert spans(first.steps) == [("propose", "", 0.5, 1.0)]
    assert spans(second.steps) == [("propose", "done", 0.0, 2.0)]


def test_a_call_that_is_made_again_is_the_same_visit_to_the_step() -> None:
    (command,) = of(
        line("begin", 1.0, *START, step="propose"),
        line("warning", 2.0, since=1.0),
        line("nudge", 4.0, ["agent", 3.5, "x"], since=2.0, step="propose"),
        line("begin", 4.2, since=4.0, step="propose"),
        line("end", 9.0, ["agent", 8.0, "x"], since=4.2, step="propose", outcome="done"),
        line("begin", 9.5, since=9.0, step="propose"),
    ).commands
    assert spans(command.steps) == [("propose", "done", 0.5, 9.0), ("propose", "", 9.0, 9.5)]
    assert command.totals()["agent"] == 5.3


def wave(*, until: float = 20.0, end: bool = True) -> Waterfall:
    """Two children that work at the same time, from 1 to 11 and from 3 to 17; their agents from 2 to 10 and 4 to 16."""
    one = diary(line("end", 11.0, ["gate", 2.0], ["agent", 10.0, "x"], since=1.0, step="write", outcome="done"))
    two = diary(line("end", 17.0, ["gate", 4.0], ["agent", 16.0, "x"], since=3.0, step="write", outcome="done"))
    begun = line("begin", 1.0, *START, step="specify")
    ended = line("end", until, since=1.0, step="specify", outcome="done")
    return of(begun, *([ended] if end else []), specify__one=one, specify__two=two, other__two=two)


def test_children_side_by_side_share_the_time_of_their_step_and_count_once() -> None:
    (command,) = wave().commands
    (step,) = command.steps
    assert [(child.name, child.start, child.end) for child in step.children] == [("one", 1.0, 11.0), ("two", 3.0, 17.0)]
    assert [part.name for part in step.parts] == ["gate", "children"]
    assert command.totals() == pytest.approx({"agent": 14.0, "project": 0.0, "person": 0.0, "agentd": 6.0})


def test_a_step_that_is_killed_lasts_as_long_as_its_children_are_known_to() -> None:
    (command,) = wave(end=False).commands
    assert spans(command.steps) == [("specify", "", 0.5, 17.0)]
    assert command.seconds == 17.0
    assert len(command.steps[0].children) == 2


def test_a_line_that_claims_to_be_older_than_the_one_before_it_comes_after_it() -> None:
    found = of(*PLAN, line("end", 8.0, ["agent", 7.0], since=2.0, step="validate", outcome="valid"))
    assert found.commands[0].seconds == 10.0
    assert found.commands[0].totals()["agent"] == 4.5


# Small numbers, so that what is in what else, or just not, is tried often.
SECONDS = st.integers(0, 9)
NAMES = st.sampled_from(["agent", "command", "person", "save", "opening"])


def stamped(
    event: str, step: str, since: float | None, took: float, parts: list[list[Any]], name: str, day: float
) -> dict[str, Any]:
    to = None if since is None else since + took
    clock = {"command": "x", "id": name, "from": since, "to": to, "parts": parts}
    return {**line(event, 0.0, step=step, outcome="done", day=day), "clock": clock}


LINES = st.builds(
    stamped,
    st.sampled_from(["end", "begin", "skip", "ask", "warning", "pause"]),
    st.sampled_from(["specify", "validate", ""]),
    SECONDS | st.floats(0, 1000) | st.none(),
    SECONDS,
    st.lists(st.tuples(NAMES, SECONDS | st.floats(0, 1000) | st.none()).map(list), max_size=4),
    st.sampled_from("aab"),
    st.floats(-1e6, 1e6),
)
CHILD = st.lists(LINES, max_size=5).map(lambda events: Diary(events, {}))


@given(st.lists(LINES, max_size=8), st.dictionaries(st.sampled_from(["one", "two"]), CHILD))
def test_no_part_is_longer_than_its_whole_and_nothing_comes_before_what_it_follows(
    events: list[dict[str, Any]], children: dict[str, Diary]
) -> None:
    found = waterfall(Diary(events, {("specify", item): child for item, child in children.items()}))
    starts = [edge for command in found.commands for edge in (command.start, command.start + command.seconds)]
    assert starts == sorted(starts)
    whole = starts[-1] if starts else 0.0
    assert sum(found.totals().values()) == pytest.approx(whole)
    assert all(seconds >= 0 for seconds in found.totals().values())
    for command in found.commands:
        assert sum(command.totals().values()) == pytest.approx(command.seconds)
        assert all(
            0 <= part.start <= part.end <= command.seconds for part in (*command.parts, *all_parts(command.steps))
        )
        edges = [0.0, *(edge for step in command.steps for edge in (step.start, step.end)), command.seconds]
        assert edges == sorted(edges)
        for step in command.steps:
            holds(step)


def holds(step: Step | Child) -> None:
    """What is in a step or a child begins and ends in it."""
    inner: Sequence[Part | Step | Child] = step.steps if isinstance(step, Child) else (*step.parts, *step.children)
    for one in inner:
        assert step.start <= one.start <= one.end <= step.end
        if isinstance(one, Step | Child):
            holds(one)
