"""A person's own workflows: found, proved sound, run, children and all."""

import json
from pathlib import Path

import pytest

from tests.sandbox import Sandbox, wait_until

SHIP = """
name: ship
about: build, ask, ship
starts: {full: build}
steps:
  build: {phase: making, agent: implementer, produces: [notes.md], next: {done: sure}}
  sure:
    phase: making
    needs: [notes.md]
    ask: "Ship it?"
    next:
      ship: over
      again: {to: "@again", rewind: true}
  over: {phase: shipped, end: shipped}
"""
BATCH = """
name: batch
starts: {full: split}
steps:
  split: {phase: planning, agent: planner, produces: [tasks.yaml], next: {done: work}}
  work: {phase: working, needs: [tasks.yaml], each: piece, next: {done: over, spoilt: what}}
  what: {phase: working, ask: "Some pieces are spoilt. Again?", next: {again: work, leave: over}}
  over: {phase: over, end: done}
"""
PIECE = """
name: piece
of: tasks
starts: {full: make}
steps:
  make: {phase: making, agent: implementer, next: {done: good, bad: spoilt, unsure: sure}}
  sure: {phase: making, ask: "Is this piece good?", next: {good: good, again: make}}
  good: {phase: made, end: done}
  spoilt: {phase: made, end: spoilt}
"""
RELEASE = """
name: release
starts: {full: test}
steps:
  test: {phase: testing, do: run_tests, produces: [evidence.json], next: {green: sure, red: over, unknown: over}}
  sure: {phase: testing, ask: "Release it?", next: {"yes": release, "no": over}}
  release: {phase: releasing, needs: [evidence.json], agent: implementer, next: {done: over}}
  over: {phase: over, end: done}
"""
TASKS = "tasks:\n- {id: a}\n- {id: b, depends_on: [a]}\n- {id: c, depends_on: [a]}\n- {id: d, depends_on: [b, c]}\n"


@pytest.fixture
def batch(sandbox: Sandbox) -> Sandbox:
    sandbox.own_workflow("batch", BATCH)
    sandbox.own_workflow("piece", PIECE)
    sandbox.script(
        split={"documents": {"tasks.yaml": TASKS}}, make={"record": str(sandbox.root / "made.txt"), "outcome": "done"}
    )
    return sandbox


def made(sandbox: Sandbox) -> list[str]:
    """Which item was worked on, in order."""
    return [line.split()[1] for line in (sandbox.root / "made.txt").read_text().splitlines()]


def test_an_own_workflow_is_listed_shown_checked_and_run(sandbox: Sandbox) -> None:
    sandbox.own_workflow("ship", SHIP)
    sandbox.script(build={"documents": {"notes.md": "ready"}})
    assert "build, ask, ship" in sandbox.run("workflow", "list").out
    assert "sure" in sandbox.run("workflow", "show", "ship").out
    assert "stateDiagram-v2" in sandbox.run("workflow", "show", "ship", "--diagram").out
    assert "is sound" in sandbox.run("workflow", "check", "agentd/workflows/ship.yaml").out
    asked = sandbox.run("run", "ship", "the new release", "--name", "r1", "--json")
    assert asked.code == 4
    assert asked.data["decisions"][0]["question"] == "Ship it?"
    sandbox.run("answer", "r1", "UD-1", "ship")
    done = sandbox.run("resume", "ship/r1", "--json")
    assert (done.code, done.data["phase"], done.data["doing"]) == (0, "shipped", "finished")


def test_a_rewind_takes_away_what_was_produced_and_does_it_again(sandbox: Sandbox) -> None:
    sandbox.own_workflow("ship", SHIP)
    sandbox.script(build=[{"documents": {"notes.md": "first"}}, {"documents": {"notes.md": "second"}}])
    sandbox.run("run", "ship", "x", "--name", "r1")
    sandbox.run("answer", "r1", "UD-1", "again")
    assert sandbox.run("resume", "r1").code == 4
    folder = sandbox.root / "agentd" / "runs" / "r1"
    assert (folder / "notes.md").read_text() == "second"
    assert sandbox.calls(folder) == ["build-1.1", "build-2.1"]


def test_an_unsound_workflow_is_refused_with_its_line_and_step(sandbox: Sandbox) -> None:
    sandbox.own_workflow("ship", SHIP.replace("again: {to:", "again: {to: nowhere, x:"))
    sandbox.own_workflow("loop", SHIP.replace("name: ship", "name: loop").replace('ask: "Ship it?"', "do: nothing"))
    first = sandbox.run("workflow", "check", "agentd/workflows/ship.yaml")
    assert first.code == 1
    assert "ship.yaml:13: step 'sure': unknown key 'x'" in first.err
    second = sandbox.run("run", "loop", "x")
    assert second.code == 1
    assert "step 'sure'" in second.err
    assert not (sandbox.root / "agentd" / "runs").exists()


def test_an_action_nobody_knows_is_refused_before_anything_runs(sandbox: Sandbox) -> None:
    sandbox.own_workflow("ship", SHIP.replace("agent: implementer", "do: fly"))
    refused = sandbox.run("run", "ship", "x")
    assert refused.code == 1
    assert "unknown action 'fly'" in refused.err
    assert not (sandbox.root / "agentd" / "runs").exists()


@pytest.mark.parametrize("name", ["change-question", "change-spec", "change-part", "change-review"])
def test_a_part_of_a_built_in_workflow_does_not_run_by_itself(sandbox: Sandbox, name: str) -> None:
    refused = sandbox.run("run", name, "x", "--json")
    assert (refused.code, refused.data["error"]) == (1, "GateClosed")
    assert f"{name} is a part of the change workflow" in refused.data["message"]
    assert not (sandbox.root / "agentd" / "runs").exists()


def test_each_runs_a_child_per_task_in_the_order_of_their_dependencies(batch: Sandbox) -> None:
    done = batch.run("run", "batch", "x", "--name", "b1", "--json")
    assert done.code == 0, done.out
    order = made(batch)
    assert sorted(order) == ["a", "b", "c", "d"]
    assert order[0] == "a"
    assert order[-1] == "d"
    assert done.data["children"] == {f"work/{item}": "done" for item in "abcd"}


def test_a_question_inside_one_child_pauses_the_parent_and_finished_children_never_run_again(batch: Sandbox) -> None:
    batch.script(**{"make@b": [{"outcome": "unsure", "record": str(batch.root / "made.txt")}]})
    stopped = batch.run("run", "batch", "x", "--name", "b1", "--json")
    assert stopped.code == 4
    assert sorted(made(batch)) == ["a", "b", "c"]
    (decision,) = stopped.data["decisions"]
    assert decision["decision_id"] == "UD-b-1"
    assert batch.run("answer", "b1", "UD-b-1", "good").code == 0
    done = batch.run("resume", "b1", "--json")
    assert (done.code, done.data["doing"]) == (0, "finished")
    assert sorted(made(batch)) == ["a", "b", "c", "d"]


def test_a_child_that_ended_badly_starts_anew_and_the_good_ones_stay(batch: Sandbox) -> None:
    record = str(batch.root / "made.txt")
    batch.script(**{"make@c": [{"outcome": "bad", "record": record}]})
    stopped = batch.run("run", "batch", "x", "--name", "b1", "--json")
    assert stopped.code == 4
    assert sorted(made(batch)) == ["a", "b", "c"]
    batch.script(**{"make@c": {"outcome": "done", "record": record}})
    batch.run("answer", "b1", "UD-1", "again")
    done = batch.run("resume", "b1", "--json")
    assert (done.code, done.data["doing"]) == (0, "finished"), done.out
    assert sorted(made(batch)) == ["a", "b", "c", "c", "d"]


def test_children_without_a_common_dependency_run_at_the_same_time(batch: Sandbox) -> None:
    """b and c each wait for a file the other writes before its end, so one after the other would never finish."""
    for item, other in (("b", "c"), ("c", "b")):
        waiting = ["sh", "-c", f"until [ -e {other}.here ]; do sleep 0.02; done"]
        batch.script(**{f"make@{item}": {"files": {f"{item}.here": "x"}, "run": waiting, "outcome": "done"}})
    assert batch.run("run", "batch", "x", "--name", "b1").code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tasks:\n- {id: a, depends_on: [b]}\n- {id: b, depends_on: [a]}\n", "Circular dependency detected: a → b → a"),
        ("tasks:\n- {id: a, depends_on: [z]}\n", "a depends on z"),
        ("tasks:\n- {id: a}\n- {id: a}\n", "listed twice"),
        ("tasks:\n- {id: ../../etc}\n", "cannot be the id of a task"),
        ("tasks: 7\n", "must be a list"),
        ("{", "tasks.yaml"),
    ],
)
def test_tasks_that_cannot_be_are_an_error_and_can_be_corrected(batch: Sandbox, text: str, said: str) -> None:
    batch.script(split={"documents": {"tasks.yaml": text}})
    refused = batch.run("run", "batch", "x", "--name", "b1")
    assert refused.code in (1, 2)
    assert said in refused.err
    (batch.root / "agentd" / "runs" / "b1" / "tasks.yaml").write_text(TASKS)
    assert batch.run("resume", "b1").code == 0


def test_stop_ends_a_run_after_its_step_and_resume_goes_on(batch: Sandbox) -> None:
    gate = batch.root / "agentd" / "runs" / "b1" / "go"
    batch.script(split={"documents": {"tasks.yaml": TASKS}, "wait_for": "go", "after": "start"})
    working = batch.begin("run", "batch", "x", "--name", "b1")
    wait_until(lambda: (gate.parent / "calls" / "split-1.1.jsonl").exists())
    assert "stops after its step" in batch.run("stop", "b1").out
    gate.write_text("")
    assert working.wait(30) == 4
    working.communicate()
    assert not (batch.root / "made.txt").exists()
    assert "Nobody works on it" in batch.run("stop", "b1").out
    assert batch.run("resume", "b1").code == 0


def test_names_of_runs_are_made_from_the_description_and_kept_apart(batch: Sandbox) -> None:
    names = [batch.run("run", "batch", "Make it so, please now", "--json").data["name"] for _ in range(2)]
    assert names == ["make-it-so-please", "make-it-so-please-2"]
    listed = [row["run"] for row in batch.run("list", "--all", "--json").data["runs"]]
    assert listed == ["batch/make-it-so-please", "batch/make-it-so-please-2"]
    assert json.loads(batch.run("list", "--json").out)["runs"] == []


def test_one_name_for_two_runs_is_asked_about(batch: Sandbox, tmp_path: Path) -> None:
    batch.own_workflow("ship", SHIP)
    batch.run("run", "batch", "x", "--name", "add-top-words")
    batch.plan()
    doubtful = batch.run("status", "add-top-words")
    assert doubtful.code == 2
    assert "change/add-top-words" in doubtful.err
    assert batch.run("status", "batch/add-top-words", "--json").data["workflow"] == "batch"


def test_a_workflow_is_called_what_its_file_is_called_and_no_built_in_is_overridden(sandbox: Sandbox) -> None:
    sandbox.own_workflow("sail", SHIP)
    told = sandbox.run("run", "sail", "x")
    assert told.code == 1
    assert "mv agentd/workflows/sail.yaml agentd/workflows/ship.yaml" in told.err
    sandbox.own_workflow("change", SHIP.replace("name: ship", "name: change"))
    told = sandbox.run("workflow", "check", "agentd/workflows/change.yaml")
    assert "the name of a built-in" in told.err
    told = sandbox.run("run", "change", "x")
    assert (told.code, "agentd plan add-feature" in told.err) == (2, True)


def test_the_same_command_goes_on_with_the_run_it_started(sandbox: Sandbox) -> None:
    sandbox.own_workflow("ship", SHIP)
    sandbox.script(build={"documents": {"notes.md": "ready"}})
    assert sandbox.run("run", "ship", "release 2").code == 4
    again = sandbox.run("run", "ship", "release 2", "--json")
    assert (again.code, again.data["name"]) == (4, "release-2")
    sandbox.run("answer", "release-2", "UD-1", "ship")
    assert sandbox.run("run", "ship", "release 2").code == 0
    assert sandbox.run("run", "ship", "release 2", "--json").data["name"] == "release-2-2"


def test_a_rewind_never_takes_agentds_own_files(sandbox: Sandbox) -> None:
    sandbox.own_workflow("ship", SHIP.replace("produces: [notes.md]", 'produces: ["*.*"]'))
    sandbox.script(build={"documents": {"notes.md": "ready"}})
    sandbox.run("run", "ship", "x", "--name", "r1")
    sandbox.run("answer", "r1", "UD-1", "again")
    assert sandbox.run("resume", "r1").code == 4
    folder = sandbox.root / "agentd" / "runs" / "r1"
    assert (folder / "STATE.yaml").exists()
    assert sandbox.events(folder)[0]["event"] == "start"
    assert sandbox.run("answer", "r1", "UD-2", "ship").code == 0


def test_a_question_of_a_childs_child_can_be_answered(batch: Sandbox) -> None:
    batch.own_workflow("nest", BATCH.replace("name: batch", "name: nest").replace("each: piece", "each: middle"))
    middle = "name: middle\nof: tasks\nstarts: {full: work}\nsteps:\n"
    middle += "  work: {phase: a, each: piece, next: {done: good, spoilt: bad}}\n"
    middle += "  good: {phase: b, end: done}\n  bad: {phase: b, end: spoilt}\n"
    batch.own_workflow("middle", middle)
    batch.script(
        split={"documents": {"tasks.yaml": "tasks: [{id: a}]", "children/work/a/tasks.yaml": "tasks: [{id: b}]"}}
    )
    batch.script(make={"outcome": "unsure"})
    stopped = batch.run("run", "nest", "x", "--name", "n1", "--json")
    assert stopped.code == 4, stopped.out
    (decision,) = stopped.data["decisions"]
    assert decision["decision_id"] == "UD-a-b-1"
    assert decision["question"] == "b: Is this piece good?"
    assert batch.run("answer", "n1", "UD-a-b-1", "good").code == 0
    assert batch.run("resume", "n1").code == 0


def test_a_workflow_that_would_run_itself_is_refused(batch: Sandbox) -> None:
    batch.own_workflow(
        "piece",
        PIECE.replace("agent: implementer", "each: piece").replace("bad: spoilt, unsure: sure", "spoilt: spoilt"),
    )
    told = batch.run("run", "batch", "x")
    assert told.code == 1
    assert "would run itself" in told.err or "cannot be reached" in told.err


@pytest.mark.parametrize("depends", ["5", "a"])
def test_dependencies_that_are_no_list_are_refused(batch: Sandbox, depends: str) -> None:
    batch.script(split={"documents": {"tasks.yaml": f"tasks:\n- {{id: a}}\n- {{id: b, depends_on: {depends}}}\n"}})
    told = batch.run("run", "batch", "x")
    assert told.code == 1
    assert "depends_on of b must be a list" in told.err


def test_a_workflow_file_that_is_broken_or_gone_hides_no_run(sandbox: Sandbox) -> None:
    sandbox.own_workflow("ship", SHIP)
    sandbox.script(build={"documents": {"notes.md": "ready"}})
    sandbox.run("run", "ship", "x", "--name", "r1")
    sandbox.plan()
    (sandbox.root / "agentd" / "workflows" / "ship.yaml").write_text("junk")
    shown = sandbox.run("status")
    assert shown.code == 1
    assert "change/add-top-words" in shown.out
    assert "ship.yaml:1" in shown.out


def test_evidence_counts_only_as_agentd_wrote_it(sandbox: Sandbox) -> None:
    """Nobody put it back: no agent was at work. Its checksum is in the state, which no agent can change."""
    sandbox.own_workflow("release", RELEASE)
    sandbox.script(release={"outcome": "done"})
    sandbox.set("evidence", test="true")
    assert sandbox.run("run", "release", "the tests first", "--name", "r1").code == 4
    evidence = sandbox.root / "agentd" / "runs" / "r1" / "evidence.json"
    written = evidence.read_bytes()
    evidence.write_bytes(written + b"\n")
    sandbox.run("answer", "r1", "UD-1", "yes")
    refused = sandbox.run("resume", "r1")
    assert (refused.code, sandbox.calls(evidence.parent)) == (1, [])
    assert "evidence.json is not what agentd wrote" in refused.err
    evidence.write_bytes(written)
    assert sandbox.run("resume", "r1").code == 0
