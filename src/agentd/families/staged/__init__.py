"""The staged family: a schedule with gates, waves and restarts. This is its data; the code is loaded when it is needed."""

from pathlib import Path

from agentd.model.tools import POWERS
from agentd.runs.layout import Layout
from agentd.state.codecs import Codec

_REVIEW = "gate_files.review_problem"

LAYOUT = Layout(
    name="staged",
    module=__name__,
    folder=Path(__file__).parent,
    homes=(".agents",),
    codec=Codec("state.json", "name", "currentStage", "version", 2, "startedAt", "updatedAt"),
    workflows=("staged", "staged-explorer", "staged-planner", "staged-task"),
    proved=True,
    decisions_above=True,
    guarded_keys=(
        "currentPhase",
        "status",
        "stages",
        "gates",
        "schedule",
        "files",
        "seals",
        "failure",
        "waivers",
        "waived",
        "began",
        "bases",
        "set_aside",
        "landed",
        "landed_tasks",
        "failed_tasks",
        "queries",
        "areas",
        "plan",
        "reasons",
        "compaction",
        "description",
        "task",
    ),
    settings={
        "staged": {
            "max_parallel": 10,
            "review_retries": 3,
            "stage_restarts": 3,
            "phase_retries": 3,
            "task_retries": 2,
            "task_secs": 600,
            "backoff_secs": (5, 15, 30),
            "block_on_severity": "low",
            "planning": "parallel",
            "use_complexity_scoring": True,
            "without": (),
            "lint": "",
            "test": "",
            "git": "branch+PR",
            "compact_between_stages": True,
            "compact_between_phases": False,
        }
    },
    choices={
        "staged.block_on_severity": ("high", "medium", "low"),
        "staged.planning": ("parallel", "single"),
        "staged.git": ("none", "commit", "branch+PR"),
    },
    actions={
        "back_off": ("task_steps.back_off", ("done",)),
        "begin_stage": ("stage_steps.begin_stage", ("done",)),
        "complete": ("completion.complete", ("done",)),
        "examine": ("task_steps.examine", ("green", "red", "harmed", "unknown")),
        "finish": ("completion.finish", ("done",)),
        "gather_findings": ("exploring.gather_findings", ("done",)),
        "gather_tasks": ("task_steps.gather_tasks", ("done",)),
        "give_up_on_review": ("stage_steps.give_up_on_review", ("done",)),
        "land": ("task_steps.land", ("landed", "stale", "red", "conflict")),
        "land_if_green": ("task_steps.land_if_green", ("done",)),
        "merge_plan": ("planning.merge_plan", ("done", "invalid")),
        "open_workspace": ("stage_steps.open_workspace", ("done", "could_not_start")),
        "put_aside": ("task_steps.put_aside", ("done",)),
        "put_away": ("stage_steps.put_away", ("done",)),
        "run_stage_tests": ("testing.run_stage_tests", ("passed", "test_is_wrong", "source_is_wrong", "unknown")),
        "split_plan": ("planning.split_plan", ("done",)),
        "split_queries": ("exploring.split_queries", ("done",)),
    },
    items={"queries": "exploring.queries", "areas": "planning.areas", "plan_tasks": "planning.plan_tasks"},
    questions={
        name: f"questions.{name}"
        for name in (
            "final_is_blocked",
            "harm_is_found",
            "question_of_a_task",
            "restarts_are_used_up",
            "tests_cannot_run",
            "what_now",
        )
    },
    artifacts={
        "phases/0-explore.md": "gate_files.page_problem",
        "phases/1.2-plan.md": "gate_files.plan_problem",
        "phases/1.3-plan-review.json": _REVIEW,
        "phases/2.1-tasks.json": "gate_files.tasks_problem",
        "phases/2.3-impl-review.json": _REVIEW,
        "phases/3.1-test-results.json": "gate_files.results_problem",
        "phases/3.3-test-review.json": _REVIEW,
        "phases/4.2-final-review.json": _REVIEW,
    },
    tools=POWERS,
)
