"""Checks of documents and of what an `each` works through that belong to no other noun."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentd.engine.waves import Item
from agentd.errors import Corrupt
from agentd.families.change import format_check
from agentd.families.change.documents import proposal
from agentd.families.change.documents import tasks as tasks_document
from agentd.library import spec
from agentd.model.finding import Finding
from agentd.text import lossless_yaml

if TYPE_CHECKING:
    from agentd.runs.work import Work


def tasks(work: "Work") -> Sequence[Item]:
    """The tasks of tasks.yaml, with what each depends on."""
    path = work.store.folder / "tasks.yaml"
    fix = f"edit {path}: tasks: [{{id: T-001, depends_on: []}}]"
    try:
        data = lossless_yaml.parse_bytes(path.read_bytes(), str(path)).data
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


def every_requirement_has_a_task(work: "Work") -> str:
    """Why the tasks do not cover the specs, or nothing."""
    return _first(work, lambda finding: finding.rule == "uncovered_requirement")


def the_documents_are_valid(work: "Work") -> str:
    """The first thing that is wrong with the documents, or nothing."""
    return _first(work, lambda finding: finding.severity == "High")


def _first(work: "Work", counts: Callable[[Finding], bool]) -> str:
    found = [finding for finding in format_check.findings(work) if counts(finding)]
    more = f" (and {len(found) - 1} more: agentd validate {work.state.run.name})" if len(found) > 1 else ""
    return f"{found[0].file}:{found[0].line}: {found[0].message}{more}" if found else ""
