"""The rows of a trace, computed from what is known of a change: from requirements to tasks, files, tests and evidence.

Nothing is read here, and what is not known never counts as shown.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from agentd.families.change.requirement_mentions import mentioned
from agentd.families.change.trace_model import Gap, Known, Row, Seen, TracedFile, TracedHarm, TracedTask, TracedTest
from agentd.families.change.trace_proof import covering, prove
from agentd.library.claims import named
from agentd.model.change import Requirement, Task
from agentd.patterns import regex
from agentd.proof.blockers import NO_TESTS
from agentd.proof.integrity.paths import is_test

_ARROW = regex(r"\s*(?:->|→)\s*")


def rows(known: Known) -> tuple[Row, ...]:
    """One row for each requirement, spec by spec."""
    mentions = {path: mentioned(text, known.specs, path) for path, text in known.texts.items()}
    return tuple(
        _row(known, name, entry, mentions) for name, spec in known.specs.items() for entry in spec.requirements
    )


def strays(known: Known) -> tuple[Task, ...]:
    """The tasks that name no requirement of the change."""
    there = {(name, entry.id) for name, spec in known.specs.items() for entry in spec.requirements}
    return tuple(task for task in known.tasks if named(task.spec_ref) not in there)


def _row(known: Known, name: str, entry: Requirement, mentions: Mapping[str, Collection[tuple[str, str]]]) -> Row:
    own = [task for task in known.tasks if named(task.spec_ref) == (name, entry.id)]
    tasks = tuple(
        TracedTask(task.id, task.title, task.status, known.waivers.get(f"task:{task.id}", "")) for task in own
    )
    files = tuple(_file(known, task) for task in own)
    tests = tuple(_tests(known, own, [path for path, found in mentions.items() if (name, entry.id) in found]))
    seen = _seen(known, (name, entry.id), tests)
    row = Row(name, entry.id, entry.title, entry.id in known.fresh.get(name, ()), tasks, files, tests, seen)
    return replace(row, gaps=tuple(_gaps(known, row))) if row.fresh or own else row


def _file(known: Known, task: Task) -> TracedFile:
    why = known.undone.get(task.id)
    return TracedFile(task.path, task.action, task.id, None if why is None else not why, why or "")


def _tests(known: Known, own: Sequence[Task], naming: Sequence[str]) -> Iterator[TracedTest]:
    direct = {_target(task): task for task in own if task.action != "DELETE" and is_test(_target(task))}
    for path, task in direct.items():
        yield TracedTest(path, "task", task.id, _is_written(known, task))
    yield from (TracedTest(path, "named") for path in naming if path not in direct)
    if direct or naming:
        return
    later = _after(known.tasks, {task.id for task in own})
    for task in known.tasks:
        if task.id in later and task.layer == "testing" and task.action != "DELETE":
            yield TracedTest(_target(task), "via", task.id, _is_written(known, task))


def _target(task: Task) -> str:
    """The file a task leaves behind."""
    return _ARROW.split(task.path)[-1].removeprefix("./")


def _is_written(known: Known, task: Task) -> bool:
    why = known.undone.get(task.id)
    return task.status == "completed" if why is None else not why


def _after(tasks: Sequence[Task], first: Collection[str]) -> set[str]:
    """These tasks and all that depend on them, directly or not."""
    found, size = set(first), -1
    while size != len(found):
        size = len(found)
        found |= {task.id for task in tasks if found.intersection(task.depends)}
    return found


def _seen(known: Known, mine: tuple[str, str], tests: Sequence[TracedTest]) -> Seen | None:
    """What the evidence says about those tests that exist."""
    paths = {test.path for test in tests if test.written}
    if known.evidence is None or not paths:
        return None

    def whose(case: str) -> bool | None:
        found = mentioned(case, known.specs)
        return mine in found if found else None

    proof = prove(known.evidence, paths, whose)
    ids = [NO_TESTS, *(f"test:{one.command.name}" for one in covering(known.evidence.results, paths))]
    by = [known.waivers[one] for one in ids if one in known.waivers and proof.status == "unknown"]
    harms = tuple(
        TracedHarm(harm.id, harm.message, known.waivers.get(harm.id, ""))
        for harm in known.evidence.harms
        if harm.file in paths
    )
    return Seen(**vars(proof), stale=bool(known.stale), waived_by=", ".join(dict.fromkeys(by)), harms=harms)


def _gaps(known: Known, row: Row) -> Iterator[Gap]:
    if not row.tasks:
        yield Gap("no_task", "No task implements it.")
    left = [f"{task.id} is {task.status}" for task in row.tasks if task.status != "completed"]
    if left:
        yield Gap("task_open", f"{', '.join(left)}.")
    without = {task.id for task in row.tasks if task.waived_by}
    notes = [f"{file.note} ({file.task})" for file in row.files if file.note and file.task not in without]
    if notes:
        yield Gap("file_unchanged", f"{', '.join(notes)}.")
    yield from _gaps_in_proof(known, row)
    if known.stale and row.evidence:
        yield Gap("stale_evidence", known.stale)
    if known.unreviewed:
        yield Gap("not_reviewed", known.unreviewed)


def _gaps_in_proof(known: Known, row: Row) -> Iterator[Gap]:
    seen = row.evidence
    if not row.tests:
        yield Gap("no_test", "No test of it is planned or written.")
    elif known.evidence is None:
        yield Gap("no_evidence", f"Nothing was seen of its tests: {known.problem or 'they never ran'}.")
    elif seen is None:
        yield Gap("no_evidence", "None of its tests is written yet.")
    elif seen.status == "red":
        many = f"{seen.failed} of its tests fail{'s' if seen.failed == 1 else ''}."
        yield Gap("test_red", "The tests are red, and the output does not tell them apart." if seen.whole else many)
    elif seen.status == "none":
        yield Gap("no_evidence", "Its tests did not run.")
    elif seen.status == "unknown" and not seen.waived_by:
        yield Gap("no_evidence", "The tests could not run.")
