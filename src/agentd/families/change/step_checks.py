"""Small checks and actions that the tables of a change name. A check gives the reason why it does not hold, or nothing."""

from collections.abc import Callable, Sequence
from pathlib import Path

from agentd import files
from agentd.families.change import format_check
from agentd.families.change.documents import proposal
from agentd.families.change.documents import tasks as tasks_document
from agentd.library import spec
from agentd.model.finding import Finding
from agentd.model.run import Outcome
from agentd.runs.work import Work
from agentd.state import journal


def nothing(_: Work) -> Outcome:
    """Does nothing: the step has only a gate."""
    return Outcome("done")


def rest(work: Work) -> Outcome:
    """Pause the run; the next command continues from here, with whatever a person changed."""
    name = work.state.run.name
    again = f"agentd reproposal {name}" if work.state.run.phase == "proposed" else f"agentd impl {name}"
    work.say(f"You can continue manually later with: {again}")
    work.resting = True
    return Outcome("done")


def generation_is_one_shot(work: Work) -> str:
    return "" if work.state.fields.get("generation") == "one-shot" else "generation is sequential"


def proposal_is_missing(work: Work) -> str:
    return "proposal.md is there" if not work.artifact("proposal.md") else ""


def tasks_are_missing(work: Work) -> str:
    return "tasks.md is there" if not work.artifact("tasks.md") else ""


def _unreviewed(writers: Sequence[str], review: str) -> Callable[[Work], str]:
    """The check that an agent wrote a document and has not reviewed it since."""

    def check(work: Work) -> str:
        if not int(work.project.config.get("workflow", "self_review_iterations")):
            return "self_review_iterations is 0"
        saved = [one for one in journal.read(work.store.folder) if _calls(one) and _is_saved(one, work.state.saves)]
        begun = {str(one.get("step")): number for number, one in enumerate(saved, 1)}
        written = max(begun.get(step, 0) for step in writers)
        if not written:
            return "no agent wrote it"
        return "" if written > begun.get(review, 0) else "its author reviewed it"

    return check


def _calls(event: dict[str, object]) -> bool:
    return event.get("event") in ("begin", "retry")


def _is_saved(event: dict[str, object], saves: int) -> bool:
    """The diary is written before the state, so a kill in between leaves an event that did not happen."""
    number = event.get("n")
    return not isinstance(number, int) or number <= saves


proposal_is_unreviewed = _unreviewed(("propose", "generate", "sketch"), "review_proposal")
spec_is_unreviewed = _unreviewed(("write_spec",), "review_spec")
tasks_are_unreviewed = _unreviewed(("break_down",), "review_tasks")


def is_of_this_change(work: Work, path: Path) -> str:
    """Why a document belongs to another change, or nothing. One that cannot be read is left to validation."""
    text = files.read(path).decode(errors="replace")
    change = work.top.state.run.name
    if path.name == "proposal.md":
        found = proposal.read(text)[0]
        return "" if found is None or found.id == change else f"it is the proposal of '{found.id}'"
    if path.name == "tasks.md":
        listed = tasks_document.read(text)[0]
        return "" if listed is None or listed.change_id in ("", change) else f"it has the tasks of '{listed.change_id}'"
    named = spec.read(text)[0]
    return "" if named is None or named.id in ("", path.stem) else f"it is the spec '{named.id}'"


def every_requirement_has_a_task(work: Work) -> str:
    """The first requirement that no task names, or nothing."""
    return _first(work, lambda finding: finding.rule == "uncovered_requirement")


def the_documents_are_valid(work: Work) -> str:
    """The first serious finding about the documents, or nothing."""
    return _first(work, lambda finding: finding.severity == "High")


def _first(work: Work, counts: Callable[[Finding], bool]) -> str:
    found = [finding for finding in format_check.findings(work) if counts(finding)]
    more = f" (and {len(found) - 1} more: agentd validate {work.state.run.name})" if len(found) > 1 else ""
    return f"{found[0].file}:{found[0].line}: {found[0].message}{more}" if found else ""
