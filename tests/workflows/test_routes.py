"""The ways through team and staged: the order of the phases, the gates, the repair loops and the ways out."""

from collections.abc import Sequence

import pytest

from agentd.engine.advance import advance, start
from agentd.model.run import Run
from agentd.model.workflow import Workflow
from tests.workflows.tables import built_in
from tests.workflows.walker import at, take

TEAM, TASK, LATE, STAGED = (built_in(name) for name in ("team", "team-task", "team-task-late", "staged"))


def phases(workflow: Workflow, mode: str, choices: dict[str, str]) -> tuple[list[str], Run]:
    """The phases of a run in which all goes well, with these words where there is a choice."""
    run = start(workflow, "run", mode)
    seen = [run.phase]
    while not run.result:
        run = advance(workflow, run, choices.get(run.step, workflow.steps[run.step].forward))
        if seen[-1] != run.phase:
            seen.append(run.phase)
    return seen, run


@pytest.mark.parametrize("strategy", ["per-batch", "single-final"])
def test_a_full_team_run_goes_through_its_phases_in_order(strategy: str) -> None:
    seen, run = phases(TEAM, "full", {"hear_strategy": strategy})
    assert seen == ["INTAKE", "DESIGN", "APPROVE_DESIGN", "PLAN", "REVIEW_STRATEGY", "IMPLEMENT_LOOP", "INTEGRATE", "RELEASE", "DONE"]  # fmt: skip
    assert run.result == "done"


def test_a_lean_team_run_goes_through_its_phases_in_order() -> None:
    assert phases(TEAM, "lean", {})[0] == ["INTAKE_LEAN", "IMPLEMENT_LOOP", "INTEGRATE", "DONE"]


def test_a_staged_run_goes_through_its_stages_in_order() -> None:
    seen, run = phases(STAGED, "", {})
    assert seen == ["EXPLORE", "PLAN", "IMPLEMENT", "TEST", "FINAL", "COMPLETE"]
    assert run.result == "completed"


def test_a_lean_run_that_turns_out_complex_starts_anew_as_a_full_one() -> None:
    run = take(TEAM, at(TEAM, "lean_implement"), "complex", "done")
    assert (run.step, run.phase) == ("intake", "INTAKE")
    assert {"spec.md", "acceptance.json", "tasks.yaml", "children/lean_implement/"} <= {*run.clear}


def test_only_a_lean_intake_goes_on_without_its_agent() -> None:
    assert take(TEAM, start(TEAM, "run", "lean"), *["failed"] * 3).step == "intake_alone"
    assert take(TEAM, start(TEAM, "run", "full"), *["failed"] * 3).step == "blocked"


@pytest.mark.parametrize("workflow", [TEAM, TASK, LATE], ids=lambda workflow: workflow.name)
def test_an_agent_that_fails_is_tried_twice_more_and_then_blocks(workflow: Workflow) -> None:
    for step in workflow.steps.values():
        if step.kind == "agent" and "failed" not in step.next:
            twice = take(workflow, at(workflow, step.name), "failed", "failed")
            assert twice.step == step.name
            blocked = advance(workflow, twice, "failed")
            assert (blocked.step, blocked.phase) == ("blocked", "BLOCKED")
            assert advance(workflow, blocked, "retry").step == step.name


@pytest.mark.parametrize(
    ("heard", "role"), [("spec", "spec_agent"), ("architecture", "architect"), ("design", "designer")]
)
def test_a_correction_goes_to_its_agent_and_back_to_the_gate_without_limit(heard: str, role: str) -> None:
    run = take(TEAM, at(TEAM, "show_design"), "done")
    for _ in range(7):
        correcting = take(TEAM, run, "answered", heard)
        assert (TEAM.steps[correcting.step].what, correcting.phase) == (role, "APPROVE_DESIGN")
        run = take(TEAM, correcting, "done", "done")
        assert run.step == "approve_design"


@pytest.mark.parametrize(
    ("part", "role"), [("spec", "spec_agent"), ("architecture", "architect"), ("design", "designer")]
)
def test_a_correction_that_is_still_due_comes_before_the_question_and_only_once(part: str, role: str) -> None:
    correcting = advance(TEAM, at(TEAM, "show_design"), part)
    assert TEAM.steps[correcting.step].what == role
    assert take(TEAM, correcting, "done", part).step == "approve_design"


def test_only_an_approval_leads_from_the_design_to_the_plan() -> None:
    heard = {word: advance(TEAM, at(TEAM, "hear_design"), word).step for word in TEAM.steps["hear_design"].next}
    assert [word for word, step in heard.items() if step == "plan"] == ["approved"]
    assert heard["confirm"] == "confirm_design"
    assert list(TEAM.steps["confirm_design"].next) == list(TEAM.steps["approve_design"].next) == ["answered"]


@pytest.mark.parametrize(
    ("shows", "gate", "part"),
    [("show_design", "approve_design", "design"), ("show_strategies", "choose_strategy", "strategy")],
)
def test_a_gate_left_open_blocks_and_retrying_asks_it_again(shows: str, gate: str, part: str) -> None:
    asked = take(TEAM, at(TEAM, shows), "done")
    assert asked.step == gate
    assert take(TEAM, asked, "answered", "unclear", "done").step == gate
    blocked = take(TEAM, asked, "answered", "missing")
    assert blocked.phase == "BLOCKED"
    assert take(TEAM, blocked, "retry", part, "done").step == gate
    assert take(TEAM, blocked, "abandon", "done").result == "abandoned"


def test_nothing_is_planned_before_the_design_is_approved_nor_reviewed_before_the_strategy_is_chosen() -> None:
    assert "design_is_approved" in TEAM.steps["plan"].needs
    for step in TEAM.steps.values():
        if step.what in ("reviewer", "qa", "security"):
            assert "strategy_is_chosen" in step.needs, step.name
    for step in TASK.steps.values():
        if step.what in ("reviewer", "qa", "security"):
            assert "strategy_is_per_batch" in step.needs, step.name
    assert not {step.what for step in LATE.steps.values()} & {"reviewer", "qa", "security"}


STUCK = ["different_approach", "simplify", "guidance"]
REPAIRS = [
    (TASK, "review", "blocked", "FIX_REVIEW", "examine", "accept"),
    (TASK, "test", "blocked", "FIX_TESTS", "examine", "accept"),
    (TASK, "audit", "blocked", "FIX_SECURITY", "examine", "accept"),
    (TASK, "examine", "red", "FIX_TESTS", "examine", "give_up"),
    (LATE, "examine", "red", "FIX_TESTS", "examine", "give_up"),
    (TEAM, "review_all", "blocked", "FIX_REVIEW", "examine_all", "accept"),
    (TEAM, "test_all", "blocked", "FIX_TESTS", "examine_all", "accept"),
    (TEAM, "audit_all", "blocked", "FIX_SECURITY", "examine_all", "accept"),
    (TEAM, "examine_all", "red", "FIX_TESTS", "examine_all", "abandon"),
    (TEAM, "build", "red", "FIX_BUILD", "land_integration", "abandon"),
    (TEAM, "lean_build", "red", "FIX_BUILD", "land_lean_build", "abandon"),
]


@pytest.mark.parametrize(
    ("workflow", "step", "word", "phase", "back", "last"), REPAIRS, ids=lambda value: getattr(value, "name", str(value))
)
def test_a_repair_loop_runs_three_times_and_then_asks_what_now(
    workflow: Workflow, step: str, word: str, phase: str, back: str, last: str
) -> None:
    def coder(run: Run) -> Run:
        """On to the coder, past the opening of a workspace."""
        assert run.phase in (phase, "IMPLEMENT_LOOP")
        return run if workflow.steps[run.step].what == "coder" else advance(workflow, run, "done")

    run = at(workflow, step)
    for _ in range(3):
        run = advance(workflow, run, word)
        assert run.phase == phase
        run = coder(run)
        assert workflow.steps[run.step].what == "coder"
        run = advance(workflow, run, "done")
        assert run.step == back
        while run.step != step:
            run = advance(workflow, run, workflow.steps[run.step].forward)
    asked = advance(workflow, run, word)
    assert (asked.phase, asked.asked_by) == ("ASK_USER", step)
    assert {*workflow.steps[asked.step].next} == {*STUCK, last}
    for again in STUCK:
        assert workflow.steps[coder(advance(workflow, asked, again)).step].what == "coder"
    left = advance(workflow, asked, last)
    if last == "accept":
        assert workflow.steps[left.step].what.startswith("accept_")
        assert advance(workflow, left, "done").step == workflow.steps[step].next[workflow.steps[step].forward].to
    else:
        assert advance(workflow, left, "done").result, "an own command that stays red cannot be accepted"


@pytest.mark.parametrize(
    ("workflow", "review", "audit"), [(TASK, "review", "audit"), (TEAM, "review_all", "audit_all")]
)
def test_notes_and_medium_findings_are_the_persons_to_decide(workflow: Workflow, review: str, audit: str) -> None:
    def arrives(step: str, *outcomes: str) -> str:
        return workflow.steps[take(workflow, at(workflow, step), *outcomes).step].what

    assert [arrives(review, "notes", "none", "done"), arrives(review, "notes", "fix")] == ["qa", "coder"]
    assert arrives(audit, "needs_decision", "fix_now") == "coder"
    assert [arrives(audit, "needs_decision", word, "done") for word in ("fix_later", "accept_risk")] == ["land"] * 2


def test_a_full_run_can_dispatch_every_core_agent() -> None:
    roles = {step.what for workflow in (TEAM, TASK) for step in workflow.steps.values() if step.kind == "agent"}
    assert roles == {
        "spec_agent", "architect", "planner", "coder", "reviewer", "qa", "security", "integrator", "docs", "researcher", "designer",
    }  # fmt: skip


def in_phases(*names: str) -> tuple[str, ...]:
    return tuple(f"phases/{name}" for name in names)


def test_the_stage_gates_are_those_of_the_schedule() -> None:
    firsts = {stage: STAGED.first(stage) for stage in ("PLAN", "IMPLEMENT", "TEST", "FINAL", "COMPLETE")}
    assert {stage: step.needs for stage, step in firsts.items()} == {
        "PLAN": in_phases("0-explore.md"),
        "IMPLEMENT": in_phases("1.2-plan.md", "1.3-plan-review.json"),
        "TEST": in_phases("2.1-tasks.json", "2.3-impl-review.json"),
        "FINAL": in_phases("3.1-test-results.json", "3.3-test-review.json"),
        "COMPLETE": in_phases("4.2-final-review.json"),
    }
    assert STAGED.steps["complete"].needs == in_phases("4.2-final-review.json")


@pytest.mark.parametrize(
    ("stage", "files"),
    [
        ("PLAN", ("1.1-brainstorm.md", "1.2-plan.md", "1.3-plan-review.json")),
        ("IMPLEMENT", ("2.1-tasks.json", "2.2-simplify.md", "2.3-impl-review.json")),
        ("TEST", ("3.1-test-results.json", "3.2-*", "3.3-test-review.json")),
        ("FINAL", ("4.1-*", "4.2-*", "4.2-final-review.json")),
    ],
)
def test_a_stage_produces_exactly_what_its_restart_deletes(stage: str, files: tuple[str, ...]) -> None:
    made = {name for step in STAGED.steps.values() if step.phase == stage for name in step.produces}
    assert made == {*in_phases(*files)}


def exhaust(step: str, word: str, rounds: Sequence[str], times: int) -> Run:
    return take(STAGED, at(STAGED, step), *[word, *rounds] * times, word)


def test_an_exhausted_implementation_review_restarts_the_stage_three_times_and_then_asks() -> None:
    run = at(STAGED, "begin_implement")
    to_review, rounds = [*["done"] * 5, "green"], ["needs_revision", "done", "green"] * 3 + ["needs_revision"]
    for restart in range(1, 4):
        run = take(STAGED, run, *to_review, *rounds)
        assert run.step == "give_up_on_code"
        run = advance(STAGED, run, "done")
        assert (run.step, run.counts["restarts_of_implement"]) == ("begin_implement", restart)
        assert "phases/2.3-impl-review.json" in run.clear
    asked = take(STAGED, run, *to_review, *rounds, "done")
    assert asked.step == "implement_is_stuck"
    forced = take(STAGED, asked, "force_continue", "done")
    assert (forced.step, forced.waived) == ("begin_test", in_phases("2.3-impl-review.json"))
    assert {word: advance(STAGED, asked, word).step for word in ("retry", "restart", "restart_previous", "abort")} == {
        "retry": "open_review",
        "restart": "begin_implement",
        "restart_previous": "begin_plan",
        "abort": "put_away",
    }


def test_restarts_of_a_stage_are_counted_together_whichever_edge_led_to_them() -> None:
    run = at(STAGED, "give_up_on_code")
    run = take(STAGED, run, "done", *["done"] * 5, "green", "approved", "landed", "done", "done", "source_is_wrong")
    assert (run.step, run.counts["restarts_of_implement"]) == ("begin_implement", 2)


def test_an_exhausted_final_review_restarts_the_tests() -> None:
    given_up = exhaust("review_all", "has_issues", ["done", "green"], 3)
    assert given_up.step == "give_up_on_all"
    restarted = advance(STAGED, given_up, "done")
    assert (restarted.step, restarted.phase) == ("begin_test", "TEST")
    assert {*in_phases("3.1-test-results.json", "4.2-final-review.json")} <= {*restarted.clear}
    assert "phases/2.3-impl-review.json" not in restarted.clear


def test_a_blocked_final_review_cannot_be_skipped_but_can_be_forced_on_record() -> None:
    asked = advance(STAGED, at(STAGED, "review_all"), "blocked")
    assert {word: advance(STAGED, asked, word).step for word in STAGED.steps[asked.step].next} == {
        "retry": "open_final_review",
        "restart": "begin_final",
        "restart_previous": "begin_test",
        "force_continue": "force_all",
        "abort": "put_away",
    }
    assert "phases/4.2-final-review.json" in advance(STAGED, asked, "force_continue").waived


def test_an_exhausted_plan_or_test_review_never_goes_on_by_itself() -> None:
    assert exhaust("review_plan", "needs_revision", ["done"], 3).step == "what_now"
    assert exhaust("review_tests", "needs_revision", ["done", "passed"], 3).step == "what_now"


def test_a_wrong_test_is_analyzed_and_run_again_and_a_wrong_source_restarts_the_implementation() -> None:
    assert take(STAGED, at(STAGED, "run_tests"), "test_is_wrong").step == "analyze_failures"
    assert take(STAGED, at(STAGED, "run_tests"), "test_is_wrong", "done").step == "run_tests"
    assert take(STAGED, at(STAGED, "run_tests"), "source_is_wrong").step == "begin_implement"


def test_a_failed_explorer_blocks_nobody_and_a_failed_task_is_tried_twice_more() -> None:
    explorer, task = built_in("staged-explorer"), built_in("staged-task")
    assert take(explorer, start(explorer, "run"), *["failed"] * 4).result == "gave_up"
    assert advance(STAGED, at(STAGED, "explore"), "gave_up").step == "gather_findings"
    again = ["failed", "done"]
    assert take(task, at(task, "implement"), *again * 2).step == "implement"
    assert take(task, at(task, "implement"), *again * 2, "failed", "done").result == "failed"
