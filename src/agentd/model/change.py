"""A change in its documents: clarifications, proposal with reviews, specs and tasks. `line` is where a thing stood when read."""

from dataclasses import field
from typing import Any, Literal

from agentd.values import dataclass

Scope = Literal["patch", "minor", "major"]
Priority = Literal["high", "medium", "low"]
Layer = Literal["data", "logic", "integration", "testing"]
Action = Literal["CREATE", "MODIFY", "DELETE", "RENAME"]
TaskStatus = Literal["pending", "in_progress", "completed", "blocked"]
ReviewStatus = Literal["approved", "needs_revision", "rejected", "resolved"]

SCOPES: tuple[Scope, ...] = ("patch", "minor", "major")
PRIORITIES: tuple[Priority, ...] = ("high", "medium", "low")
LAYERS: tuple[Layer, ...] = ("data", "logic", "integration", "testing")
ACTIONS: tuple[Action, ...] = ("CREATE", "MODIFY", "DELETE", "RENAME")
TASK_STATUSES: tuple[TaskStatus, ...] = ("pending", "in_progress", "completed", "blocked")
REVIEW_STATUSES: tuple[ReviewStatus, ...] = ("approved", "needs_revision", "rejected", "resolved")


@dataclass(frozen=True)
class Question:
    """One thing that was asked before the proposal was written."""

    topic: str
    question: str
    answer: str
    rationale: str = ""
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Draft:
    """A question that has not been put to anybody yet; of its options the recommended one is the first."""

    topic: str
    question: str
    options: tuple[str, ...] = ()
    rationale: str = ""


@dataclass(frozen=True)
class Clarifications:
    """clarifications.md."""

    change: str
    date: str
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class AffectedSpec:
    """A spec a change touches, and the specs that must come before it; one that is `removed` leaves the library."""

    id: str
    depends: tuple[str, ...] = ()
    removed: bool = False


@dataclass(frozen=True)
class Impact:
    """How far a change reaches."""

    scope: Scope
    affected_files: int
    new_files: int = 0
    affected_specs: tuple[AffectedSpec, ...] = ()
    affected_code: tuple[str, ...] = ()
    breaking_changes: str | None = None


@dataclass(frozen=True)
class Review:
    """A review block at the end of proposal.md; blocks are only ever added. `call` is the agent call that wrote it."""

    status: ReviewStatus
    iteration: int
    reviewer: str
    content: str
    line: int = field(default=0, compare=False)
    call: str = ""


@dataclass(frozen=True)
class Proposal:
    """proposal.md."""

    id: str
    summary: str
    why: str
    what_changes: tuple[str, ...]
    impact: Impact
    created_at: str = ""
    updated_at: str = ""
    author: str = ""
    status: str = "proposed"
    version: str = "1.0"
    iteration: int = 1
    reviews: tuple[Review, ...] = ()


@dataclass(frozen=True)
class Requirement:
    """One requirement of a spec."""

    id: str
    title: str
    description: str
    priority: Priority = "medium"
    status: str = "draft"
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Scenario:
    """How a requirement is seen to hold: the one it stands under, or those of the whole spec."""

    name: str
    when: str
    then: str
    given: str = ""
    requirement: str = ""
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Spec:
    """specs/<id>.md."""

    id: str
    title: str
    overview: str
    requirements: tuple[Requirement, ...]
    scenarios: tuple[Scenario, ...]
    flow_diagram: str = ""
    data_model: Any = None
    created_at: str = ""
    updated_at: str = ""
    version: str = "1.0"


@dataclass(frozen=True)
class Task:
    """One piece of work on one file. Its id is `layer.number`."""

    layer: Layer
    number: int
    title: str
    path: str
    action: Action
    spec_ref: str
    description: str = ""
    depends: tuple[str, ...] = ()
    status: TaskStatus = "pending"
    line: int = field(default=0, compare=False)

    @property
    def id(self) -> str:
        return f"{self.layer}.{self.number}"


@dataclass(frozen=True)
class Tasks:
    """tasks.md."""

    change_id: str
    tasks: tuple[Task, ...]
    created_at: str = ""
    updated_at: str = ""
    version: str = "1.0"
    proposal_ref: str = "proposal.md"
