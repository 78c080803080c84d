"""What comes next: a pure function of the table, the position, the facts and the command. It changes nothing."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Literal

from agentd.model.run import Run
from agentd.model.workflow import Step, Workflow
from agentd.values import dataclass

Why = Literal["finished", "elsewhere", "blocked", "waiting", "stopped", "failed", "paused"]


@dataclass(frozen=True)
class Do:
    """Perform this step."""

    step: Step


@dataclass(frozen=True)
class Skip:
    """This step is not for this run: take its way forward without performing it."""

    step: Step
    note: str


@dataclass(frozen=True)
class Stop:
    """Nothing more to do now.

    finished   the workflow reached its end; `note` is its last word
    elsewhere  the phase belongs to another command
    blocked    a gate is closed; `note` says what it misses
    waiting    a person has to answer
    stopped    a person asked to stop
    failed     a step failed and the table has no way on
    paused     nothing more was asked for now
    """

    why: Why
    note: str = ""


def names(step: Step, run: Run) -> tuple[str, ...]:
    """The facts `decide` will look at for the step a run stands on."""
    return step.needs if run.begun else step.needs + step.when


def decide(workflow: Workflow, run: Run, facts: Mapping[str, str], command: str = "") -> Do | Skip | Stop:
    """`facts` maps each name to "" where it holds, and to the reason where it does not.

    A step that was begun is not skipped: its own half-finished work may be what makes `when` false.
    """
    step = workflow.steps[run.step]
    if step.kind == "end":
        return Stop("finished", step.what)
    if command and step.phase not in workflow.commands.get(command, ()):
        return Stop("elsewhere", step.phase)
    if not run.begun:
        unwanted = [facts[name] for name in step.when if facts[name]]
        if unwanted:
            return Skip(step, "; ".join(unwanted))
    missing = [f"{name}: {facts[name]}" for name in step.needs if facts[name] and not _waived(run, name)]
    if missing:
        return Stop("blocked", "; ".join(missing))
    return Do(step)


def _waived(run: Run, need: str) -> bool:
    """What a step `produces` may be a pattern such as 3.2-*, and so may what was waived."""
    return any(need == name or fnmatchcase(need, name) for name in run.waived)
