"""The team family: roles, user gates and repair loops in one session. This is its data; the code is loaded when it is needed."""

from pathlib import Path

from agentd.model.tools import POWERS
from agentd.runs.layout import Layout
from agentd.state.codecs import Codec

_DOCUMENT = "intake.document_problem"

LAYOUT = Layout(
    name="team",
    module=__name__,
    folder=Path(__file__).parent,
    homes=(".agents-work",),
    codec=Codec("status.json", "session", "current_state", "schema_version", "1.0", "created_at", "last_update"),
    workflows=("team", "team-task", "team-task-late"),
    proved=True,
    decisions_above=True,
    guarded_keys=(
        "mode",
        "assumptions",
        "gate_tracking",
        "runtime_flags",
        "retry_counts",
        "known_issues",
        "last_ci_result",
        "acceptance",
        "verdicts",
        "landed",
        "promoted",
        "dispatched",
        "active_tasks",
    ),
    settings={"team": {"max_parallel": 2}},
    checks={
        "design_is_approved": "gates.design_is_approved",
        "design_is_consistent": "intake.design_is_consistent",
        "every_criterion_is_met": "acceptance.every_criterion_is_met",
        "every_task_has_its_fields": "gates.every_task_has_its_fields",
        "every_task_is_completed": "task_steps.every_task_is_completed",
        "evidence_is_stale": "acceptance.evidence_is_stale",
        "no_decision_is_pending": "acceptance.no_decision_is_pending",
        "qa_is_due": "verdicts.qa_is_due",
        "report_is_complete": "acceptance.report_is_complete",
        "research_is_needed": "intake.research_is_needed",
        "research_is_there": "intake.research_is_there",
        "review_is_due": "verdicts.review_is_due",
        "security_is_due": "verdicts.security_is_due",
        "spec_is_testable": "intake.spec_is_testable",
        "strategy_is_chosen": "verdicts.strategy_is_chosen",
        "strategy_is_per_batch": "verdicts.strategy_is_per_batch",
        "strategy_is_single_final": "verdicts.strategy_is_single_final",
        "ui_design_is_there": "intake.ui_design_is_there",
        "ui_is_involved": "intake.ui_is_involved",
    },
    # What the answer at the design gate is bound to besides the documents that are always there.
    documents={"design_is_consistent": "adr/", "research_is_there": "research/", "ui_design_is_there": "design-specs/"},
    actions={
        "accept_checks": ("acceptance.accept_checks", ("done",)),
        "accept_harm": ("workspaces.accept_harm", ("done",)),
        "accept_unknown": ("workspaces.accept_unknown", ("done",)),
        "accept_audit": ("verdicts.accept_audit", ("done",)),
        "accept_review": ("verdicts.accept_review", ("done",)),
        "accept_tests": ("verdicts.accept_tests", ("done",)),
        "close_session": ("closing.close_session", ("done",)),
        "complete_tasks": ("task_steps.complete_tasks", ("done",)),
        "examine": ("workspaces.examine", ("green", "red", "harmed", "unknown")),
        "hear_design": (
            "gates.hear_design",
            ("approved", "confirm", "spec", "architecture", "design", "unclear", "missing"),
        ),
        "hear_strategy": ("gates.hear_strategy", ("per-batch", "single-final", "unclear", "missing")),
        "land": ("task_steps.land", ("landed", "stale", "red", "conflict")),
        "land_unreviewed": ("workspaces.land_unreviewed", ("landed", "red", "conflict")),
        "leave_lean": ("intake.leave_lean", ("done",)),
        "manual_checks_are_confirmed": ("acceptance.manual_checks_are_confirmed", ("done", "ask")),
        "open_workspace": ("workspaces.open_workspace", ("done", "could_not_start")),
        "recommend_strategy": ("gates.recommend_strategy", ("done",)),
        "reopen_gate": ("gates.reopen_gate", ("design", "strategy")),
        "run_acceptance_checks": ("acceptance.run_acceptance_checks", ("green", "red", "unknown")),
        "summarize_design": ("gates.summarize_design", ("done", "spec", "architecture", "design")),
        "write_minimal_artifacts": ("intake.write_minimal_artifacts", ("done",)),
        "write_report": ("closing.write_report", ("done",)),
    },
    items={"tasks": "family.items"},
    questions={
        "approve_design": "gates.approve_design",
        "confirm_design": "gates.confirm_design",
        "review_strategy": "gates.review_strategy",
        "gate_is_open": "gates.gate_is_open",
        "confirm_checks": "acceptance.confirm_checks",
        **{
            name: f"questions.{name}"
            for name in (
                "blocked",
                "build_is_stuck",
                "harm_is_found",
                "landing_is_stuck",
                "question_of_an_agent",
                "repair_is_stuck",
                "scope_has_grown",
                "security_needs_a_decision",
                "tests_cannot_run",
                "tests_stay_red",
                "which_notes_to_fix",
            )
        },
    },
    artifacts={
        "spec.md": _DOCUMENT,
        "acceptance.json": _DOCUMENT,
        "architecture.md": _DOCUMENT,
        "tasks.yaml": _DOCUMENT,
        "checks.json": "acceptance.problem_with",
    },
    bound={"tasks.yaml": "session_documents.without_statuses"},
    tools=("write_document", "read_document", *POWERS),
)
