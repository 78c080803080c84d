"""What comes next, for every kind of position."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.engine.advance import begin, start
from agentd.engine.decide import Do, Skip, Stop, decide, names
from agentd.model.run import Intent, Run
from agentd.model.workflow import Workflow
from tests.engine.tables import step, table

GATED = step("build", needs=("plan.md", "tests_are_green"), when=("there_is_work",), done="over")
SMALL = table(GATED, step("over", "end", phase="two", what="archived"), commands={"impl": ("one",), "plan": ("two",)})
HERE = start(SMALL, "x")
BEGUN = begin(HERE, Intent("call", "now"))
HOLDS = {"plan.md": "", "tests_are_green": "", "there_is_work": ""}


def at(workflow: Workflow, name: str) -> Run:
    return Run(workflow.name, "x", workflow.steps[name].phase, name)


def test_a_step_whose_gate_is_open_is_performed() -> None:
    assert decide(SMALL, HERE, HOLDS) == Do(GATED)


def test_a_step_is_skipped_when_its_when_does_not_hold() -> None:
    assert decide(SMALL, HERE, HOLDS | {"there_is_work": "no open task"}) == Skip(GATED, "no open task")


def test_a_skip_names_every_reason() -> None:
    twice = table(step("build", when=("a", "b", "c"), done="over"), step("over", "end"))
    action = decide(twice, start(twice, "x"), {"a": "no a", "b": "", "c": "no c"})
    assert action == Skip(twice.steps["build"], "no a; no c")


def test_a_step_that_is_not_for_this_run_is_skipped_although_its_gate_is_closed() -> None:
    facts = {"plan.md": "missing", "tests_are_green": "2 failed", "there_is_work": "no open task"}
    assert isinstance(decide(SMALL, HERE, facts), Skip)


def test_a_begun_step_is_not_skipped() -> None:
    assert decide(SMALL, BEGUN, HOLDS | {"there_is_work": "no open task"}) == Do(GATED)


def test_a_begun_step_is_not_even_asked_whether_it_is_wanted() -> None:
    assert names(GATED, HERE) == ("plan.md", "tests_are_green", "there_is_work")
    assert names(GATED, BEGUN) == ("plan.md", "tests_are_green")
    assert decide(SMALL, BEGUN, {"plan.md": "", "tests_are_green": ""}) == Do(GATED)


def test_a_closed_gate_lists_everything_it_misses() -> None:
    action = decide(SMALL, HERE, HOLDS | {"plan.md": "missing", "tests_are_green": "2 failed"})
    assert action == Stop("blocked", "plan.md: missing; tests_are_green: 2 failed")


def test_a_closed_gate_lists_nothing_it_has() -> None:
    assert decide(SMALL, HERE, HOLDS | {"plan.md": "missing"}) == Stop("blocked", "plan.md: missing")


def test_a_gate_that_closed_while_the_step_was_under_way_blocks() -> None:
    assert decide(SMALL, BEGUN, HOLDS | {"plan.md": "missing"}) == Stop("blocked", "plan.md: missing")


def test_a_waived_artifact_passes_the_gate() -> None:
    waived = Run("small", "x", "one", "build", waived=("plan.md",))
    assert decide(SMALL, waived, HOLDS | {"plan.md": "missing"}) == Do(GATED)


def test_a_waiver_opens_the_gate_for_nothing_else() -> None:
    waived = Run("small", "x", "one", "build", waived=("plan.md",))
    facts = HOLDS | {"plan.md": "missing", "tests_are_green": "2 failed"}
    assert decide(SMALL, waived, facts) == Stop("blocked", "tests_are_green: 2 failed")


@pytest.mark.parametrize(("need", "opens"), [("3.2-fix.md", True), ("3.3-fix.md", False)])
def test_a_waived_pattern_passes_for_what_it_covers(need: str, opens: bool) -> None:
    staged = table(step("test", needs=(need,), done="over"), step("over", "end"))
    waived = Run("small", "x", "one", "test", waived=("3.2-*",))
    assert isinstance(decide(staged, waived, {need: "missing"}), Do) == opens


def test_a_phase_of_another_command_is_elsewhere() -> None:
    assert decide(SMALL, HERE, HOLDS, "plan") == Stop("elsewhere", "one")
    assert decide(SMALL, HERE, HOLDS, "impl") == Do(GATED)


def test_a_command_the_table_does_not_know_has_no_work_anywhere() -> None:
    assert decide(SMALL, HERE, HOLDS, "deploy") == Stop("elsewhere", "one")


def test_elsewhere_comes_before_a_skip_and_before_a_closed_gate() -> None:
    facts = {"plan.md": "missing", "tests_are_green": "", "there_is_work": "no open task"}
    assert decide(SMALL, HERE, facts, "plan") == Stop("elsewhere", "one")


def test_the_end_is_finished_with_its_last_word() -> None:
    assert decide(SMALL, at(SMALL, "over"), {}) == Stop("finished", "archived")


def test_the_end_is_finished_whatever_the_command() -> None:
    assert decide(SMALL, at(SMALL, "over"), {}, "impl") == Stop("finished", "archived")


@given(
    facts=st.fixed_dictionaries(dict.fromkeys(HOLDS, st.sampled_from(["", "no"]))),
    waived=st.sets(st.just("plan.md")),
    begun=st.booleans(),
)
def test_a_step_is_performed_exactly_when_every_need_holds_or_was_waived(
    facts: dict[str, str], waived: set[str], begun: bool
) -> None:
    run = Run("small", "x", "one", "build", waived=tuple(waived), begun=begun)
    wanted = begun or not facts["there_is_work"]
    is_open = all(not facts[name] or name in waived for name in GATED.needs)
    assert isinstance(decide(SMALL, run, facts), Do) == (wanted and is_open)
    assert isinstance(decide(SMALL, run, facts), Skip) == (not wanted)
