"""`agentd log RUN --timing`: the times of real runs as they are kept, and of runs that were killed or mean harm."""

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentd import demo
from tests.sandbox import CHANGE, Sandbox, kill, make_sandbox, wait_until

CALLED = ("prepare", "prompt", "argv", "launch", "agent", "restore", "judge")
SHIP = """
name: ship
about: "ask, ship"
starts: {full: sure}
steps:
  sure: {phase: writing, ask: "Ship it?", next: {"yes": over, "no": over}}
  over: {phase: shipped, end: done}
"""
SAMPLE = Path(demo.__file__).with_name("sample")


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return make_sandbox(tmp_path)


def timing(sandbox: Sandbox, run: str = CHANGE) -> dict[str, Any]:
    done = sandbox.run("log", run, "--timing", "--json")
    assert done.code == 0, done.err
    return done.data


def steps(command: dict[str, Any]) -> list[tuple[str, str]]:
    return [(step["step"], step["outcome"]) for step in command["steps"]]


def test_a_plan_and_its_implementation_tell_where_their_time_went(sandbox: Sandbox) -> None:
    with_tools = yaml.safe_load((SAMPLE / "script.yaml").read_text(encoding="utf-8"))["propose"]
    with_tools["tools"][0]["create_proposal"]["impact"]["affected_specs"] = ["top-words"]
    sandbox.script(propose=with_tools)
    begun = time.monotonic()
    assert sandbox.plan().code == 0
    assert sandbox.run("impl", CHANGE).code == 0
    took = time.monotonic() - begun
    found = timing(sandbox)
    plan, impl = found["commands"]
    assert (plan["command"], impl["command"], found["not_recorded"]) == ("plan", "impl", 0)
    assert 0 < found["totals"]["agentd"] < sum(found["totals"].values()) <= took
    assert plan["totals"]["agent"] > 0 < impl["totals"]["agent"]
    assert (plan["totals"]["project"], plan["totals"]["person"]) == (0, 0)
    assert impl["totals"]["project"] > 0
    assert [part["part"] for part in plan["parts"]][:3] == ["interpreter", "imports", "open"]
    propose = next(step for step in plan["steps"] if step["step"] == "propose")
    names = [part["part"] for part in propose["parts"]]
    assert names == ["save", "gate", "save", *CALLED, "outcome"]
    agent = next(part for part in propose["parts"] if part["part"] == "agent")
    assert agent["about"] == "scripted"
    assert {"first line", "tools asked for", "create_proposal"} <= {one["name"] for one in agent["inner"]}
    for step in (*plan["steps"], *impl["steps"]):
        whole = sum(part["seconds"] for part in step["parts"])
        assert whole == pytest.approx(step["seconds"], abs=0.002)
    kids = [child["item"] for step in plan["steps"] for child in step.get("children", ())]
    assert "top-words" in kids
    shown = sandbox.run("log", CHANGE, "--timing").out
    assert "    agent scripted" in shown
    assert "\nTotal: agents " in shown
    assert '"clock"' not in sandbox.run("log", CHANGE).out
    assert "clock=" not in sandbox.run("log", CHANGE).out


def test_a_question_that_nobody_answers_at_once_is_waited_for_by_a_person(sandbox: Sandbox) -> None:
    sandbox.own_workflow("ship", SHIP)
    asked = sandbox.run("run", "ship", "release 2", "--json")
    assert asked.code == 4
    name = f"ship/{asked.data['name']}"
    assert sandbox.run("answer", name, asked.data["decisions"][0]["decision_id"], "yes").code == 0
    assert sandbox.run("resume", name).code == 0
    found = timing(sandbox, name)
    first, second = found["commands"]
    assert (first["command"], second["command"]) == ("run ship", "resume")
    assert second["gap_for_person"]
    assert found["totals"]["person"] >= second["gap"] > 0
    assert found["totals"]["between"] == 0
    assert steps(second) == [("sure", "yes")]


def test_a_killed_step_has_no_end_and_the_next_command_takes_it_up(sandbox: Sandbox) -> None:
    honest = sandbox.entry("propose")
    sandbox.script(propose={**honest, "hang": True})
    going = sandbox.begin("plan", CHANGE, "Give the words", "--skip-clarify")
    wait_until(lambda: list(sandbox.root.rglob("calls/propose-1.1.jsonl")))
    assert kill(going, signal.SIGKILL) == -signal.SIGKILL
    sandbox.script(propose=honest)
    (killed,) = timing(sandbox)["commands"]
    assert steps(killed)[-1] == ("propose", "")
    assert sandbox.run("plan", CHANGE).code == 0
    first, second = timing(sandbox)["commands"]
    assert steps(second)[0] == ("propose", "done")
    assert second["gap"] > 0
    assert first["start"] + first["seconds"] + second["gap"] == pytest.approx(second["start"], abs=0.001)


def test_an_old_and_a_broken_diary_are_told_as_not_recorded(planned: Sandbox) -> None:
    path = planned.folder() / "journal.jsonl"
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    old = [{key: value for key, value in line.items() if key != "clock"} for line in lines]
    path.write_text("".join(json.dumps(line) + "\n" for line in old) + '{"n": 99, "clo')
    found = timing(planned)
    assert (found["commands"], found["not_recorded"]) == ([], len(old))
    assert planned.run("log", CHANGE, "--timing").out == f"Not recorded: the times of {len(old)} lines of the diary.\n"


def test_a_diary_that_means_harm_steers_no_terminal_and_writes_nothing(planned: Sandbox) -> None:
    path = planned.folder() / "journal.jsonl"
    parts = [["\x1b[2Jagent\x07", 5.0, "\x9b31m", [["\x1b]0;x\x07", 1.0, 1e300]]], ["save", "\x1b"], None]
    clock = {"command": "\x1b[31mplan\n\n", "id": "\x1b", "from": 0, "to": 9.0, "parts": parts}
    line = {"at": "\x1b[1m", "event": "end", "step": "\x1b[2J" * 50, "outcome": "\r\x00", "clock": clock}
    path.write_text(json.dumps(line) + "\n" + json.dumps({**line, "clock": {**clock, "to": 10**400}}) + "\n")
    before = {file: file.stat().st_mtime_ns for file in planned.root.rglob("*")}
    shown = planned.run("log", CHANGE, "--timing")
    assert shown.code == 0, shown.err
    assert not {*"\x1b\x07\x9b\r\x00"} & {*shown.out}
    assert "agent" in shown.out
    assert planned.run("log", CHANGE, "--timing", "--json").code == 0
    assert {file: file.stat().st_mtime_ns for file in planned.root.rglob("*")} == before


def test_a_linked_child_is_not_looked_into(planned: Sandbox, tmp_path: Path) -> None:
    def has_children() -> bool:
        return any(step.get("children") for step in timing(planned)["commands"][0]["steps"])

    assert has_children()
    for name in ("children", "children/specify", "children/specify/top-words"):
        folder, away = planned.folder() / name, tmp_path / "elsewhere"
        folder.rename(away)
        folder.symlink_to(away)
        assert not has_children()
        folder.unlink()
        away.rename(folder)


def test_it_is_about_the_whole_run_and_takes_no_other_option(sandbox: Sandbox) -> None:
    for words in (("-n", "1"), ("--raw",), ("--call", "x"), ("--follow",)):
        assert sandbox.run("log", CHANGE, "--timing", *words).code == 2
    assert sandbox.run("log", CHANGE, "--timing").code == 1
