"""What a table may name: the checks of `needs` and `when`, the actions of `do`, the sources of `each`."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentd import yamltext
from agentd.app import (
    base,
    branching,
    challenging,
    checking,
    clarifying,
    implementing,
    proving,
    specifying,
    tasking,
    weighing,
)
from agentd.documents import proposal, spec
from agentd.documents import tasks as tasks_document
from agentd.engine.waves import Item
from agentd.errors import AgentdError, Corrupt
from agentd.model.finding import Finding
from agentd.model.run import Outcome
from agentd.state import durable

if TYPE_CHECKING:
    from agentd.app.work import Work


def missing(name: str) -> Callable[["Work"], str]:
    """The check that holds as long as an artifact is not there."""
    return lambda work: f"{name} is there" if not work.artifact(name) else ""


def nothing(_: "Work") -> Outcome:
    """Goes on."""
    return Outcome("done")


def archive(work: "Work") -> Outcome:
    """Copies the change's specs into the library and moves its folder. Every part may be repeated after a kill."""
    root, folder = work.project.root, work.store.folder
    library, home = root / "agentd" / "specs", root / "agentd" / "archive"
    target = home / folder.name
    if folder == target:
        return Outcome("done", "the folder had moved already")
    if target.exists():
        raise AgentdError(f"{target} is in the way.", f"mv {target} {target}.old")
    refuse_conflicts(work, library)
    durable.sweep(library)
    for source in sorted((folder / "specs").rglob("*.md")):
        copy = library / source.relative_to(folder / "specs")
        durable.make_folder(copy.parent)
        durable.replace(copy, source.read_bytes(), "document")
    implementing.let_go(work)
    durable.make_folder(home)
    durable.move(folder, target, "document")
    work.store.move(target)
    return Outcome("done", f"moved to {work.project.relative(target)}")


def refuse_conflicts(work: "Work", library: Path) -> None:
    """A spec that somebody else changed since this change began is shown, never overwritten."""
    known = base.read(work.store.folder)
    for source in sorted((work.store.folder / "specs").rglob("*.md")):
        name = source.relative_to(work.store.folder / "specs").as_posix()
        theirs = library / name
        was = known.text(name) if known and known.knows(name) else None
        if theirs.exists() and theirs.read_bytes() not in (
            source.read_bytes(),
            (was or "").encode(errors="surrogateescape"),
        ):
            raise AgentdError(
                f"{theirs} was changed since {work.state.run.name} began; archiving would overwrite that.",
                f"diff {theirs} {source}   # bring both into {source}, then: cp {source} {theirs}",
            )


def tasks(work: "Work") -> Sequence[Item]:
    """The tasks of tasks.yaml, with what each depends on."""
    path = work.store.folder / "tasks.yaml"
    fix = f"edit {path}: tasks: [{{id: T-001, depends_on: []}}]"
    try:
        data = yamltext.parse_bytes(path.read_bytes(), str(path)).data
    except OSError as error:
        raise Corrupt(f"{path}: {error.strerror}.", fix) from None
    entries = data.get("tasks")
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) and entry.get("id") for entry in entries):
        raise Corrupt(f"{path}: 'tasks' must be a list of tasks, each with an id.", fix)
    for entry in entries:
        if not isinstance(entry.get("depends_on") or [], list):
            raise Corrupt(f"{path}: depends_on of {entry['id']} must be a list.", fix)
    return [Item(str(entry["id"]), tuple(map(str, entry.get("depends_on") or ()))) for entry in entries]


def evidence_is_green(work: "Work", path: Path) -> str:
    """Why evidence.json does not count, or nothing. That of a change is weighed with the review."""
    if work.is_change:
        return ""
    try:
        status = json.loads(path.read_bytes()).get("status")
    except (OSError, ValueError, AttributeError):
        return "it cannot be read"
    return "" if status == "green" else f"the tests are {status}"


def is_of_this_change(work: "Work", path: Path) -> str:
    """Why a document is not one of this change, or nothing. What cannot be read at all is for validation to tell."""
    if not work.is_change:
        return ""
    text = path.read_bytes().decode(errors="replace")
    change = work.top.state.run.name
    if path.name == "proposal.md":
        found = proposal.read(text)[0]
        return "" if found is None or found.id == change else f"it is the proposal of '{found.id}'"
    if path.name == "tasks.md":
        listed = tasks_document.read(text)[0]
        return "" if listed is None or listed.change_id in ("", change) else f"it has the tasks of '{listed.change_id}'"
    named = spec.read(text)[0]
    return "" if named is None or named.id in ("", path.stem) else f"it is the spec '{named.id}'"


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


def every_requirement_has_a_task(work: "Work") -> str:
    """Why the tasks do not cover the specs, or nothing."""
    return _first(work, lambda finding: finding.rule == "uncovered_requirement")


def the_documents_are_valid(work: "Work") -> str:
    """The first thing that is wrong with the documents, or nothing."""
    return _first(work, lambda finding: finding.severity == "High")


def _first(work: "Work", counts: Callable[[Finding], bool]) -> str:
    found = [finding for finding in checking.findings(work) if counts(finding)]
    more = f" (and {len(found) - 1} more: agentd validate {work.state.run.name})" if len(found) > 1 else ""
    return f"{found[0].file}:{found[0].line}: {found[0].message}{more}" if found else ""


def unreviewed(writers: Sequence[str], review: str) -> Callable[["Work"], str]:
    """The check that holds when an agent wrote a document and its author has not looked at it since."""

    def check(work: "Work") -> str:
        from agentd.app.transcripts import last_called

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
    "baseline_is_open": implementing.baseline_is_open,
    "clarification_is_wanted": clarifying.is_wanted,
    "every_affected_spec_is_there": specifying.are_there,
    "every_requirement_has_a_task": every_requirement_has_a_task,
    "every_task_is_done": tasking.every_task_is_done,
    "generation_is_one_shot": generation_is_one_shot,
    "more_parts_follow": tasking.more_parts_follow,
    "proposal_is_missing": missing("proposal.md"),
    "proposal_is_unreviewed": unreviewed(("propose", "generate"), "review_proposal"),
    "spec_is_missing": specifying.is_missing,
    "spec_is_unreviewed": unreviewed(("write_spec",), "review_spec"),
    "specs_are_missing": specifying.are_missing,
    "tasks_are_missing": missing("tasks.md"),
    "tasks_are_open": tasking.tasks_are_open,
    "tasks_are_unreviewed": unreviewed(("break_down",), "review_tasks"),
    "tasks_of_part_are_open": tasking.tasks_of_part_are_open,
    "the_documents_are_valid": the_documents_are_valid,
    "the_plan_is_as_approved": challenging.plan_is_as_approved,
}
# Each action with the words it may end with; a table must have a way on for every one of them.
_ACTIONS: Mapping[str, tuple[Callable[["Work"], Outcome], tuple[str, ...]]] = {
    "accept_anyway": (weighing.accept_anyway, ("done",)),
    "approve": (challenging.approve, ("done", "ask", "changed")),
    "approve_anyway": (challenging.approve_anyway, ("done",)),
    "archive": (archive, ("done",)),
    "check_tasks": (tasking.check_tasks, ("done", "open")),
    "choose_git": (branching.choose_git, ("done", "ask")),
    "gather_evidence": (proving.gather_evidence, ("done", "unknown")),
    "nothing": (nothing, ("done",)),
    "rest": (rest, ("done",)),
    "run_baseline": (implementing.run_baseline, ("done", "ask")),
    "run_tests": (proving.run_tests, ("green", "red", "unknown")),
    "set_out": (implementing.set_out, ("done",)),
    "set_up_git": (branching.set_up_git, ("done", "refused")),
    "show_documents": (challenging.show_documents, ("done",)),
    "show_issues": (challenging.show_issues, ("done",)),
    "take_stock": (weighing.take_stock, ("review", "resolve", "weigh", "open")),
    "try_out": (proving.try_out, ("green", "red")),
    "validate_documents": (checking.validate_documents, ("valid", "invalid")),
    "waive_tasks": (tasking.waive_tasks, ("done",)),
    "waive_what_was_shown": (implementing.waive_what_was_shown, ("done",)),
    "weigh_again": (weighing.weigh_again, ("approved", "refused")),
    "weigh_the_code": (
        weighing.weigh_the_code,
        ("approved", "needs_changes", "stop", "waive", "stale", "ungrounded"),
    ),
    "weigh_the_review": (challenging.weigh_the_review, ("ask", "stuck", "revise")),
    "write_clarifications": (clarifying.write_clarifications, ("done",)),
}
ACTIONS: Mapping[str, Callable[["Work"], Outcome]] = {name: action for name, (action, _) in _ACTIONS.items()}
OUTCOMES: Mapping[str, tuple[str, ...]] = {name: words for name, (_, words) in _ACTIONS.items()}
SOURCES: Mapping[str, Callable[["Work"], Sequence[Item]]] = {
    "parts": tasking.items,
    "questions": clarifying.items,
    "reviews": weighing.items,
    "specs": specifying.items,
    "tasks": tasks,
}
VALID: Mapping[str, Callable[["Work", Path], str]] = {
    "CHALLENGE.md": challenging.problem_with,
    "evidence.json": evidence_is_green,
    "questions.yaml": clarifying.problem_with,
    "proposal.md": is_of_this_change,
    "tasks.md": is_of_this_change,
}


def valid(name: str) -> Callable[["Work", Path], str] | None:
    """What says whether an artifact counts, besides being there."""
    return is_of_this_change if name.startswith("specs/") and name.endswith(".md") else VALID.get(name)
