"""What a table may name: the checks of `needs` and `when`, the actions of `do`, the sources of `each`.

Most are named by the module that has them, which is imported when one is called: a command needs few of them.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentd.engine.waves import Item
from agentd.model.run import Outcome
from agentd.state import durable

if TYPE_CHECKING:
    from agentd.runs.work import Work


def _late(place: str) -> Callable[..., Any]:
    """A function of this room by its module and name."""
    module, _, name = place.rpartition(".")

    def call(*args: object) -> Any:
        return getattr(import_module(f"agentd.{module}"), name)(*args)

    call.__name__ = place
    return call


def missing(name: str) -> Callable[["Work"], str]:
    """The check that holds as long as an artifact is not there."""
    return lambda work: f"{name} is there" if not work.artifact(name) else ""


def nothing(_: "Work") -> Outcome:
    """Goes on."""
    return Outcome("done")


def rest(work: "Work") -> Outcome:
    """Leaves the run where it is: the next command goes on with whatever a person made of it."""
    name = work.state.run.name
    again = f"agentd reproposal {name}" if work.state.run.phase == "proposed" else f"agentd impl {name}"
    work.say(f"You can continue manually later with: {again}")
    work.resting = True
    return Outcome("done")


def clear_folder(folder: Path) -> None:
    """Children of a rewound step; gone as a whole, twice does no harm."""
    try:
        if folder.is_dir():
            shutil.rmtree(folder)
    except OSError as error:
        raise durable.trouble(folder, error) from error


def unreviewed(writers: Sequence[str], review: str) -> Callable[["Work"], str]:
    """The check that holds when an agent wrote a document and its author has not looked at it since."""

    def check(work: "Work") -> str:
        from agentd.calling.transcripts import last_called

        if not int(work.project.config.get("workflow", "self_review_iterations")):
            return "self_review_iterations is 0"
        written = max(last_called(work, step) for step in writers)
        if not written:
            return "no agent wrote it"
        return "" if written > last_called(work, review) else "its author reviewed it"

    return check


def generation_is_one_shot(work: "Work") -> str:
    return "" if work.state.fields.get("generation") == "one-shot" else "generation is sequential"


CHECKS: Mapping[str, Callable[["Work"], str]] = {
    "baseline_is_open": _late("proof.record.baseline_is_open"),
    "clarification_is_wanted": _late("families.change.clarification.is_wanted"),
    "every_affected_spec_is_there": _late("families.change.specs.are_there"),
    "every_requirement_has_a_task": _late("families.change.gates.every_requirement_has_a_task"),
    "every_task_is_done": _late("families.change.tasks.every_task_is_done"),
    "generation_is_one_shot": generation_is_one_shot,
    "more_parts_follow": _late("families.change.tasks.more_parts_follow"),
    "proposal_is_missing": missing("proposal.md"),
    "proposal_is_unreviewed": unreviewed(("propose", "generate"), "review_proposal"),
    "spec_is_missing": _late("families.change.specs.is_missing"),
    "spec_is_unreviewed": unreviewed(("write_spec",), "review_spec"),
    "specs_are_missing": _late("families.change.specs.are_missing"),
    "tasks_are_missing": missing("tasks.md"),
    "tasks_are_open": _late("families.change.tasks.tasks_are_open"),
    "tasks_are_unreviewed": unreviewed(("break_down",), "review_tasks"),
    "tasks_of_part_are_open": _late("families.change.tasks.tasks_of_part_are_open"),
    "the_documents_are_valid": _late("families.change.gates.the_documents_are_valid"),
    "the_plan_is_as_approved": _late("families.change.challenge.plan_is_as_approved"),
}
# Each action with the words it may end with; a table must have a way on for every one of them.
_ACTIONS: Mapping[str, tuple[Callable[["Work"], Outcome], tuple[str, ...]]] = {
    "accept_anyway": (_late("families.change.code_verdict.accept_anyway"), ("done",)),
    "approve": (_late("families.change.challenge.approve"), ("done", "ask", "changed")),
    "approve_anyway": (_late("families.change.challenge.approve_anyway"), ("done",)),
    "archive": (_late("families.change.archive.prepare.carry_out"), ("done",)),
    "check_tasks": (_late("families.change.tasks.check_tasks"), ("done", "open")),
    "choose_git": (_late("runs.worktree.choose_git"), ("done", "ask")),
    "gather_evidence": (_late("proof.evidence.gather_evidence"), ("done", "unknown")),
    "nothing": (nothing, ("done",)),
    "rest": (rest, ("done",)),
    "run_baseline": (_late("proof.record.run_baseline"), ("done", "ask")),
    "run_tests": (_late("proof.evidence.run_tests"), ("green", "red", "unknown")),
    "set_out": (_late("proof.record.set_out"), ("done",)),
    "set_up_git": (_late("runs.worktree.set_up_git"), ("done", "refused")),
    "show_documents": (_late("families.change.challenge.show_documents"), ("done",)),
    "show_issues": (_late("families.change.challenge.show_issues"), ("done",)),
    "take_stock": (_late("families.change.code_verdict.take_stock"), ("review", "resolve", "weigh", "open")),
    "try_out": (_late("proof.evidence.try_out"), ("green", "red")),
    "validate_documents": (_late("families.change.format_check.validate_documents"), ("valid", "invalid")),
    "waive_tasks": (_late("families.change.tasks.waive_tasks"), ("done",)),
    "waive_what_was_shown": (_late("proof.record.waive_what_was_shown"), ("done",)),
    "weigh_again": (_late("families.change.code_verdict.weigh_again"), ("approved", "refused")),
    "weigh_the_code": (
        _late("families.change.code_verdict.weigh_the_code"),
        ("approved", "needs_changes", "stop", "waive", "stale", "ungrounded"),
    ),
    "weigh_the_review": (_late("families.change.challenge.weigh_the_review"), ("ask", "stuck", "revise")),
    "write_clarifications": (_late("families.change.clarification.write_clarifications"), ("done",)),
}
ACTIONS: Mapping[str, Callable[["Work"], Outcome]] = {name: action for name, (action, _) in _ACTIONS.items()}
OUTCOMES: Mapping[str, tuple[str, ...]] = {name: words for name, (_, words) in _ACTIONS.items()}
SOURCES: Mapping[str, Callable[["Work"], Sequence[Item]]] = {
    "parts": _late("families.change.tasks.items"),
    "questions": _late("families.change.clarification.items"),
    "reviews": _late("families.change.code_verdict.items"),
    "specs": _late("families.change.specs.items"),
    "tasks": _late("families.change.gates.tasks"),
}
_OWN = _late("families.change.gates.is_of_this_change")
VALID: Mapping[str, Callable[["Work", Path], str]] = {
    "CHALLENGE.md": _late("families.change.challenge.problem_with"),
    "evidence.json": _late("families.change.gates.evidence_is_green"),
    "questions.yaml": _late("families.change.clarification.problem_with"),
    "proposal.md": _OWN,
    "tasks.md": _OWN,
}


def valid(name: str) -> Callable[["Work", Path], str] | None:
    """What says whether an artifact counts, besides being there."""
    return _OWN if name.startswith("specs/") and name.endswith(".md") else VALID.get(name)
