"""The schedule against the table, the gates between the stages that are left, and what the state shows of both."""

from fnmatch import fnmatchcase
from itertools import combinations

import pytest

from agentd.families.staged import LAYOUT, stages
from agentd.families.staged.schedule import SCHEDULE, STAGES, by_phase, entry_of, gates, position, shown_schedule
from agentd.model.run import Run
from agentd.model.workflow import Workflow
from agentd.workflows.check import Known, prove
from agentd.workflows.without import without
from tests.workflows.tables import built_in, built_ins

SUBSETS = [off for count in range(len(STAGES)) for off in combinations(STAGES, count)]
# Each gate with its files and the phase after which it is checked.
GATES = {
    "EXPLORE->PLAN": {"files": ["0-explore.md"], "phase": "0"},
    "PLAN->IMPLEMENT": {"files": ["1.2-plan.md", "1.3-plan-review.json"], "phase": "1.3"},
    "IMPLEMENT->TEST": {"files": ["2.1-tasks.json", "2.3-impl-review.json"], "phase": "2.3"},
    "TEST->FINAL": {"files": ["3.1-test-results.json", "3.3-test-review.json"], "phase": "3.3"},
    "FINAL->COMPLETE": {"files": ["4.2-final-review.json"], "phase": "4.2"},
}


def table(*off: str) -> Workflow:
    return without(built_in("staged"), off)


def statuses(shown: stages.Shown) -> dict[str, str]:
    return {phase: one["status"] for stage in shown.values() for phase, one in stage["phases"].items()}


@pytest.mark.requirement(223)
def test_the_schedule_has_thirteen_entries_of_five_stages_in_order() -> None:
    assert [(one["phase"], one["name"], one["type"]) for one in shown_schedule()] == [
        ("0", "Explore", "dispatch"),
        ("1.1", "Brainstorm", "inline"),
        ("1.2", "Plan", "dispatch"),
        ("1.3", "Plan Review", "review"),
        ("2.1", "Task Execution", "dispatch"),
        ("2.2", "Simplify", "inline"),
        ("2.3", "Impl Review", "review"),
        ("3.1", "Run Tests", "command"),
        ("3.2", "Analyze Failures", "inline"),
        ("3.3", "Test Review", "review"),
        ("4.1", "Documentation", "inline"),
        ("4.2", "Final Review", "review"),
        ("4.3", "Completion", "inline"),
    ]
    assert [*dict.fromkeys(one["stage"] for one in shown_schedule())] == [*STAGES]
    assert [phase for phase in table().phases if phase in STAGES] == [*STAGES]


@pytest.mark.requirement(224, 227)
def test_every_step_of_a_stage_belongs_to_one_entry_and_every_entry_to_the_stage_of_its_steps() -> None:
    listed = [name for entry in SCHEDULE for name in entry.steps]
    steps = table().steps
    assert sorted(listed) == sorted(name for name, step in steps.items() if step.phase in STAGES and step.kind != "ask")
    for entry in SCHEDULE:
        assert {steps[name].phase for name in entry.steps} == {entry.stage}
        assert entry_of(entry.steps[0]) == by_phase(entry.phase) == entry
        assert steps[table().entries[entry.phase]].name in entry.steps


@pytest.mark.requirement(224)
def test_a_run_that_waits_for_a_person_stands_where_the_question_came_up() -> None:
    found = position(Run("staged", "x", "BLOCKED", "what_now", asked_by="review_plan"))
    assert found is not None
    assert found.phase == "1.3"


@pytest.mark.requirement(229, 234, 240, 244, 246)
def test_the_gates_need_the_files_of_the_stage_before() -> None:
    assert gates(table()) == GATES


def test_the_gate_of_completion_holds_before_its_phase_is_entered() -> None:
    steps = table().steps
    assert steps["complete"].needs == steps["finish"].needs == ("phases/4.2-final-review.json",)


@pytest.mark.requirement(267)
@pytest.mark.parametrize("off", SUBSETS, ids="-".join)
def test_whatever_stages_are_left_the_table_is_sound_and_its_gates_need_what_they_produce(off: tuple[str, ...]) -> None:
    found = table(*off)
    outcomes = {name: words for name, (_, words) in LAYOUT.actions.items()}
    prove(found, built_ins(), Known(LAYOUT.checks, outcomes, LAYOUT.items, LAYOUT.tools))
    left = [stage for stage in STAGES if stage not in off]
    assert [phase for phase in found.phases if phase in STAGES] == left
    assert [*gates(found)] == [f"{one}->{other}" for one, other in zip(left, [*left[1:], "COMPLETE"], strict=True)]
    made = [name.removeprefix("phases/") for step in found.steps.values() for name in step.produces]
    for name, gate in gates(found).items():
        assert all(any(fnmatchcase(file, each) for each in made) for file in gate["files"]), name
        assert by_phase(gate["phase"]).stage == name.partition("->")[0]  # type: ignore[union-attr]
        known = next(one for one in GATES if one.startswith(name.partition("->")[0]))
        assert gate == GATES[known]


@pytest.mark.requirement(268)
def test_without_tests_the_gate_to_the_end_needs_the_files_of_the_implementation() -> None:
    assert gates(table("TEST")) == {
        **{name: gate for name, gate in GATES.items() if "TEST" not in name},
        "IMPLEMENT->FINAL": {**GATES["IMPLEMENT->TEST"]},
    }
    assert table("TEST").first("FINAL").needs == ("phases/2.1-tasks.json", "phases/2.3-impl-review.json")


@pytest.mark.requirement(259)
def test_a_final_review_that_is_used_up_restarts_the_tests_and_without_them_the_implementation() -> None:
    edge, other = table().steps["give_up_on_all"].next["done"], table("TEST").steps["give_up_on_all"].next["done"]
    assert (edge.to, edge.rewind, edge.budget) == ("begin_test", True, "restarts_of_test")
    assert (other.to, other.rewind, other.budget) == ("begin_implement", True, "restarts_of_implement")


@pytest.mark.requirement(267)
def test_the_state_says_which_stages_are_skipped() -> None:
    shown = stages.begun(("TEST",))
    assert (shown["TEST"]["status"], shown["TEST"]["enabled"]) == ("skipped", False)
    assert {phase for phase, word in statuses(shown).items() if word == "skipped"} == {"3.1", "3.2", "3.3"}
    assert {shown[stage]["status"] for stage in STAGES if stage != "TEST"} == {"pending"}


@pytest.mark.requirement(225)
def test_a_phase_that_is_left_is_completed_and_what_lies_between_was_not_needed() -> None:
    shown = stages.moved(stages.begun(()), by_phase("3.1"), by_phase("3.3"))
    words = statuses(shown)
    assert (words["3.1"], words["3.2"], words["3.3"], words["4.1"]) == (
        "completed",
        "skipped",
        "in_progress",
        "pending",
    )
    assert [shown[stage]["status"] for stage in ("TEST", "FINAL")] == ["in_progress", "pending"]


@pytest.mark.requirement(261, 262)
def test_a_stage_that_restarts_has_its_phases_pending_is_counted_and_keeps_what_came_before() -> None:
    done = stages.moved(stages.begun(()), by_phase("2.2"), by_phase("2.3"))
    for entry in SCHEDULE[: [one.phase for one in SCHEDULE].index("2.3")]:
        done[entry.stage]["phases"][entry.phase]["status"] = "completed"
    again = stages.restarted(done, "IMPLEMENT", "IMPLEMENT", "the fixes are used up")
    words = statuses(again)
    assert {words[phase] for phase in ("2.1", "2.2", "2.3", "3.1", "4.3")} == {"pending"}
    assert {words[phase] for phase in ("0", "1.1", "1.2", "1.3")} == {"completed"}
    assert (again["IMPLEMENT"]["status"], again["IMPLEMENT"]["restartCount"]) == ("restarting", 1)
    assert [again[stage]["restartCount"] for stage in STAGES if stage != "IMPLEMENT"] == [0, 0, 0, 0]


@pytest.mark.requirement(266)
def test_a_stage_that_another_one_sends_back_is_blocked_with_the_reason() -> None:
    again = stages.restarted(stages.begun(()), "IMPLEMENT", "TEST", "the source is wrong")
    assert (again["TEST"]["status"], again["TEST"]["blockReason"]) == ("blocked", "the source is wrong")
    assert (again["IMPLEMENT"]["status"], again["IMPLEMENT"]["restartCount"]) == ("restarting", 1)
    assert again["TEST"]["restartCount"] == 0


def test_the_lines_of_a_status_mark_each_entry_and_show_the_gates() -> None:
    shown = stages.begun(("EXPLORE",))
    shown = stages.restarted(stages.moved(shown, by_phase("1.1"), by_phase("1.2")), "PLAN", "PLAN", "x")
    shown = stages.moved(shown, None, by_phase("1.1"))
    shown = stages.blocked(stages.moved(shown, by_phase("1.1"), by_phase("1.2")), SCHEDULE[2], "no plan")
    lines = stages.lines({"stages": shown, "gates": gates(table("EXPLORE"))})
    assert lines[:5] == [
        "· 0    EXPLORE    Explore  skipped",
        "✓ 1.1  PLAN       Brainstorm (restarted 1)",
        "✗ 1.2  PLAN       Plan  blocked",
        "· 1.3  PLAN       Plan Review",
        "       [GATE] PLAN->IMPLEMENT: 1.2-plan.md, 1.3-plan-review.json",
    ]
    assert len(lines) == len(SCHEDULE) + 4
