"""The rows of a trace: a requirement with its tasks, files, tests and evidence, and the gaps between them."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, field
from typing import Any, Literal, get_args

from agentd.families.change.trace_proof import Proof
from agentd.model.change import Action, Spec, Task, TaskStatus
from agentd.model.evidence import Evidence
from agentd.runs.overview import Unreadable
from agentd.values import dataclass

Why = Literal[
    "no_task", "task_open", "file_unchanged", "no_test", "test_red", "no_evidence", "stale_evidence", "not_reviewed"
]
GAPS: tuple[Why, ...] = get_args(Why)


@dataclass(frozen=True)
class Known:
    """What is known of a change; its specs are in the order of the rows.

    fresh       for each spec the requirements that the change adds or rewords
    undone      why each task is not done, by its file; empty if it is done, no entry if that is not known
    texts       the test files that changed
    problem     why there is no evidence
    stale       why the evidence does not count any more
    unreviewed  why no approval covers the files
    waivers     who waived what
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
    """A task of a requirement; `waived_by` is the person who waived it."""

    id: str
    title: str
    status: TaskStatus
    waived_by: str = ""


@dataclass(frozen=True)
class TracedFile:
    """A file that a task names; `changed` is None if that is not known."""

    path: str
    action: Action
    task: str
    changed: bool | None = None
    note: str = ""


@dataclass(frozen=True)
class TracedTest:
    """A test file: of one of the requirement's tasks, one that names it, or of a testing task that depends on those."""

    path: str
    how: Literal["task", "named", "via"]
    task: str = ""
    written: bool = True


@dataclass(frozen=True)
class TracedHarm:
    """Harm that the change did to a requirement's tests; `waived_by` is the person who accepted it."""

    id: str
    message: str
    waived_by: str = ""


@dataclass(frozen=True)
class Seen(Proof):
    """The result of a requirement's tests, and whether it is stale; `waived_by` accepted that they cannot run."""

    stale: bool = False
    waived_by: str = ""
    harms: tuple[TracedHarm, ...] = ()


@dataclass(frozen=True)
class Gap:
    """A gap in the chain, in a word and in a sentence."""

    why: Why
    text: str


@dataclass(frozen=True)
class Row:
    """One requirement; `fresh` if the change adds or rewords it. One that is neither fresh nor in a task has no gaps."""

    spec: str
    id: str
    title: str
    fresh: bool
    tasks: tuple[TracedTask, ...] = ()
    files: tuple[TracedFile, ...] = ()
    tests: tuple[TracedTest, ...] = ()
    evidence: Seen | None = None
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True)
class Trace:
    """One change: a row for each requirement, the specs that are missing, the tasks that name no requirement."""

    change: str
    phase: str
    archived: bool
    rows: tuple[Row, ...]
    missing: tuple[str, ...] = ()
    strays: tuple[Task, ...] = ()

    def to_data(self) -> dict[str, Any]:
        return {
            "change": self.change,
            "phase": self.phase,
            "archived": self.archived,
            "missing_specs": list(self.missing),
            "tasks_without_requirement": [{"id": task.id, "spec_ref": task.spec_ref} for task in self.strays],
            "summary": summary(self.rows),
        }


@dataclass(frozen=True)
class Traces:
    """One change or all of them; those that cannot be read are listed apart."""

    changes: tuple[Trace, ...]
    unreadable: tuple[Unreadable, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(row for one in self.changes for row in one.rows)

    @property
    def gaps(self) -> dict[str, int]:
        return gaps(self.rows)

    def to_data(self) -> dict[str, Any]:
        """As every face gives it to programs."""
        return {
            "changes": [one.to_data() for one in self.changes],
            "requirements": [{"change": one.change, **asdict(row)} for one in self.changes for row in one.rows],
            "summary": {"changes": len(self.changes), **summary(self.rows)},
            "unreadable": [{"change": one.name, "message": one.error.message} for one in self.unreadable],
        }


def gaps(rows: Sequence[Row]) -> dict[str, int]:
    """How many gaps there are of each kind, in the order of the chain."""
    found = Counter(gap.why for row in rows for gap in row.gaps)
    return {why: found[why] for why in GAPS if why in found}


def summary(rows: Sequence[Row]) -> dict[str, object]:
    """How many requirements there are, how many have no gap, and which gaps there are."""
    whole = sum(not row.gaps for row in rows)
    return {"requirements": len(rows), "complete": whole, "with_gaps": len(rows) - whole, "gaps": gaps(rows)}
