"""A workflow is a table of steps; this is the table as values. Loading and proving it is `workflows/`."""

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Literal

from agentd.patterns import regex
from agentd.values import dataclass

Kind = Literal["agent", "ask", "do", "each", "end"]
KINDS: tuple[Kind, ...] = ("agent", "ask", "do", "each", "end")
RELATIVE = ("@again", "@phase", "@previous", "@past")
RESERVED = ("failed", "interrupted")

CHECK_NAME = regex(r"[a-z][a-z0-9_]*")


def is_check(name: str) -> bool:
    """A need is a named check (a plain word) or an artifact (a path: it has a dot or a slash)."""
    return CHECK_NAME.fullmatch(name) is not None


@dataclass(frozen=True)
class Edge:
    """Where an outcome leads, how often it may, and where it leads after that; edges with the same budget are counted together."""

    to: str
    at_most: str | int | None = None
    then: str | None = None
    rewind: bool = False
    waive: bool = False
    budget: str = ""


@dataclass(frozen=True)
class Step:
    """The smallest resumable unit. `what` is the role, question, action, child workflow or last word, by kind."""

    name: str
    phase: str
    kind: Kind
    what: str
    next: Mapping[str, Edge] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    produces: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    line: int = 0

    @property
    def forward(self) -> str:
        """The first outcome listed: the way a run goes when nothing is wrong."""
        return next(iter(self.next), "")


@dataclass(frozen=True)
class Workflow:
    """A whole table: steps in time order, where runs start, which command may work in which phases.

    `entries` are the steps at which a run may be set down besides its starts: by a person's command, or because a
    document of an earlier step is gone. `without` are the phases that were taken out of it.
    """

    name: str
    steps: Mapping[str, Step]
    starts: Mapping[str, str]
    about: str = ""
    of: str = ""
    commands: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    entries: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Edge] = field(default_factory=dict)
    source: str = ""
    without: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The name under which a run finds its table again."""
        return "~".join((self.name, *self.without))

    @cached_property
    def phases(self) -> tuple[str, ...]:
        """Every phase once, in the order of its first step."""
        return tuple(dict.fromkeys(step.phase for step in self.steps.values()))

    @property
    def road(self) -> tuple[str, ...]:
        """The phases on the way forward, from the first start to the end; any other one leads aside."""
        found: dict[str, str] = {}
        name = next(iter(self.starts.values()))
        while name not in found:
            step = self.steps[name]
            found[name] = step.phase
            name = self.resolve(step, step.next[step.forward].to) if step.next else name
        return tuple(dict.fromkeys(found.values()))

    def first(self, phase: str) -> Step:
        """The step at which a phase begins."""
        return next(step for step in self.steps.values() if step.phase == phase)

    def edge(self, step: Step, outcome: str) -> Edge | None:
        """The edge a step takes on an outcome; reserved outcomes fall back to the file's defaults."""
        fallback = self.defaults.get(outcome) if step.kind in ("agent", "do", "each") else None
        return step.next.get(outcome) or fallback

    def counted(self, key: str) -> list[tuple[Step, Edge]]:
        """The edges that are counted under a key: that of one outcome of one step, or all of a budget."""
        name, _, outcome = key.rpartition(".")
        step = self.steps.get(name)
        edge = self.edge(step, outcome) if step else None
        if step and edge:
            return [(step, edge)]
        return [(step, edge) for step in self.steps.values() for edge in step.next.values() if edge.budget == key]

    def resolve(self, origin: Step, target: str) -> str:
        """A target as a step's name; a relative one is seen from the step that asked."""
        if target == "@again":
            return origin.name
        if target == "@phase":
            return self.first(origin.phase).name
        if target == "@previous":
            phases = self.phases
            return self.first(phases[max(0, phases.index(origin.phase) - 1)]).name
        if target == "@past":
            return self.resolve(origin, origin.next[origin.forward].to)
        return target
