"""What the tables of a person's own workflows may name: actions, items, and when a file counts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentd import files
from agentd.engine.waves import Item
from agentd.errors import Corrupt
from agentd.landing import task
from agentd.landing.queue import Verdict
from agentd.model.run import Outcome
from agentd.proof import evidence
from agentd.runs.work import Work
from agentd.text import lossless_yaml


def nothing(_: Work) -> Outcome:
    """Goes on."""
    return Outcome("done")


def run_tests(work: Work) -> Outcome:
    """The project's own tests."""
    return evidence.run_tests(work)


def open_workspace(work: Work) -> Outcome:
    """A workspace of its own for the item that this run is the child of."""
    return task.open_workspace(work)


def land(work: Work) -> Outcome:
    """The work in the workspace brought onto the branch of the run, if the tests are green together with what is there."""
    found = next((entry for entry in _entries(work.top) if str(entry["id"]) == work.item), {})

    def prove(place: Path) -> Verdict:
        word, note = evidence.prove(work, place)
        return Verdict(word == "green", note)

    title = str(found.get("title") or f"{work.top.state.run.name}: {work.item}")
    return task.land(work, prove, title, files=_words(found, "files"))


def evidence_is_green(work: Work, _: Path) -> str:
    """Why evidence.json does not count, or nothing."""
    return evidence.problem_with(work)


def tasks(work: Work) -> Sequence[Item]:
    """The tasks of tasks.yaml, with what each depends on and the files that it declares to write."""
    return [Item(str(entry["id"]), _words(entry, "depends_on"), _words(entry, "files")) for entry in _entries(work)]


def _words(entry: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(map(str, entry.get(key) or ()))


def _entries(work: Work) -> Sequence[Mapping[str, Any]]:
    path = work.store.folder / "tasks.yaml"
    fix = f"edit {path}: tasks: [{{id: T-001, depends_on: []}}]"
    try:
        data = lossless_yaml.parse_bytes(files.read(path), str(path)).data
    except OSError as error:
        raise Corrupt(f"{path}: {error.strerror}.", fix) from None
    entries = data.get("tasks")
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) and entry.get("id") for entry in entries):
        raise Corrupt(f"{path}: 'tasks' must be a list of tasks, each with an id.", fix)
    task.refuse_bad_names((str(entry["id"]) for entry in entries), path)
    for entry in entries:
        for key in ("depends_on", "files"):
            if not isinstance(entry.get(key) or [], list):
                raise Corrupt(f"{path}: {key} of {entry['id']} must be a list.", fix)
    return entries
