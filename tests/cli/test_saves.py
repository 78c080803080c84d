"""The end of a step and the beginning of the next one, where nothing is looked at between them: one save, killed or not."""

import signal
from pathlib import Path

import pytest

from tests.sandbox import Sandbox

THREE = """
name: three
starts: {full: one}
steps:
  one: {phase: working, do: nothing, next: {done: two}}
  two: {phase: working, do: nothing, next: {done: three}}
  three: {phase: working, do: nothing, next: {done: over}}
  over: {phase: over, end: done}
"""
BEGUN = ["start", "begin one"]
WHOLE = [*BEGUN, "end one", "begin two", "end two", "begin three", "end three"]


@pytest.fixture
def three(sandbox: Sandbox) -> Sandbox:
    sandbox.own_workflow("three", THREE)
    return sandbox


def run(sandbox: Sandbox, **env: str) -> int:
    return sandbox.run("run", "three", "do it", "--name", "r1", env=env).code


def told(sandbox: Sandbox) -> list[str]:
    events = sandbox.run("log", "r1", "--json").data["events"]
    assert [event["n"] for event in events] == list(range(1, len(events) + 1))
    return [f"{event['event']} {event.get('step', '')}".strip() for event in events]


def test_the_end_of_a_step_is_saved_with_the_beginning_of_the_next(three: Sandbox, tmp_path: Path) -> None:
    log = tmp_path / "points"
    assert run(three, AGENTD_CRASH_LOG=str(log)) == 0
    writes = [line.split()[0] for line in log.read_text().splitlines()]
    assert (writes.count("journal"), writes.count("state")) == (5, 5)
    assert told(three) == WHOLE


def test_a_run_that_stops_after_a_step_has_saved_its_end(three: Sandbox) -> None:
    assert run(three, AGENTD_CRASH="step:1:before") == -signal.SIGKILL
    stopped = three.run("resume", "r1", "--steps", "1")
    assert stopped.out.index("▶ one") < stopped.out.index("✓ one: done")
    assert told(three) == [*BEGUN, "end one"]
    shown = three.run("status", "r1", "--json").data
    assert (shown["step"], shown["doing"]) == ("two", "ready")


@pytest.mark.parametrize(
    "place", ["step:3:before", "journal:3:torn", "state:3:before", "state:3:torn", "state:3:after"]
)
def test_a_kill_between_two_steps_loses_and_repeats_no_save(three: Sandbox, place: str) -> None:
    assert run(three, AGENTD_CRASH=place) == -signal.SIGKILL
    saved = place == "state:3:after"
    shown = three.run("status", "r1", "--json").data
    assert (shown["step"], shown["doing"]) == ("two" if saved else "one", "interrupted")
    assert three.run("resume", "r1").code == 0
    repeated = ["begin two"] if saved else ["begin one"]
    assert told(three) == [*BEGUN, *(["end one", "begin two"] if saved else []), *repeated, *WHOLE[4 if saved else 2 :]]


def test_what_a_save_told_that_was_cut_off_did_not_happen(three: Sandbox) -> None:
    assert run(three, AGENTD_CRASH="state:3:before") == -signal.SIGKILL
    assert told(three) == [*BEGUN, "end one", "begin two"]
    assert three.run("resume", "r1", env={"AGENTD_CRASH": "step:2:before"}).code == -signal.SIGKILL
    assert told(three) == [*BEGUN, "begin one"]
