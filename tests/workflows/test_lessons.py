"""What went wrong once: questions that forget who asked, restarts that refill each other, answers that change nothing."""

from dataclasses import replace

import pytest

from agentd.engine.advance import advance, start
from agentd.engine.decide import Do, Skip, Stop, decide
from agentd.model.run import Run
from agentd.workflows.check import prove
from tests.workflows.tables import built_in, built_ins, stages, table
from tests.workflows.walker import at, take

STAGES = stages()
ASKERS = {
    # who asks: how it comes to ask, then where each answer leads
    "review_plan": (["needs_revision", "done"] * 3 + ["needs_revision"], "brainstorm", "split_queries", "implement"),
    "review_tests": (
        ["needs_revision", "done", "passed"] * 3 + ["needs_revision"],
        "run_tests",
        "implement",
        "document",
    ),
    "brainstorm": (["failed"] * 4, "brainstorm", "split_queries", "split_plan"),
    "explore": (["failed"] * 4, "split_queries", "split_queries", "gather_findings"),
    "implement": (["failed"], "implement", "brainstorm", "gather_tasks"),
    "run_tests": (["unknown"], "run_tests", "implement", "review_tests"),
}


@pytest.mark.parametrize("asker", ASKERS)
def test_the_answers_to_a_shared_question_are_seen_from_the_step_that_asked(asker: str) -> None:
    outcomes, stage, previous, past = ASKERS[asker]
    asked = take(STAGES, at(STAGES, asker), *outcomes)
    assert (asked.step, asked.phase, asked.asked_by) == ("what_now", "BLOCKED", asker)
    arrived = {word: advance(STAGES, asked, word).step for word in STAGES.steps["what_now"].next}
    assert arrived == {
        "retry": asker,
        "restart": stage,
        "restart_previous": previous,
        "skip": past,
        "abort": "aborted",
    }
    assert advance(STAGES, asked, "skip").waived == STAGES.steps[asker].produces


def test_a_question_that_leads_to_a_question_keeps_who_asked() -> None:
    workflow = prove(
        table("""
        first: {phase: a, do: x, produces: [a.md], next: {done: over, unclear: which}}
        which: {phase: a, ask: which, next: {this: over, other: really}}
        really: {phase: a, ask: really, next: {no: "@again", yes: {to: "@past", waive: true}}}
        over: {phase: b, end: over}
    """)
    )
    asked = take(workflow, start(workflow, "run"), "unclear", "other")
    assert (asked.step, asked.asked_by) == ("really", "first")
    assert advance(workflow, asked, "no").step == "first"
    assert advance(workflow, asked, "yes").result == "over"
    assert advance(workflow, asked, "yes").waived == ("a.md",)


def test_two_restarts_do_not_refill_each_other() -> None:
    """TEST restarts IMPLEMENT, FINAL restarts TEST, again and again, until a person has to be asked."""
    run, steps, restarts = at(STAGES, "implement"), 0, 0
    worst = {"run_tests": "source_is_wrong", "review_all": "has_issues"}
    while STAGES.steps[run.step].kind != "ask":
        word = worst.get(run.step, STAGES.steps[run.step].forward)
        if word == "source_is_wrong" and run.counts.get("run_tests.source_is_wrong", 0) == 3:
            word = "passed"
        before, run, steps = run, advance(STAGES, run, word), steps + 1
        restarts += STAGES.phases.index(run.phase) < STAGES.phases.index(before.phase)
        assert steps < 500
    assert (run.step, run.asked_by, restarts) == ("final_is_blocked", "restart_test", 6)


def test_two_rewinds_to_one_phase_run_out_together() -> None:
    workflow = prove(
        table("""
        first: {phase: a, do: x, next: {done: second, bad: {to: first, rewind: true, at_most: 2, then: q}}}
        second: {phase: b, do: x, next: {done: over, bad: {to: first, rewind: true, at_most: 2, then: q}}}
        q: {phase: c, ask: x, next: {again: first, stop: over}}
        over: {phase: d, end: over}
    """)
    )
    run, rewinds = start(workflow, "run"), 0
    for word in ["bad", "done", "bad"] * 9:
        run, rewinds = advance(workflow, run, word), rewinds + (word == "bad")
        if run.step == "q":
            break
    assert (run.step, rewinds) == ("q", 5)


def test_an_answer_refills_the_budget_it_was_asked_about_and_no_other() -> None:
    spent = take(STAGES, at(STAGES, "review_plan"), "failed", *["needs_revision", "done"] * 3, "needs_revision")
    assert (spent.step, spent.spent) == ("what_now", "review_plan.needs_revision")
    retried = advance(STAGES, spent, "retry")
    assert dict(retried.counts) == {"review_plan.failed": 1}
    assert take(STAGES, retried, *["needs_revision", "done"] * 3).step == "review_plan"
    assert take(STAGES, retried, *["needs_revision", "done"] * 3, "needs_revision").step == "what_now"


def test_an_answer_refills_a_restart_budget_too() -> None:
    run = at(STAGES, "run_tests")
    for _ in range(3):
        run = replace(advance(STAGES, run, "source_is_wrong"), step="run_tests", phase="TEST")
    asked = advance(STAGES, run, "source_is_wrong")
    assert (asked.step, asked.spent) == ("restarts_are_used_up", "run_tests.source_is_wrong")
    retried = advance(STAGES, asked, "retry")
    assert retried.counts == {}
    assert advance(STAGES, retried, "source_is_wrong").step == "implement"


def rewound() -> tuple[Run, Run]:
    before = replace(
        at(STAGES, "run_tests"),
        counts={
            "review_plan.needs_revision": 2,
            "review_implementation.needs_revision": 1,
            "restart_implement.done": 2,
            "run_tests.test_is_wrong": 1,
            "run_tests.source_is_wrong": 1,
            "restart_test.done": 1,
            "review_all.has_issues": 1,
        },
        waived=("1.3-plan-review.json", "2.3-impl-review.json", "3.1-test-results.json"),
    )
    return before, advance(STAGES, before, "source_is_wrong")


def test_a_rewind_keeps_the_counts_of_earlier_phases_and_of_every_rewinding_edge() -> None:
    _, after = rewound()
    assert dict(after.counts) == {
        "review_plan.needs_revision": 2,
        "restart_implement.done": 2,
        "run_tests.source_is_wrong": 2,
        "restart_test.done": 1,
    }


def test_a_rewind_takes_back_what_its_phase_and_later_ones_made_ran_and_were_spared() -> None:
    before, after = rewound()
    assert (after.step, after.phase, after.intent) == ("implement", "IMPLEMENT", None)
    assert after.waived == ("1.3-plan-review.json",)
    assert sorted(after.clear) == [
        "2.1-tasks.json",
        "2.2-simplify.md",
        "2.3-impl-review.json",
        "3.1-test-results.json",
        "3.2-*",
        "3.3-test-review.json",
        "4.1-*",
        "4.2-*",
        "4.2-final-review.json",
        "children/implement/",
    ]
    assert before.clear == ()


def test_a_spent_edge_neither_rewinds_nor_waives() -> None:
    workflow = prove(
        table("""
        first: {phase: a, do: x, produces: [a.md], next: {done: q, bad: {to: first, rewind: true, at_most: 0, then: q}}}
        q: {phase: a, ask: x, next: {stop: over, skip: {to: "@past", waive: true, at_most: 0, then: over}}}
        over: {phase: b, end: over}
    """)
    )
    asked = advance(workflow, start(workflow, "run"), "bad")
    assert (asked.step, asked.clear) == ("q", ())
    assert (advance(workflow, asked, "skip").step, advance(workflow, asked, "skip").waived) == ("over", ())


def test_a_skipped_step_goes_forward_and_a_begun_one_is_not_skipped() -> None:
    team = built_in("team")
    run = take(team, start(team, "run"), "done")
    facts = {"research_is_needed": "nothing to look up", **dict.fromkeys(team.steps["research"].needs, "")}
    assert decide(team, run, facts) == Skip(team.steps["research"], "nothing to look up")
    assert decide(team, replace(run, begun=True), facts) == Do(team.steps["research"])


def test_a_gate_says_what_it_misses() -> None:
    run = at(STAGES, "implement")
    facts = {"1.2-plan.md": "", "1.3-plan-review.json": "not approved"}
    assert decide(STAGES, run, facts) == Stop("blocked", "1.3-plan-review.json: not approved")
    assert decide(STAGES, replace(run, waived=("1.3-plan-review.json",)), facts) == Do(STAGES.steps["implement"])


def test_the_children_of_the_built_ins_are_built_in() -> None:
    wanted = {step.what for table in built_ins().values() for step in table.steps.values() if step.kind == "each"}
    by_command = {"change-review"}  # agentd impl --re-review
    assert wanted | by_command == {name for name, table in built_ins().items() if table.of}
