"""Where a run stands: the engine's whole memory, small enough to read and to edit by hand."""

from collections.abc import Mapping
from dataclasses import field

from agentd.values import dataclass


@dataclass(frozen=True)
class Nudge:
    """A reminder to an agent whose call ended without what its step needs.

    times    how often it was reminded at this visit of the step, this time included
    call     the call that ended so; its conversation goes on
    missing  what it left out
    """

    times: int
    call: str
    missing: str


@dataclass(frozen=True)
class Intent:
    """An attempt under way at a step.

    call    the name of this very attempt
    tools   what its agent may call
    before  the checksums of the files that the step produces, from before the attempt, or from before the first of
            several that reminders belong to
    nudge   the reminder that this attempt is, or that comes next if it is about this very attempt
    """

    call: str
    at: str
    tools: tuple[str, ...] = ()
    before: Mapping[str, str] = field(default_factory=dict)
    nudge: Nudge | None = None


@dataclass(frozen=True)
class Run:
    """The position of one run in its workflow.

    counts     how often each bounded edge (`step.outcome`) was taken
    asked_by   the step that led to the question now open: relative targets start there
    spent      the bounded edge whose limit led to the question now open: the answer refills it
    waived     artifacts a person decided to do without
    clear      artifacts and children a rewind takes away before anything else happens
    result     the last word of a finished run
    begun      the step was begun before, so its own half-finished work must not make `when` skip it
    """

    workflow: str
    name: str
    phase: str
    step: str
    counts: Mapping[str, int] = field(default_factory=dict)
    intent: Intent | None = None
    asked_by: str = ""
    spent: str = ""
    waived: tuple[str, ...] = ()
    clear: tuple[str, ...] = ()
    result: str = ""
    begun: bool = False


@dataclass(frozen=True)
class Outcome:
    """The word a step ended with, and what there is to say about it.

    `missing` is what its agent left out, if the agent is to be reminded of that before the word counts.
    """

    word: str
    note: str = ""
    missing: str = ""
