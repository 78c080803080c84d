"""The change family: plan, impl and archive of one change. This is its data; the code is loaded when it is needed."""

from pathlib import Path

from agentd.errors import ChangeNotFound
from agentd.model.tools import POWERS, TOOLS
from agentd.patterns import regex
from agentd.runs.layout import Layout
from agentd.state.codecs import Codec

NAME = "change"
ACTIVE, ARCHIVE = "agentd/changes", "agentd/archive"
# The mode of a small change: the name of its start, and of the command that does it.
QUICK = "quick"
# The option by which a person does without a review, as it is recorded.
NO_REVIEW = "--no-review"
# The documents that an approval of the plan is bound to.
PLAN = ("proposal.md", "specs/", "tasks.md")

LAYOUT = Layout(
    name=NAME,
    module=__name__,
    folder=Path(__file__).parent,
    homes=(ACTIVE, ARCHIVE),
    over=ARCHIVE,
    codec=Codec("STATE.yaml", "change_id", "phase", "schema_version", "2.0", "created_at", "updated_at"),
    workflows=(NAME, "change-question", "change-spec", "change-part", "change-review"),
    proved=True,
    names=regex(r"[a-z0-9][a-z0-9-]*"),
    allowed="small letters, digits and dashes",
    bare=True,
    missing=ChangeNotFound,
    children_share=True,
    at_once=1,  # questions are asked one at a time, and each spec builds on the ones before it
    guarded_keys=("challenged", "approval", "verdict", "generation", "mode", "unreviewed"),
    made_anew=("GEMINI.md", "AGENTS.md", "implementation.diff"),
    recover="archive.commands.recover",
    next={"rejected": "agentd challenge {name}   # once the proposal is changed"},
    commits={"complete": "agentd archive {name} && agentd commit {name}", "archived": "agentd commit {name}"},
    call_names={
        "draft_questions": "clarification",
        "generate": "proposal-gen",
        "propose": "proposal-gen",
        "review_proposal": "proposal-review",
        "write_spec": "spec-gen",
        "review_spec": "spec-review",
        "break_down": "tasks-gen",
        "review_tasks": "tasks-review",
        "fix_format": "format-fix",
        "sketch": "quick-plan",
        "fix_sketch": "format-fix",
        "revise": "reproposal",
        "implement": "implement_spec",
    },
    kinds=(
        "clarification",
        "proposal-gen",
        "proposal-review",
        "spec-gen",
        "spec-review",
        "tasks-gen",
        "tasks-review",
        "challenge",
        "reproposal",
    ),
    checks={
        "baseline_is_open": "baseline.is_open",
        "clarification_is_wanted": "clarification.is_wanted",
        "every_affected_spec_is_there": "specs.are_there",
        "every_requirement_has_a_task": "step_checks.every_requirement_has_a_task",
        "every_task_is_done": "task_status.every_task_is_done",
        "generation_is_one_shot": "step_checks.generation_is_one_shot",
        "more_parts_follow": "tasks.more_parts_follow",
        "proposal_is_missing": "step_checks.proposal_is_missing",
        "proposal_is_unreviewed": "step_checks.proposal_is_unreviewed",
        "review_is_wanted": "code_verdict.unreviewed",
        "spec_is_missing": "specs.is_missing",
        "spec_is_unreviewed": "step_checks.spec_is_unreviewed",
        "specs_are_missing": "specs.are_missing",
        "tasks_are_missing": "step_checks.tasks_are_missing",
        "tasks_are_open": "tasks.tasks_are_open",
        "tasks_are_unreviewed": "step_checks.tasks_are_unreviewed",
        "tasks_of_part_are_open": "tasks.tasks_of_part_are_open",
        "the_documents_are_valid": "step_checks.the_documents_are_valid",
        "the_plan_is_as_approved": "approval.plan_is_as_approved",
    },
    documents={"every_affected_spec_is_there": "specs/"},
    actions={
        "accept_sketch": ("approval.accept_sketch", ("done",)),
        "accept_anyway": ("code_verdict.accept_anyway", ("done",)),
        "approve": ("approval.approve", ("done", "ask", "changed")),
        "approve_anyway": ("approval.approve_anyway", ("done",)),
        "baseline": ("baseline.baseline", ("done", "ask")),
        "check_tasks": ("task_status.check_tasks", ("done", "open")),
        "check_sketch": ("sketch.check_sketch", ("valid", "invalid", "large")),
        "choose_git": ("git_setup.choose_git", ("done", "ask")),
        "grow": ("sketch.grow", ("done",)),
        "judge": (
            "code_verdict.judge",
            ("approved", "needs_changes", "stop", "waive", "stale", "ungrounded"),
        ),
        "judge_again": ("code_verdict.judge_again", ("approved", "refused")),
        "merge": ("archive.transaction.merge", ("done",)),
        "nothing": ("step_checks.nothing", ("done",)),
        "put_off": ("sketch.put_off", ("done",)),
        "rest": ("step_checks.rest", ("done",)),
        "set_out": ("baseline.set_out", ("done",)),
        "set_up_git": ("git_setup.set_up_git", ("done", "refused")),
        "show_documents": ("challenge.show_documents", ("done",)),
        "show_issues": ("challenge.show_issues", ("done",)),
        "take_stock": ("code_verdict.take_stock", ("review", "resolve", "judge", "open")),
        "test": ("code_evidence.test", ("done", "unknown")),
        "try_out": ("code_evidence.try_out", ("green", "red")),
        "validate": ("format_check.validate", ("valid", "invalid")),
        "waive_tasks": ("task_status.waive_tasks", ("done",)),
        "accept_shown": ("code_evidence.accept_shown", ("done",)),
        "weigh": ("challenge.weigh", ("ask", "stuck", "revise")),
        "write_answers": ("clarification.write_answers", ("done",)),
    },
    items={
        "parts": "tasks.items",
        "questions": "clarification.items",
        "reviews": "code_verdict.items",
        "specs": "specs.items",
    },
    questions={
        name: f"questions.{name}"
        for name in (
            "clarification",
            "git_setup",
            "steer",
            "lend_a_hand",
            "exhausted",
            "agree",
            "confirm",
            "mend",
            "begin_anyway",
            "unproven",
            "harmed",
            "unfinished",
            "stuck",
        )
    },
    artifacts={
        "CHALLENGE.md": "challenge.problem_with",
        "questions.yaml": "clarification.problem_with",
        "proposal.md": "step_checks.is_of_this_change",
        "tasks.md": "step_checks.is_of_this_change",
        "specs/*.md": "step_checks.is_of_this_change",
    },
    bound={"proposal.md": "documents.proposal.body", "tasks.md": "documents.tasks.without_status"},
    tools=(*TOOLS, *POWERS),
    shared={"write_knowledge": ("agentd/knowledge",), "write_main_spec": ("agentd/specs", "agentd/.lock")},
)
