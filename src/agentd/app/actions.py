"""What a table may name: the checks of `needs` and `when`, the actions of `do`, the sources of `each`."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentd import yamltext
from agentd.app import base
from agentd.engine.waves import Item
from agentd.errors import AgentdError, Corrupt
from agentd.evidence.tests import run_tests
from agentd.model.finding import Finding
from agentd.model.run import Outcome
from agentd.redaction import redact, secret_values
from agentd.state import durable

if TYPE_CHECKING:
    from agentd.app.work import Work


def missing(name: str) -> Callable[["Work"], str]:
    """The check that holds as long as an artifact is not there."""
    return lambda work: f"{name} is there" if not work.artifact(name) else ""


def nothing(_: "Work") -> Outcome:
    """Goes on."""
    return Outcome("done")


def run_project_tests(work: "Work") -> Outcome:
    """Runs the configured test command; the result is kept in evidence.json and decides, whatever anybody says."""
    config = work.project.config
    evidence = run_tests(
        str(config.get("evidence", "test")),
        work.project.root,
        work.environment(),
        work.project.now(),
        float(config.get("evidence", "timeout_secs")),
        work.project.interrupted,
    )
    secrets = secret_values(work.secrets())
    clean = tuple(redact(line, secrets) for line in evidence.output)
    evidence = replace(evidence, command=redact(evidence.command, secrets), output=clean)
    work.write("evidence.json", json.dumps(evidence.to_data(), indent=2, ensure_ascii=False) + "\n")
    what = evidence.note or f"exit {evidence.exit_code}"
    work.say(f"tests {evidence.status}: {what} ({evidence.seconds:.1f} s)")
    return Outcome(evidence.status, what)


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


def evidence_is_green(path: Path) -> str:
    """Why evidence.json does not count, or nothing."""
    try:
        status = json.loads(path.read_bytes()).get("status")
    except (OSError, ValueError, AttributeError):
        return "it cannot be read"
    return "" if status == "green" else f"the tests are {status}"


def clear_folder(folder: Path) -> None:
    """Children of a rewound step; gone as a whole, twice does no harm."""
    try:
        if folder.is_dir():
            shutil.rmtree(folder)
    except OSError as error:
        raise durable.trouble(folder, error) from error


def every_requirement_has_a_task(work: "Work") -> str:
    """Why the tasks do not cover the specs, or nothing."""
    return _documents(work, lambda finding: finding.rule == "uncovered_requirement")


def the_documents_are_valid(work: "Work") -> str:
    """The first thing that is wrong with the documents, or nothing."""
    return _documents(work, lambda finding: finding.severity == "High")


def _documents(work: "Work", counts: Callable[[Finding], bool]) -> str:
    from agentd.app.examining import examine_change
    from agentd.app.shelf import Shelf

    project = work.project
    examined = examine_change(project.relative(work.store.folder), project.config.rules(), Shelf(str(project.root)))
    found = [finding for finding in examined.findings if counts(finding)]
    more = f" (and {len(found) - 1} more: agentd validate {work.state.run.name})" if len(found) > 1 else ""
    return f"{found[0].file}:{found[0].line}: {found[0].message}{more}" if found else ""


CHECKS: Mapping[str, Callable[["Work"], str]] = {
    "every_requirement_has_a_task": every_requirement_has_a_task,
    "the_documents_are_valid": the_documents_are_valid,
    "proposal_is_missing": missing("proposal.md"),
    "specs_are_missing": missing("specs/"),
    "tasks_are_missing": missing("tasks.md"),
}
ACTIONS: Mapping[str, Callable[["Work"], Outcome]] = {
    "nothing": nothing,
    "run_tests": run_project_tests,
    "archive": archive,
}
# The words each action may end with; a table must have a way on for every one of them.
OUTCOMES: Mapping[str, tuple[str, ...]] = {
    "nothing": ("done",),
    "run_tests": ("green", "red", "unknown"),
    "archive": ("done",),
}
SOURCES: Mapping[str, Callable[["Work"], Sequence[Item]]] = {"tasks": tasks}
VALID: Mapping[str, Callable[[Path], str]] = {"evidence.json": evidence_is_green}
