"""What a family's code does that differs from other families. Everything has an ordinary way, so a family says only what is its own."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Protocol

from agentd.engine.decide import Stop
from agentd.engine.waves import Item
from agentd.errors import AgentdError
from agentd.model.run import Intent, Outcome, Run
from agentd.model.workflow import Step, Workflow
from agentd.runs.layout import Layout
from agentd.runs.project import Project
from agentd.runs.report import Report
from agentd.runs.specification import Specification
from agentd.runs.work import Work
from agentd.state.codecs import State
from agentd.state.layout import Place
from agentd.values import dataclass


class Agents(Protocol):
    """Whoever plays the `agent` steps of a family's tables."""

    def notices(self, project: Project, workflow: Workflow) -> Sequence[str]:
        """What a person should know about who plays the roles of a workflow."""

    def refuse_unready(self, project: Project, workflow: Workflow, step: str, command: str) -> None:
        """An error if a run that begins at a step would find nobody for a role, as far as that is seen now."""

    def hold(self, work: Work, step: Step) -> Stop | None:
        """Why no agent may be called now: a limit is reached."""

    def intent(self, work: Work, run: Run, step: Step) -> Intent:
        """A new attempt; an error if nobody could make it."""

    def recover(self, work: Work, run: Run, step: Step) -> Outcome | None:
        """The outcome of an attempt that had finished when agentd was killed."""

    def perform(self, work: Work, run: Run, step: Step) -> Outcome:
        """Have the step's role played."""


class Resume(Protocol):
    """How a run goes on; `command` is the one that works in its phase, if the table has any."""

    def __call__(self, project: Project, place: Place, command: str, steps: int | None) -> Report: ...


@dataclass(frozen=True)
class Family:
    """A family's behaviour, apart from what its tables name. What takes long to load may be found by its place, with the first use.

    agents    whoever plays the roles
    lines     the words for an event of a run while it goes on; None: the ordinary ones
    fields    fields of the state file that show what happened, brought up to date with each save
    summary   what its report has besides the ordinary: `action`, `verdict`, `iteration_count`, `cost`, `refused`
    opening   what is said before a command drives a run; None: who stands in for whom
    started   a new run has its folder, and will have its first save
    settled   a run was taken up, or was left; whatever has to hold between commands is made so
    unblock   set a run down at an entry of its table where what blocks it can be made again; whether that was possible
    explain   the error for a run that stopped, where its cause and its remedy are known
    new_name  a name for a run that a person gave none, from its description
    resume    go on with a run
    specified what a run that is done has specified; None: its runs specify nothing
    adopt     make a complete run of the specification of another, by which it comes into the library
    abandon   take a run of this name away; gives the ref that keeps it. None: a run ends by the entry `abandon` of its table
    bring_back undo that
    begin_with the phases that a new run goes without and fields of its state, by a person's options; None: it takes none
    jump      set a run down where a person's options say, before it goes on; None: it takes none
    details   what `status --verbose` shows of a state besides the ordinary
    may_begin why an item has to wait while others are under way, or nothing; it is told once, however often the figures
              after its first colon change
    """

    agents: Callable[[], Agents]
    lines: Callable[[Work, str, Mapping[str, str]], list[str] | None] = lambda work, event, details: None
    fields: Callable[[Work, str, Mapping[str, str]], Mapping[str, Any]] = lambda work, event, details: {}
    summary: Callable[[State], Mapping[str, Any]] = lambda state: {}
    opening: Callable[[Work, str], Iterable[str]] | None = None
    started: Callable[[Project, Place], None] = lambda project, place: None
    settled: Callable[[Work], None] = lambda work: None
    unblock: Callable[[Work, Stop, str], bool] = lambda work, stop, command: False
    explain: Callable[[Work, Stop], AgentdError | None] = lambda work, stop: None
    new_name: Callable[[Project, str], str] | None = None
    resume: Resume | None = None
    specified: Callable[[Work], Specification] | None = None
    adopt: Callable[[Project, Specification], Place] | None = None
    abandon: Callable[[Project, str], str] | None = None
    bring_back: Callable[[Project, str], Report] | None = None
    begin_with: Callable[[Project, Mapping[str, Any]], tuple[tuple[str, ...], Mapping[str, Any]]] | None = None
    jump: Callable[[Work, Mapping[str, Any]], None] | None = None
    details: Callable[[State], Sequence[str]] = lambda state: ()
    may_begin: Callable[[Work, Item, Sequence[Item]], str] = lambda work, item, under_way: ""


def load(layout: Layout) -> Family:
    """The family's code, imported when it is first needed."""
    return _load(layout.module)


@cache
def _load(module: str) -> Family:
    family: Family = import_module(f"{module}.family").FAMILY
    return family


def family_of(work: Work) -> Family:
    return load(work.layout)
