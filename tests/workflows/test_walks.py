"""Whatever agents, facts and people do: no run goes on for ever without a person, none passes a gate without evidence."""

from fnmatch import fnmatchcase
from random import Random

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from agentd.engine.advance import begin, cleared
from agentd.engine.decide import Do, Stop, decide, names
from agentd.model.run import Intent
from agentd.model.workflow import Workflow
from tests.built_in import BUILT_IN
from tests.workflows.random_tables import random_tables
from tests.workflows.tables import built_in, problems
from tests.workflows.walker import Moment, at_random, longest_alone, reload, stubborn, walk

STARTS = [(name, mode) for name in BUILT_IN for mode in built_in(name).starts]
built_in_walks = pytest.mark.parametrize(("name", "mode"), STARTS)
seeds = st.integers(0, 2**32)


@st.composite
def sound_tables(draw: st.DrawFn) -> Workflow:
    workflow = draw(random_tables())
    assume(not problems(workflow))
    return workflow


def moments(workflow: Workflow, mode: str, seed: int, doubt: float = 0.0) -> list[Moment]:
    random = Random(seed)
    choose = stubborn(random) if seed % 2 else at_random(random)
    return list(walk(workflow, mode, choose, random, doubt=doubt))


def check_that_it_ends(workflow: Workflow, mode: str, seed: int) -> None:
    seen = moments(workflow, mode, seed)
    assert max(moment.alone for moment in seen) <= longest_alone(workflow)
    last = seen[-1].action
    assert last == Stop("finished", workflow.steps[seen[-1].run.step].what) or (
        isinstance(last, Do) and last.step.kind == "ask"
    )


def check_that_gates_hold(workflow: Workflow, mode: str, seed: int) -> None:
    for moment in moments(workflow, mode, seed, doubt=0.4):
        step = workflow.steps[moment.run.step]
        open_gate = all(
            not moment.facts[need] or any(fnmatchcase(need, name) for name in moment.waived) for need in step.needs
        )
        assert {*moment.run.waived} == moment.waived
        if isinstance(moment.action, Do):
            assert open_gate
        if isinstance(moment.action, Stop) and moment.action.why == "blocked":
            assert not open_gate


def check_that_a_reload_decides_the_same(workflow: Workflow, mode: str, seed: int) -> None:
    for moment in moments(workflow, mode, seed, doubt=0.3):
        again = reload(moment.run)
        assert again == moment.run
        assert decide(workflow, again, moment.facts) == moment.action


def check_that_a_killed_step_is_taken_up(workflow: Workflow, mode: str, seed: int) -> None:
    for moment in moments(workflow, mode, seed, doubt=0.3):
        if isinstance(moment.action, Do):
            killed = reload(begin(cleared(moment.run), Intent("call", "now")))
            wanted = names(moment.action.step, killed)
            assert not set(moment.action.step.when) & set(wanted) - set(moment.action.step.needs)
            facts = {name: moment.facts[name] for name in wanted}
            assert decide(workflow, killed, facts) == moment.action


@built_in_walks
@given(seed=seeds)
@settings(max_examples=40)
@example(seed=1)
def test_no_built_in_goes_on_for_ever_without_a_person(name: str, mode: str, seed: int) -> None:
    check_that_it_ends(built_in(name), mode, seed)


@built_in_walks
@given(seed=seeds)
@settings(max_examples=40)
def test_no_built_in_passes_a_gate_without_its_evidence(name: str, mode: str, seed: int) -> None:
    check_that_gates_hold(built_in(name), mode, seed)


@built_in_walks
@given(seed=seeds)
@settings(max_examples=15)
def test_a_reloaded_built_in_run_decides_the_same(name: str, mode: str, seed: int) -> None:
    check_that_a_reload_decides_the_same(built_in(name), mode, seed)


@built_in_walks
@given(seed=seeds)
@settings(max_examples=15)
def test_a_built_in_run_killed_at_any_step_takes_that_step_up_again(name: str, mode: str, seed: int) -> None:
    check_that_a_killed_step_is_taken_up(built_in(name), mode, seed)


@given(workflow=sound_tables(), seed=seeds)
@settings(max_examples=500)
def test_no_sound_table_goes_on_for_ever_without_a_person(workflow: Workflow, seed: int) -> None:
    check_that_it_ends(workflow, "full", seed | 1)
    check_that_it_ends(workflow, "full", seed & ~1)


@given(workflow=sound_tables(), seed=seeds)
@settings(max_examples=500)
def test_no_sound_table_lets_a_gate_pass_without_its_evidence(workflow: Workflow, seed: int) -> None:
    check_that_gates_hold(workflow, "full", seed)


@given(workflow=sound_tables(), seed=seeds)
@settings(max_examples=100)
def test_a_reloaded_run_of_a_sound_table_decides_the_same(workflow: Workflow, seed: int) -> None:
    check_that_a_reload_decides_the_same(workflow, "full", seed)


@given(workflow=sound_tables(), seed=seeds)
@settings(max_examples=100)
def test_a_run_of_a_sound_table_killed_at_any_step_takes_that_step_up_again(workflow: Workflow, seed: int) -> None:
    check_that_a_killed_step_is_taken_up(workflow, "full", seed)


def test_most_random_tables_are_sound_and_the_sound_ones_have_loops_questions_and_rewinds() -> None:
    tables: list[Workflow] = []

    @given(workflow=random_tables())
    @settings(max_examples=300, database=None)
    def collect(workflow: Workflow) -> None:
        tables.append(workflow)

    collect()
    sound = [workflow for workflow in tables if not problems(workflow)]
    edges = [[edge for step in workflow.steps.values() for edge in step.next.values()] for workflow in sound]
    assert len(sound) > 0.5 * len(tables)
    assert sum(any(edge.rewind for edge in some) for some in edges) > 0.3 * len(sound)
    assert sum(any(edge.to.startswith("@") for edge in some) for some in edges) > 0.3 * len(sound)
    assert sum(any(edge.at_most for edge in some) for some in edges) > 0.3 * len(sound)
    assert sum(any(step.kind == "ask" for step in workflow.steps.values()) for workflow in sound) > 0.3 * len(sound)
