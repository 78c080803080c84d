"""From each requirement of a change to what shows that it holds: tasks, files, tests, evidence; and where the chain breaks.

It takes what is known and gives rows; it reads nothing, and what nobody can tell is never taken for a yes.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from agentd.families.change.requirement_mentions import mentioned
from agentd.families.change.trace_proof import Proof, covering, prove
from agentd.library.claims import named
from agentd.model.change import Action, Requirement, Spec, Task, TaskStatus
from agentd.model.evidence import Evidence
from agentd.proof.blockers import NO_TESTS
from agentd.proof.integrity import is_test

Why = Literal[
    "no_task", "task_open", "file_unchanged", "no_test", "test_red", "no_evidence", "stale_evidence", "not_reviewed"
]
GAPS: tuple[Why, ...] = (
    "no_task",
    "task_open",
    "file_unchanged",
    "no_test",
    "test_red",
    "no_evidence",
    "stale_evidence",
    "not_reviewed",
)
_ARROW = re.compile(r"\s*(?:->|→)\s*")


@dataclass(frozen=True)
class Known:
    """What is known of a change. Its specs are in the order of the rows.

    `fresh` has the requirements of each spec that the change adds or rewords. `undone` says of each task why its file does
    not show it, nothing where it does; a task that is not in it nobody can judge. `texts` are the test files that changed.
    `problem`, `stale` and `unreviewed` say why there is no evidence, why it does not count any more, and why no approval
    covers the files. `waivers` maps what a person did without to who it was.
    """

    specs: Mapping[str, Spec]
    tasks: Sequence[Task] = ()
    fresh: Mapping[str, Collection[str]] = field(default_factory=dict)
    undone: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    evidence: Evidence | None = None
    problem: str = ""
    stale: str = ""
    unreviewed: str = ""
    waivers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TracedTask:
    """A task of a requirement; `waived_by` did without it."""

    id: str
    title: str
    status: TaskStatus
    waived_by: str = ""


@dataclass(frozen=True)
class TracedFile:
    """A file that a task names; `changed` is None where nobody can tell."""

    path: str
    action: Action
    task: str
    changed: bool | None = None
    note: str = ""


@dataclass(frozen=True)
class TracedTest:
    """A file with tests: one of the requirement's tasks, one that names it, or that of a testing task it leads to."""

    path: str
    how: Literal["task", "named", "via"]
    task: str = ""
    written: bool = True


@dataclass(frozen=True)
class TracedHarm:
    """Something the change did to a requirement's tests; `waived_by` did not mind."""

    id: str
    message: str
    waived_by: str = ""


@dataclass(frozen=True)
class Seen(Proof):
    """What was seen of a requirement's tests and whether that still counts; `waived_by` did without where they cannot run."""

    stale: bool = False
    waived_by: str = ""
    harms: tuple[TracedHarm, ...] = ()


@dataclass(frozen=True)
class Gap:
    """A place where the chain breaks, in a word and in a sentence."""

    why: Why
    text: str


@dataclass(frozen=True)
class Row:
    """One requirement; `fresh` if the change adds or rewords it. One that it only repeats and no task names has no gaps."""

    spec: str
    id: str
    title: str
    fresh: bool
    tasks: tuple[TracedTask, ...] = ()
    files: tuple[TracedFile, ...] = ()
    tests: tuple[TracedTest, ...] = ()
    evidence: Seen | None = None
    gaps: tuple[Gap, ...] = ()


def rows(known: Known) -> tuple[Row, ...]:
    """One row a requirement, spec by spec."""
    mentions = {path: mentioned(text, known.specs, path) for path, text in known.texts.items()}
    return tuple(
        _row(known, name, entry, mentions) for name, spec in known.specs.items() for entry in spec.requirements
    )


def strays(known: Known) -> tuple[Task, ...]:
    """The tasks that lead to no requirement of the change."""
    there = {(name, entry.id) for name, spec in known.specs.items() for entry in spec.requirements}
    return tuple(task for task in known.tasks if named(task.spec_ref) not in there)


def counted(found: Sequence[Row]) -> dict[str, int]:
    """How many gaps there are of each kind, in the order of the chain."""
    gaps = [gap.why for row in found for gap in row.gaps]
    return {why: gaps.count(why) for why in GAPS if why in gaps}


def summary(found: Sequence[Row]) -> dict[str, object]:
    """How many requirements there are, how many of them are without a gap, and which gaps there are."""
    whole = sum(not row.gaps for row in found)
    numbers = {"requirements": len(found), "complete": whole, "with_gaps": len(found) - whole}
    return {**numbers, "gaps": counted(found)}


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
    """These tasks and all that depend on them, by however many steps."""
    found, size = set(first), -1
    while size != len(found):
        size = len(found)
        found |= {task.id for task in tasks if found.intersection(task.depends)}
    return found


def _seen(known: Known, mine: tuple[str, str], tests: Sequence[TracedTest]) -> Seen | None:
    """What the evidence says about the tests that are written."""
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
