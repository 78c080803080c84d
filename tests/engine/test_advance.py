"""Where outcomes lead, what they count, and what going back takes away."""

import graphlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.engine.advance import advance, begin, cleared, drop_children, lay_down, renew, rewind, settle, start
from agentd.errors import AgentdError, Corrupt
from agentd.model.run import Intent, Run
from agentd.model.workflow import Edge, Workflow
from tests.engine.tables import step, table, with_step

REVIEW = table(
    step("write", done="review"),
    step("review", ok="over", again=Edge("write", at_most=2, then="steer")),
    step("steer", "ask", retry="write", accept="over", more="second"),
    step("second", "ask", retry="@again"),
    step("over", "end", what="merged"),
)

STAGED = table(
    step("plan", phase="plan", produces=("plan.md",), done="code", stuck="help"),
    step("code", phase="code", produces=("code.py",), done="check", failed=Edge("@again", at_most=1, then="help")),
    step("check", phase="code", produces=("check.json", "3.2-*"), done="tasks", bad="help"),
    step("tasks", "each", phase="code", what="task", done="test", bad="help"),
    step(
        "test",
        phase="test",
        produces=("test.json",),
        done="over",
        red=Edge("code", at_most=2, then="help", rewind=True),
        flaky=Edge("@again", at_most=3, then="help"),
    ),
    step(
        "help",
        "ask",
        phase="help",
        again="@again",
        phase_again=Edge("@phase", rewind=True),
        previous=Edge("@previous", rewind=True),
        skip=Edge("@past", waive=True),
        ask="really",
        stop="over",
    ),
    step("really", "ask", phase="help", again="@again", skip=Edge("@past", waive=True)),
    step("over", "end", phase="done"),
)


def walk(workflow: Workflow, *words: str, run: Run | None = None) -> Run:
    run = run or start(workflow, "x")
    for word in words:
        run = advance(workflow, run, word)
    return run


def at(name: str, workflow: Workflow = STAGED) -> Run:
    return Run(workflow.name, "x", workflow.steps[name].phase, name)


def unattended(workflow: Workflow) -> dict[str, set[str]]:
    """Every position a run can reach without a person, with those it leads to; a ring in it would run for ever."""
    found: dict[str, set[str]] = {}
    fresh = [start(workflow, "x")]
    while fresh:
        run = fresh.pop()
        here = workflow.steps[run.step]
        if str(run) not in found and here.kind != "ask":
            after = [advance(workflow, run, word) for word in here.next]
            found[str(run)] = {str(other) for other in after}
            fresh += after
    return found


def test_a_run_starts_at_its_first_mode() -> None:
    two = table(
        step("a", done="z"), step("b", phase="two", done="z"), step("z", "end"), starts={"full": "a", "lean": "b"}
    )
    assert start(two, "x") == Run("small", "x", "one", "a")
    assert start(two, "x", "lean") == Run("small", "x", "two", "b")


def test_a_run_that_starts_at_its_end_has_its_last_word() -> None:
    assert start(table(step("z", "end", what="empty")), "x").result == "empty"


def test_an_outcome_leads_to_its_step_and_ends_the_attempt() -> None:
    run = advance(REVIEW, begin(start(REVIEW, "x"), Intent("call", "now")), "done")
    assert run == Run("small", "x", "one", "review")


def test_reaching_the_end_keeps_its_last_word() -> None:
    assert walk(REVIEW, "done", "ok").result == "merged"


def test_an_outcome_the_table_does_not_have_is_refused_with_those_it_has() -> None:
    with pytest.raises(AgentdError) as error:
        walk(REVIEW, "done", "perhaps")
    assert error.value.message == "Step review cannot end with 'perhaps' (its outcomes: ok, again)."


def test_the_end_has_no_outcome_not_even_a_default_one() -> None:
    ended = replace(REVIEW, defaults={"failed": Edge("write")})
    with pytest.raises(AgentdError, match=r"Step over cannot end with 'failed' \(its outcomes: none\)\."):
        walk(ended, "done", "ok", "failed")


def test_a_reserved_outcome_takes_the_default_edge_unless_the_step_has_its_own() -> None:
    workflow = replace(STAGED, defaults={"failed": Edge("help"), "interrupted": Edge("@again")})
    assert walk(workflow, "failed").step == "help"
    assert walk(workflow, "done", "failed").step == "code"
    assert walk(workflow, "done", "interrupted").step == "code"


def test_a_default_edge_with_a_budget_counts_for_each_step_alone() -> None:
    workflow = replace(STAGED, defaults={"interrupted": Edge("@again", at_most=1, then="help")})
    run = walk(workflow, "interrupted", "done", "interrupted")
    assert run.step == "code"
    assert run.counts == {"plan.interrupted": 1, "code.interrupted": 1}
    assert advance(workflow, run, "interrupted").step == "help"


@pytest.mark.parametrize("limit", [2, "2"])
def test_a_budget_is_spent_before_its_second_way_is_taken(limit: str | int) -> None:
    workflow = table(
        step("write", done="review"),
        step("review", ok="over", again=Edge("write", at_most=limit, then="steer")),
        step("steer", "ask", retry="write"),
        step("over", "end"),
    )
    once = walk(workflow, "done", "again")
    assert (once.step, once.counts) == ("write", {"review.again": 1})
    twice = walk(workflow, "done", "again", run=once)
    assert (twice.step, twice.counts) == ("write", {"review.again": 2})
    spent = walk(workflow, "done", "again", run=twice)
    assert (spent.step, spent.counts, spent.spent) == ("steer", {"review.again": 2}, "review.again")


def test_a_budget_of_none_takes_its_second_way_at_once() -> None:
    workflow = table(step("a", done="z", again=Edge("a", at_most=0, then="z")), step("z", "end"))
    assert advance(workflow, start(workflow, "x"), "again").step == "z"


def test_an_edge_without_a_budget_is_not_counted() -> None:
    assert walk(REVIEW, "done", "ok").counts == {}


def test_the_counts_of_two_edges_of_one_step_are_apart() -> None:
    run = walk(STAGED, "flaky", "flaky", "red", run=at("test"))
    assert run.counts == {"test.red": 1}
    assert walk(STAGED, "flaky", "flaky", run=at("test")).counts == {"test.flaky": 2}


REPAIRS = table(
    step("code", done="test", bad=Edge("code", at_most=3, budget="fix", then="help")),
    step(
        "test",
        done="over",
        red=Edge("code", at_most=3, budget="fix", then="ask"),
        slow=Edge("code", at_most=3, then="ask"),
    ),
    step("help", "ask", again="code"),
    step("ask", "ask", again="test"),
    step("over", "end", what="done"),
)


def test_edges_of_one_budget_are_counted_together_and_refilled_together() -> None:
    tired = walk(REPAIRS, "bad", "bad", "done", "red", "done", "slow", "done")
    assert dict(tired.counts) == {"fix": 3, "test.slow": 1}
    assert walk(REPAIRS, "red", run=tired).step == "ask"
    assert walk(REPAIRS, "slow", "bad", run=tired).step == "help"
    assert dict(walk(REPAIRS, "red", "again", run=tired).counts) == {"test.slow": 1}


def test_a_rewind_refills_a_budget_of_later_phases() -> None:
    workflow = table(
        step("plan", phase="plan", done="code", unclear=Edge("plan", at_most=3, budget="ask", then="over")),
        step("code", phase="code", done="over", bad=Edge("@again", at_most=3, budget="fix", then="over"), anew="plan"),
        step("over", "end", phase="end", what="done"),
    )
    run = walk(workflow, "unclear", "done", "bad")
    assert dict(rewind(workflow, run, "code").counts) == {"ask": 1}
    assert dict(rewind(workflow, run, "plan").counts) == {}


def test_an_answer_refills_the_budget_it_was_asked_about() -> None:
    asked = walk(REVIEW, "done", "again", "done", "again", "done", "again")
    assert asked.step == "steer"
    answered = advance(REVIEW, asked, "retry")
    assert (answered.step, answered.counts, answered.spent, answered.asked_by) == ("write", {}, "", "")
    assert walk(REVIEW, "done", "again", "done", "again", run=answered).step == "write"


def test_an_answer_leaves_the_other_budgets_as_they_are() -> None:
    asked = replace(at("help"), asked_by="test", spent="test.flaky", counts={"test.flaky": 3, "code.failed": 1})
    assert advance(STAGED, asked, "again").counts == {"code.failed": 1}


def test_an_answer_to_a_question_no_budget_led_to_refills_nothing() -> None:
    asked = replace(walk(STAGED, "done", "done", "bad"), counts={"code.failed": 1})
    assert asked.spent == ""
    assert advance(STAGED, asked, "again").counts == {"code.failed": 1}


def test_a_budget_that_leads_to_a_working_step_is_not_remembered_as_asked_about() -> None:
    workflow = table(
        step("try", done="z", again=Edge("try", at_most=1, then="tidy")), step("tidy", done="z"), step("z", "end")
    )
    assert walk(workflow, "again", "again").spent == ""


@pytest.mark.parametrize(
    ("origin", "word", "answer", "arrives"),
    [
        ("plan", "stuck", "again", "plan"),
        ("check", "bad", "again", "check"),
        ("tasks", "bad", "again", "tasks"),
        ("plan", "stuck", "phase_again", "plan"),
        ("check", "bad", "phase_again", "code"),
        ("tasks", "bad", "phase_again", "code"),
        ("plan", "stuck", "previous", "plan"),
        ("check", "bad", "previous", "plan"),
        ("plan", "stuck", "skip", "code"),
        ("check", "bad", "skip", "tasks"),
        ("tasks", "bad", "skip", "test"),
        ("plan", "stuck", "stop", "over"),
    ],
)
def test_one_shared_question_leads_back_to_wherever_it_came_from(
    origin: str, word: str, answer: str, arrives: str
) -> None:
    asked = advance(STAGED, at(origin), word)
    assert (asked.step, asked.phase, asked.asked_by) == ("help", "help", origin)
    answered = advance(STAGED, asked, answer)
    assert (answered.step, answered.phase) == (arrives, STAGED.steps[arrives].phase)
    assert answered.asked_by == ""


def test_a_question_that_leads_to_a_question_keeps_who_asked_first() -> None:
    asked = walk(STAGED, "bad", "ask", run=at("check"))
    assert (asked.step, asked.asked_by) == ("really", "check")
    assert advance(STAGED, asked, "again").step == "check"
    skipped = advance(STAGED, asked, "skip")
    assert (skipped.step, skipped.waived) == ("tasks", ("check.json", "3.2-*"))


def test_a_question_at_the_very_start_is_its_own_origin() -> None:
    workflow = table(step("which", "ask", go="z", other="more"), step("more", "ask", back="@again"), step("z", "end"))
    assert advance(workflow, start(workflow, "x"), "other").asked_by == "which"
    assert walk(workflow, "other", "back").step == "which"


def test_waiving_adds_what_the_origin_should_have_produced_once() -> None:
    asked = replace(advance(STAGED, at("check"), "bad"), waived=("plan.md", "check.json"))
    assert advance(STAGED, asked, "skip").waived == ("plan.md", "check.json", "3.2-*")


def test_a_waiver_that_is_out_of_budget_waives_nothing() -> None:
    workflow = table(
        step("a", produces=("a.md",), done="z", bad="help"),
        step("help", "ask", again="@again", skip=Edge("@past", at_most=1, then="z", waive=True)),
        step("z", "end"),
    )
    assert walk(workflow, "bad", "skip").waived == ("a.md",)
    spent = advance(workflow, replace(walk(workflow, "bad"), counts={"help.skip": 1}), "skip")
    assert (spent.step, spent.waived) == ("z", ())


def test_an_answer_that_does_not_waive_waives_nothing() -> None:
    assert walk(STAGED, "bad", "again", run=at("check")).waived == ()


COUNTED = {"plan.x": 1, "code.failed": 1, "test.flaky": 2, "test.red": 1}
EARLIER = with_step(
    STAGED, step("plan", phase="plan", produces=("plan.md",), done="code", x=Edge("help", at_most=1, then="help"))
)


def test_a_rewind_takes_away_what_its_phase_and_later_ones_made() -> None:
    run = replace(at("test"), waived=("plan.md", "code.py", "test.json", "3.2-*"), counts=COUNTED)
    back = advance(EARLIER, run, "red")
    assert (back.phase, back.step) == ("code", "code")
    assert back.clear == ("code.py", "check.json", "3.2-*", "test.json", "children/tasks/")
    assert back.waived == ("plan.md",)
    assert back.counts == {"plan.x": 1, "test.red": 2}


def test_a_rewind_to_the_first_phase_takes_away_everything_but_how_often_it_happened() -> None:
    back = rewind(EARLIER, replace(at("test"), counts=COUNTED, waived=("plan.md",)), "plan")
    assert back.counts == {"test.red": 1}
    assert back.waived == ()
    assert back.clear[0] == "plan.md"


def test_a_rewind_that_is_out_of_budget_takes_nothing_away() -> None:
    workflow = table(
        step("help", "ask", again="@again"),
        step(
            "test",
            phase="two",
            produces=("test.json",),
            done="over",
            red=Edge("help", at_most=1, then="help", rewind=True),
        ),
        step("over", "end", phase="three"),
    )
    run = replace(at("test", workflow), waived=("test.json",))
    assert advance(workflow, run, "red").clear == ("test.json",)
    asked = advance(workflow, replace(run, counts={"test.red": 1}), "red")
    assert (asked.step, asked.clear, asked.waived) == ("help", (), ("test.json",))
    assert asked.counts == {"test.red": 1}


def test_two_rewinds_cannot_refill_each_others_budgets() -> None:
    workflow = table(
        step("a", phase="a", done="b"),
        step("b", phase="b", done="c", bad=Edge("a", at_most=2, then="stuck", rewind=True)),
        step("c", phase="c", done="over", bad=Edge("b", at_most=2, then="stuck", rewind=True)),
        step("stuck", "ask", phase="c", retry="@again"),
        step("over", "end", phase="d"),
    )
    graphlib.TopologicalSorter(unattended(workflow)).prepare()


def test_a_rewind_forgets_counts_of_steps_the_table_no_longer_has() -> None:
    back = rewind(STAGED, replace(at("test"), counts={"gone.red": 2, "test.gone": 1, "nonsense": 3}), "test")
    assert back.counts == {}


def test_children_that_ended_badly_are_added_to_what_a_rewind_takes_away() -> None:
    run = drop_children(replace(at("code"), clear=("code.py",)), ("children/tasks/b/",))
    assert run.clear == ("code.py", "children/tasks/b/")
    assert cleared(run).clear == ()


def test_laying_a_run_down_only_ends_the_attempt() -> None:
    run = replace(at("code"), counts={"code.failed": 1}, waived=("plan.md",))
    assert lay_down(begin(run, Intent("call", "now"))) == replace(run, begun=True)


def test_a_run_whose_phase_and_step_agree_is_settled() -> None:
    run = begin(replace(at("check"), counts=COUNTED), Intent("call", "now"))
    assert settle(STAGED, run) is run


def test_a_phase_set_by_hand_wins_over_the_step() -> None:
    asked = replace(at("help"), asked_by="test", spent="test.red", counts=COUNTED, intent=Intent("call", "now"))
    run = settle(EARLIER, replace(asked, phase="code", waived=("plan.md",), clear=("code.py",)))
    assert run == Run("small", "x", "code", "code", counts={"plan.x": 1, "test.red": 1}, waived=("plan.md",))


def test_a_phase_set_ahead_by_hand_keeps_what_was_counted_before_it() -> None:
    run = settle(EARLIER, replace(at("code"), phase="test", counts=COUNTED))
    assert (run.step, run.counts) == ("test", {"plan.x": 1, "code.failed": 1, "test.red": 1})


def test_a_run_set_to_its_last_phase_by_hand_is_over() -> None:
    assert settle(STAGED, replace(at("code"), phase="done")).result == "over"


def test_a_finished_run_set_back_by_hand_has_no_last_word() -> None:
    assert settle(STAGED, replace(at("over"), phase="plan", result="over")).result == ""


def test_a_step_the_table_no_longer_has_gives_way_to_the_first_of_its_phase() -> None:
    run = settle(STAGED, Run("small", "x", "code", "renamed", intent=Intent("call", "now")))
    assert run == Run("small", "x", "code", "code")


def test_a_phase_the_table_does_not_have_is_refused_with_those_it_has() -> None:
    with pytest.raises(Corrupt, match="small has no phase 'coding'") as error:
        settle(STAGED, replace(at("code"), phase="coding"))
    assert error.value.fix == "set the phase of x to one of: plan, code, test, help, done"


def test_a_position_is_never_changed_only_replaced() -> None:
    counts = {"test.flaky": 1}
    run = replace(at("test"), counts=counts)
    advance(STAGED, run, "flaky")
    advance(STAGED, run, "red")
    settle(STAGED, replace(run, phase="plan"))
    assert counts == {"test.flaky": 1}
    assert run == replace(at("test"), counts={"test.flaky": 1})


@given(st.data())
def test_no_walk_overdraws_a_budget_or_leaves_phase_and_step_at_odds(data: st.DataObject) -> None:
    run = start(STAGED, "x")
    for _ in range(40):
        here = STAGED.steps[run.step]
        if here.kind == "end":
            break
        run = advance(STAGED, run, data.draw(st.sampled_from(sorted(here.next))))
        arrived = STAGED.steps[run.step]
        assert run.phase == arrived.phase
        assert settle(STAGED, run) is run
        assert bool(run.asked_by) == (arrived.kind == "ask")
        assert run.result == (arrived.what if arrived.kind == "end" else "")
        for key, count in run.counts.items():
            name, _, word = key.rpartition(".")
            assert 0 < count <= int(STAGED.steps[name].next[word].at_most or 0)


def test_without_a_person_every_walk_comes_to_an_end_or_a_question() -> None:
    graphlib.TopologicalSorter(unattended(STAGED)).prepare()


HALF_DONE = table(
    step("write", "agent", when=("it_is_missing",), produces=("x.md",), done="over", failed="help"),
    step("help", "ask", again="@again", afresh=Edge("@again", rewind=True), skip="@past"),
    step("over", "end", phase="two"),
)


@pytest.mark.parametrize(("answer", "begun"), [("again", True), ("afresh", False)])
def test_a_step_tried_again_is_not_skipped_for_what_its_first_try_left(answer: str, begun: bool) -> None:
    run = begin(Run("small", "x", "one", "write"), Intent("call", "now"))
    again = advance(HALF_DONE, advance(HALF_DONE, run, "failed"), answer)
    assert (again.step, again.begun, again.intent) == ("write", begun, None)


def test_a_step_that_leads_to_itself_stays_begun_and_one_that_leads_on_does_not() -> None:
    looped = table(step("write", done="over", failed="@again"), step("over", "end", phase="two"))
    run = begin(Run("small", "x", "one", "write"), Intent("call", "now"))
    assert advance(looped, run, "failed").begun
    assert not advance(looped, run, "done").begun


def test_beginning_a_step_ends_the_waiver_of_what_it_produces() -> None:
    run = replace(at("code"), waived=("x.md", "y.md"))
    assert renew(run, step("write", produces=("x.md",), done="over")).waived == ("y.md",)
