"""The options of a staged run: which stages it has, where a person has it go on, what `status` shows, how it stops."""

import json
from pathlib import Path

import pytest

from tests.sandbox import wait_until
from tests.staged.examples import Moment
from tests.staged.runs import TASK, Staged, code, plan, review, task


def words(staged: Staged) -> dict[str, str]:
    return {stage: str(one["status"]) for stage, one in staged.state["stages"].items()}


def counts(staged: Staged) -> dict[str, int]:
    return {stage: one["restartCount"] for stage, one in staged.state["stages"].items() if one["restartCount"]}


@pytest.mark.requirement(267)
def test_a_run_with_a_plan_begins_with_doing_it(staged: Staged, tmp_path: Path) -> None:
    path = tmp_path / "plan.md"
    path.write_text("# Mine\n\n" + plan(task(1), task(2)))
    staged.script(**{"implement@task-1": code(1), "implement@task-2": code(2)})
    ran = staged.start("--plan", str(path), "--no-test")
    assert ran.code == 0, ran.err
    found = words(staged)
    assert found == {
        "EXPLORE": "skipped", "PLAN": "skipped", "IMPLEMENT": "completed", "TEST": "skipped", "FINAL": "completed",
    }  # fmt: skip
    assert sorted(staged.calls()[:2]) == ["task-1/implement", "task-2/implement"]
    assert staged.phase("1.2-plan.md") == path.read_text()
    assert [*staged.state["gates"]] == ["IMPLEMENT->FINAL", "FINAL->COMPLETE"]
    assert sorted(staged.landed()) == ["task-1: Part 1", "task-2: Part 2"]


@pytest.mark.requirement(267)
def test_a_run_from_a_stage_does_without_those_before_it(staged: Staged) -> None:
    ran = staged.start("--from-stage", "implement")
    assert ran.code == 0, ran.err
    assert [stage for stage, word in words(staged).items() if word == "skipped"] == ["EXPLORE", "PLAN"]
    assert staged.calls()[0] == "task-1/implement"
    assert TASK in "\n".join(staged.landed())
    shown = staged.sandbox.run("status", "staged/tmp", "--verbose").out
    assert "· 1.2  PLAN       Plan  skipped" in shown


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--from-stage", "SHIP"), "'SHIP' is no stage."),
        (("--plan", "missing.md"), "missing.md: No such file or directory."),
        (("--plan", "README.md"), "README.md is no valid plan"),
        (("--plan", "README.md", "--from-stage", "PLAN"), "--plan gives the plan, so the run cannot begin at PLAN."),
    ],
)
def test_options_that_mean_nothing_are_refused_before_a_run_begins(
    staged: Staged, given: tuple[str, ...], said: str
) -> None:
    ran = staged.start(*given)
    assert ran.code != 0
    assert said in ran.err
    assert not staged.folder.exists()


@pytest.mark.requirement(267)
def test_stages_are_disabled_in_the_configuration_and_a_wrong_name_is_told(staged: Staged) -> None:
    staged.sandbox.set("staged", without=["TESTS"])
    assert "[staged] without names 'TESTS', which is no stage." in staged.start().err
    staged.sandbox.set("staged", without=["EXPLORE", "PLAN", "IMPLEMENT", "TEST", "FINAL"])
    assert "No stage is left." in staged.start().err


@pytest.mark.requirement(311)
@pytest.mark.parametrize(
    ("flag", "first", "restarted"),
    [("--restart-stage", "brainstorm", "PLAN"), ("--restart-previous", "query-", "EXPLORE")],
)
def test_a_person_restarts_the_stage_or_the_one_before_it(
    plan_is_stuck: Moment, flag: str, first: str, restarted: str
) -> None:
    staged = plan_is_stuck.again()
    staged.script(review_plan=review())
    before = len(staged.calls())
    ran = staged.resume(flag)
    assert ran.code == 0, ran.err
    assert staged.calls()[before].startswith(first)
    assert counts(staged) == {restarted: 1}
    assert staged.pending() == []
    assert staged.state["status"] == "completed"


@pytest.mark.requirement(263, 311)
@pytest.mark.parametrize(
    ("flag", "left"),
    [
        ("--restart-stage", ["0-explore.md", "1.1-brainstorm.md", "1.2-plan.md", "1.3-plan-review.json"]),
        ("--restart-previous", ["0-explore.md"]),
    ],
)
def test_a_restart_deletes_the_files_of_its_stage_and_of_later_ones_and_no_others(
    code_is_stuck: Moment, flag: str, left: list[str]
) -> None:
    staged = code_is_stuck.again()
    (staged.folder / "phases" / "notes.md").write_text("mine\n")
    stop = {"fail": "quota", "say": "limit reached"}
    staged.script(implement=stop, brainstorm=stop)
    staged.resume(flag)
    assert [name for name in staged.phases() if "summary" not in name] == [*left, "notes.md"]
    assert [name for name in staged.state["files"] if "summary" not in name] == left
    assert staged.state["currentPhase"] == ("2.1" if flag == "--restart-stage" else "1.1")
    assert len(staged.state["set_aside"]) == (2 if flag == "--restart-stage" else 1)  # its code goes when it begins


@pytest.mark.requirement(263)
def test_the_restart_of_each_stage_deletes_exactly_its_files(final_is_blocked: Moment) -> None:
    made = {name for name in final_is_blocked.again().phases() if "summary" not in name}
    for flag, gone in (("--restart-stage", "4"), ("--restart-previous", "34")):
        staged = final_is_blocked.again()
        stop = {"fail": "quota", "say": "limit reached"}
        staged.script(document=stop, review_tests=stop)
        staged.resume(flag)
        left = {name for name in staged.phases() if "summary" not in name}
        assert left - {"3.1-test-results.json"} == {
            name for name in made if name[0] not in gone and name != "3.1-test-results.json"
        }


@pytest.mark.requirement(311)
def test_a_person_goes_on_from_a_phase_and_what_came_after_it_is_done_again(plan_is_stuck: Moment) -> None:
    staged = plan_is_stuck.again()
    staged.script(review_plan=review())
    before = len(staged.calls())
    ran = staged.resume("--from-phase", "1.2")
    assert ran.code == 0, ran.err
    assert staged.calls()[before : before + 2] == ["logic/plan", "review_plan"]
    assert counts(staged) == {}
    assert staged.pending() == []


def test_what_comes_after_a_phase_that_is_done_again_is_pending_and_its_files_are_gone(
    final_is_blocked: Moment,
) -> None:
    staged = final_is_blocked.again()
    staged.script(plan={"fail": "quota", "say": "limit reached"})
    staged.resume("--from-phase", "1.2")
    phases = {name: one["status"] for stage in staged.state["stages"].values() for name, one in stage["phases"].items()}
    assert [name for name, word in phases.items() if word == "completed"] == ["0", "1.1"]
    assert {word for name, word in phases.items() if name[0] in "234"} == {"pending"}
    assert [name for name in staged.phases() if "summary" not in name] == ["0-explore.md", "1.1-brainstorm.md"]
    assert [name for name in staged.state["files"] if "summary" not in name] == ["0-explore.md", "1.1-brainstorm.md"]


def test_a_phase_written_into_the_state_by_hand_was_not_reached(plan_is_stuck: Moment) -> None:
    staged = plan_is_stuck.again()
    path = staged.folder / "state.json"
    path.write_text(path.read_text().replace('"currentPhase": "1.3"', '"currentPhase": "4.2"'))
    assert "'2.2' is no phase that this run has reached." in staged.resume("--from-phase", "2.2").err


def test_a_phase_that_is_none_or_was_not_reached_is_refused(plan_is_stuck: Moment) -> None:
    staged = plan_is_stuck.again()
    for phase in ("9.9", "", "2.1", "4.3"):
        ran = staged.resume("--from-phase", phase) if phase else staged.resume("--from-phase", " ")
        assert ran.code not in (0, 4), phase
        assert staged.state["currentPhase"] == "1.3"
    assert "task-1/implement" not in staged.calls()


def test_failed_tasks_are_tried_again_and_those_that_landed_are_not(task_failed: Moment) -> None:
    staged = task_failed.again()
    staged.script(**{"implement@task-2": code(2)})
    ran = staged.resume("--retry-failed")
    assert ran.code == 0, ran.err
    assert staged.calls().count("task-1/implement") == 1
    assert staged.calls().count("task-3/implement") == 1
    assert sorted(staged.landed()) == ["task-1: Part 1", "task-2: Part 2", "task-3: Part 3"]


def test_what_was_waived_counts_no_more_when_its_stage_is_done_again(plan_is_stuck: Moment) -> None:
    staged = plan_is_stuck.again()
    stop = {"fail": "quota", "say": "limit reached"}
    staged.script(implement=stop)
    staged.decide("skip", "the reviewer is wrong")
    assert [bool(one.get("void")) for one in staged.state["waivers"]] == [False]
    staged.script(brainstorm=stop)
    staged.resume("--restart-previous")
    assert [bool(one.get("void")) for one in staged.state["waivers"]] == [True]


def test_status_marks_every_phase_and_shows_the_gates(plan_is_stuck: Moment) -> None:
    staged = plan_is_stuck.again()
    shown = staged.sandbox.run("status", "staged/tmp", "--verbose").out
    for line in (
        "✓ 0    EXPLORE    Explore",
        "       [GATE] EXPLORE->PLAN: 0-explore.md",
        "✗ 1.3  PLAN       Plan Review  blocked",
        "· 2.1  IMPLEMENT  Task Execution",
        "       [GATE] FINAL->COMPLETE: 4.2-final-review.json",
    ):
        assert line in shown
    assert "[GATE]" not in staged.sandbox.run("status", "staged/tmp").out


def test_a_run_that_is_stopped_says_so_and_goes_on_from_there(staged: Staged) -> None:
    staged.script(brainstorm={**json.loads(staged.script_file.read_text())["brainstorm"], "wait_for": "go"})
    process = staged.sandbox.begin("run", "staged", TASK)
    wait_until(lambda: list(staged.folder.glob("calls/brainstorm-*.jsonl")))
    assert staged.sandbox.run("stop", "staged/tmp").code == 0
    (staged.folder / "go").touch()
    process.communicate(timeout=60)
    state = staged.state
    assert (state["status"], state["currentStage"], state["currentPhase"]) == ("stopped", "PLAN", "1.2")
    assert state["stoppedAt"].endswith("Z")
    assert state["stages"]["PLAN"]["phases"]["1.1"]["status"] == "completed"
    staged.resume("--steps", "1")
    assert staged.state["status"] == "stopped"
    assert staged.resume().code == 0
    assert (staged.state["status"], staged.state["stoppedAt"]) == ("completed", None)
    assert staged.calls().count("brainstorm") == 1
