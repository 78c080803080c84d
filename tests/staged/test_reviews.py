"""Reviews that are never content: what stops, what is asked, and what each answer does."""

import pytest

from tests.landing.repositories import git
from tests.staged.examples import Moment
from tests.staged.runs import Staged, final, issue, review


def asked(staged: Staged) -> list[str]:
    (pending,) = staged.pending()
    return [option["value"] for option in pending["options"]]


def stands(staged: Staged) -> tuple[str, str, str]:
    state = staged.state
    return state["status"], state["currentStage"], state["currentPhase"]


def word(staged: Staged, phase: str) -> str:
    stages = staged.state["stages"].values()
    return next(str(stage["phases"][phase]["status"]) for stage in stages if phase in stage["phases"])


@pytest.mark.requirement(235, 310)
def test_a_plan_that_is_never_approved_blocks_and_asks(plan_is_stuck: Moment) -> None:
    staged = plan_is_stuck.again()
    assert plan_is_stuck.ran.code == 4
    assert stands(staged) == ("blocked", "PLAN", "1.3")
    assert staged.state["stages"]["PLAN"]["blockReason"] == "It is needs_revision."
    assert word(staged, "1.3") == "blocked"
    assert asked(staged) == ["retry", "restart", "restart_previous", "skip", "abort"]
    assert [name for name in staged.calls() if "plan" in name] == [
        "logic/plan",
        "review_plan",
        "fix_plan",
        "review_plan",
    ]
    again = staged.resume()
    assert again.code == 4
    assert "task-1/implement" not in staged.calls()
    assert staged.state["stages"]["IMPLEMENT"]["status"] == "pending"


@pytest.mark.requirement(255)
def test_a_failure_is_recorded_with_its_phase_its_error_and_its_context(plan_is_stuck: Moment) -> None:
    failure = plan_is_stuck.again().state["failure"]
    assert (failure["phase"], failure["error"]) == ("1.3", "It is needs_revision.")
    assert failure["failedAt"].endswith("Z")
    assert failure["context"] == {"completedTasks": [], "failedTask": None, "pendingTasks": []}


@pytest.mark.requirement(260)
def test_a_phase_that_a_person_has_tried_again_goes_on_when_it_succeeds(plan_is_stuck: Moment) -> None:
    staged = plan_is_stuck.again()
    staged.script(review_plan=[review("needs_revision", issue()), review()])
    assert staged.decide("retry").code == 0
    assert stands(staged) == ("completed", "FINAL", "4.3")
    assert staged.state["failure"] is None
    assert staged.state["stages"]["PLAN"]["restartCount"] == 0
    assert staged.calls().count("brainstorm") == 1


@pytest.mark.requirement(260, 310)
def test_a_phase_that_a_person_skips_is_waived_with_the_reason_and_told_at_the_end(plan_is_stuck: Moment) -> None:
    staged = plan_is_stuck.again()
    assert staged.sandbox.run("answer", "staged/tmp", "UD-1", "skip").code != 0  # not without a reason
    ran = staged.decide("skip", "the reviewer is wrong")
    assert ran.code == 0, ran.err
    (waiver,) = staged.state["waivers"]
    assert (waiver["phase"], waiver["answer"], waiver["note"]) == ("1.3", "skip", "the reviewer is wrong")
    assert "⚠ 1.3 was waived" in ran.out
    assert word(staged, "1.3") == "skipped"
    assert staged.state["stages"]["PLAN"] | {"phases": {}} == {
        "status": "completed", "phases": {}, "restartCount": 0, "blockReason": None, "enabled": True,
    }  # fmt: skip


@pytest.mark.requirement(260, 261, 262, 264)
def test_a_stage_that_a_person_restarts_begins_at_its_first_phase_and_keeps_what_came_before(
    plan_is_stuck: Moment,
) -> None:
    staged = plan_is_stuck.again()
    staged.script(review_plan=review())
    before = staged.phase("0-explore.md")
    assert staged.decide("restart").code == 0
    assert staged.calls()[7:10] == ["brainstorm", "logic/plan", "review_plan"]
    assert staged.state["stages"]["PLAN"]["restartCount"] == 1
    assert staged.phase("0-explore.md") == before
    assert staged.calls().count("query-1/explore") == 1


@pytest.mark.requirement(260, 261)
def test_the_stage_before_that_a_person_restarts_is_done_again(plan_is_stuck: Moment) -> None:
    staged = plan_is_stuck.again()
    staged.script(review_plan=review())
    assert staged.decide("restart_previous").code == 0
    assert sorted(staged.calls()[7:9]) == ["query-1/explore", "query-2/explore"]
    assert staged.calls()[9] == "brainstorm"
    stages = staged.state["stages"]
    assert (stages["EXPLORE"]["restartCount"], stages["PLAN"]["restartCount"]) == (1, 0)


@pytest.mark.requirement(260)
def test_a_run_that_a_person_aborts_keeps_its_state_and_its_files(plan_is_stuck: Moment) -> None:
    staged = plan_is_stuck.again()
    files = staged.phases()
    ran = staged.decide("abort")
    assert ran.code == 1
    assert stands(staged) == ("stopped", "PLAN", "1.3")
    assert staged.state["stoppedAt"]
    assert staged.state["failure"]["phase"] == "1.3"
    assert staged.phases() == files
    assert "task-1/implement" not in staged.calls()


@pytest.mark.requirement(258, 265, 308)
def test_an_implementation_that_is_never_approved_restarts_its_stage_and_then_asks(code_is_stuck: Moment) -> None:
    staged = code_is_stuck.again()
    assert stands(staged) == ("blocked", "IMPLEMENT", "2.3")
    assert staged.state["stages"]["IMPLEMENT"]["restartCount"] == 1
    assert staged.calls().count("task-1/implement") == 2
    assert staged.calls().count("review_implementation") == 4
    assert "review_tests" not in staged.calls()
    assert asked(staged) == ["retry", "restart", "restart_previous", "force_continue", "abort"]
    assert "restarts of the stage are used up" in code_is_stuck.ran.out
    assert staged.resume().code == 4
    assert staged.state["stages"]["TEST"]["status"] == "pending"


@pytest.mark.requirement(263)
def test_the_code_of_a_restarted_stage_is_set_aside_and_not_deleted(code_is_stuck: Moment) -> None:
    staged = code_is_stuck.again()
    (aside,) = staged.state["set_aside"]
    assert aside["stage"] == "IMPLEMENT"
    assert git(staged.root, "rev-parse", aside["ref"]) == aside["commit"]
    assert git(staged.root, "show", f"{aside['ref']}:tally/part1.py") == "PART = 1"
    assert git(staged.root, "merge-base", aside["ref"], "agentd/tmp") == git(staged.root, "rev-parse", "HEAD")


@pytest.mark.requirement(265)
def test_a_person_can_force_a_stage_that_is_stuck_and_that_is_recorded(code_is_stuck: Moment) -> None:
    staged = code_is_stuck.again()
    ran = staged.decide("force_continue", "it is good enough")
    assert ran.code == 0, ran.err
    (waiver,) = staged.state["waivers"]
    assert (waiver["phase"], waiver["answer"], waiver["note"]) == ("2.3", "force_continue", "it is good enough")
    assert "⚠ 2.3 was waived" in ran.out
    assert git(staged.root, "show", "agentd/tmp:tally/part1.py") == "PART: int = 1"  # what is green lands
    assert stands(staged) == ("completed", "FINAL", "4.3")


@pytest.mark.requirement(265)
def test_a_person_can_abort_a_stage_that_is_stuck(code_is_stuck: Moment) -> None:
    staged = code_is_stuck.again()
    assert staged.decide("abort").code == 1
    assert stands(staged) == ("stopped", "IMPLEMENT", "2.3")
    assert staged.landed() == ["task-1: Part 1"]
    kept = git(staged.root, "for-each-ref", "--format=%(refname)", "refs/agentd/").splitlines()
    assert any("+PART: int = 1" in git(staged.root, "diff", "HEAD", ref) for ref in kept)


@pytest.mark.requirement(260, 265)
def test_the_restarts_of_a_stage_are_counted_on_when_a_person_restarts_it(code_is_stuck: Moment) -> None:
    staged = code_is_stuck.again()
    staged.script(review_implementation=review())
    assert staged.decide("restart").code == 0
    assert staged.state["stages"]["IMPLEMENT"]["restartCount"] == 2
    assert len(staged.state["set_aside"]) == 2


@pytest.mark.requirement(260)
def test_a_review_that_a_person_has_tried_again_is_about_the_same_code(code_is_stuck: Moment) -> None:
    staged = code_is_stuck.again()
    staged.script(review_implementation=review())
    assert staged.decide("retry").code == 0
    assert staged.calls().count("simplify") == 2
    assert git(staged.root, "show", "agentd/tmp:tally/part1.py") == "PART: int = 1"


@pytest.mark.requirement(308, 310)
def test_tests_that_are_never_approved_block_and_ask(tests_are_stuck: Moment) -> None:
    staged = tests_are_stuck.again()
    assert stands(staged) == ("blocked", "TEST", "3.3")
    assert asked(staged) == ["retry", "restart", "restart_previous", "skip", "abort"]
    assert staged.resume().code == 4
    assert "document" not in staged.calls()
    assert staged.state["stages"]["FINAL"]["status"] == "pending"
    assert {stage["restartCount"] for stage in staged.state["stages"].values()} == {0}


@pytest.mark.requirement(254, 308)
def test_a_final_review_that_blocks_stops_whatever_the_threshold_and_asks(final_is_blocked: Moment) -> None:
    staged = final_is_blocked.again()
    assert stands(staged) == ("blocked", "FINAL", "4.2")
    assert asked(staged) == ["retry", "restart", "restart_previous", "force_continue", "abort"]
    assert "fix_all" not in staged.calls()
    assert staged.resume().code == 4
    assert staged.landed() == ["task-1: Part 1"]
    assert staged.state["stages"]["FINAL"]["phases"]["4.3"]["status"] == "pending"


@pytest.mark.requirement(254, 260)
def test_a_person_can_force_a_final_review_and_that_is_recorded(final_is_blocked: Moment) -> None:
    staged = final_is_blocked.again()
    ran = staged.decide("force_continue", "ship it")
    assert ran.code == 0, ran.err
    assert [(one["phase"], one["note"]) for one in staged.state["waivers"]] == [("4.2", "ship it")]
    assert (staged.state["status"], staged.state["failure"]) == ("completed", None)
    assert git(staged.root, "show", "agentd/tmp:README.md") == "# tally"


@pytest.mark.requirement(266)
def test_the_tests_that_a_person_restarts_from_the_end_clear_the_files_of_both_stages(final_is_blocked: Moment) -> None:
    staged = final_is_blocked.again()
    staged.script(review_all=final(), review_tests={"fail": "quota", "say": "limit reached"})
    staged.decide("restart_previous")
    assert [name for name in staged.phases() if name[0] in "34"] == ["3.1-test-results.json"]
    stages = staged.state["stages"]
    assert (stages["TEST"]["restartCount"], stages["FINAL"]["restartCount"]) == (1, 0)
    assert stages["FINAL"]["status"] == "blocked"
    assert stages["FINAL"]["blockReason"]


@pytest.mark.requirement(259, 308)
def test_a_final_review_that_always_finds_something_restarts_the_tests_and_then_asks(staged: Staged) -> None:
    staged.sandbox.set("staged", review_retries=1, stage_restarts=1)
    staged.script(review_all=final("approved", issue()))
    assert staged.start().code == 4
    assert stands(staged) == ("blocked", "FINAL", "4.2")
    counts = {stage: one["restartCount"] for stage, one in staged.state["stages"].items()}
    assert counts == {"EXPLORE": 0, "PLAN": 0, "IMPLEMENT": 0, "TEST": 1, "FINAL": 0}
    assert (staged.calls().count("review_tests"), staged.calls().count("review_all")) == (2, 4)
    assert asked(staged) == ["retry", "restart", "restart_previous", "force_continue", "abort"]


@pytest.mark.requirement(259, 267, 268)
def test_without_tests_it_restarts_the_implementation(staged: Staged) -> None:
    staged.sandbox.set("staged", review_retries=1, stage_restarts=1)
    staged.script(review_all=final("approved", issue()))
    assert staged.start("--no-test").code == 4
    stages = staged.state["stages"]
    assert (stages["IMPLEMENT"]["restartCount"], stages["TEST"]["status"]) == (1, "skipped")
    assert {one["status"] for one in stages["TEST"]["phases"].values()} == {"skipped"}
    assert staged.calls().count("task-1/implement") == 2
    assert "review_tests" not in staged.calls()
    assert staged.state["gates"]["IMPLEMENT->FINAL"]["files"] == ["2.1-tasks.json", "2.3-impl-review.json"]
    assert not [name for name in staged.phases() if name.startswith("3.")]
