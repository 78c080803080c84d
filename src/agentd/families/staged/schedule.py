"""The schedule of a run: the thirteen entries with the steps of each, and the gates between the stages that are left."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from agentd.model.run import Run
from agentd.model.workflow import Workflow, is_check

STAGES = ("EXPLORE", "PLAN", "IMPLEMENT", "TEST", "FINAL")
COMPLETE = "COMPLETE"


class Entry(NamedTuple):
    """One entry of the schedule; its steps are those that the table has for it."""

    phase: str
    stage: str
    name: str
    type: str
    steps: tuple[str, ...]


SCHEDULE = (
    Entry("0", "EXPLORE", "Explore", "dispatch", ("split_queries", "explore", "gather_findings")),
    Entry("1.1", "PLAN", "Brainstorm", "inline", ("begin_plan", "brainstorm")),
    Entry("1.2", "PLAN", "Plan", "dispatch", ("split_plan", "plan", "merge_plan")),
    Entry("1.3", "PLAN", "Plan Review", "review", ("review_plan", "fix_plan")),
    Entry("2.1", "IMPLEMENT", "Task Execution", "dispatch", ("begin_implement", "implement", "gather_tasks")),
    Entry("2.2", "IMPLEMENT", "Simplify", "inline", ("open_code", "simplify")),
    Entry(
        "2.3",
        "IMPLEMENT",
        "Impl Review",
        "review",
        (
            "examine_code",
            "open_review",
            "review_implementation",
            "fix_implementation",
            "land_code",
            "give_up_on_code",
            "force_code",
        ),
    ),
    Entry("3.1", "TEST", "Run Tests", "command", ("begin_test", "open_tests", "run_tests")),
    Entry("3.2", "TEST", "Analyze Failures", "inline", ("open_analysis", "analyze_failures")),
    Entry("3.3", "TEST", "Test Review", "review", ("open_test_review", "review_tests", "fix_tests", "land_tests")),
    Entry("4.1", "FINAL", "Documentation", "inline", ("begin_final", "open_docs", "document")),
    Entry(
        "4.2",
        "FINAL",
        "Final Review",
        "review",
        ("examine_all", "open_final_review", "review_all", "fix_all", "land_all", "give_up_on_all", "force_all"),
    ),
    Entry("4.3", "FINAL", "Completion", "inline", ("complete",)),
)
_OF_STEP = {step: entry for entry in SCHEDULE for step in entry.steps}
_OF_PHASE = {entry.phase: entry for entry in SCHEDULE}


def entry_of(step: str) -> Entry | None:
    """The entry that a step belongs to; a question and an end belong to none."""
    return _OF_STEP.get(step)


def by_phase(phase: str) -> Entry | None:
    return _OF_PHASE.get(phase)


def position(run: Run) -> Entry | None:
    """The entry at which a run stands; at a question it is that of the step that asked."""
    return entry_of(run.step) or entry_of(run.asked_by)


def shown_schedule() -> list[dict[str, str]]:
    return [{"phase": e.phase, "stage": e.stage, "name": e.name, "type": e.type} for e in SCHEDULE]


def gates(workflow: Workflow) -> Mapping[str, Any]:
    """Each gate with the files it needs and the phase after which it is checked, as the table has them."""
    left = [stage for stage in STAGES if stage in workflow.phases]
    found = {}
    for before, after in zip(left, (*left[1:], COMPLETE), strict=True):
        files = [name.removeprefix("phases/") for name in workflow.first(after).needs if not is_check(name)]
        last = _last(before, after)
        found[f"{before}->{after}"] = {"files": files, "phase": last.phase}
    return found


def _last(stage: str, after: str) -> Entry:
    """The entry after which the gate of a stage is checked: the last one, and of the last stage the one before completion."""
    entries = [entry for entry in SCHEDULE if entry.stage == stage]
    return entries[-2] if after == COMPLETE and len(entries) > 1 and stage == STAGES[-1] else entries[-1]
