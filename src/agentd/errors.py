"""Everything agentd tells a person when something is wrong: one sentence, one fix, one exit code.

AgentdError                 1   expected trouble
├── NotFound                    a run, workflow or file that is not there
│   ├── ChangeNotFound
│   ├── RunNotFound
│   └── UnknownAgent
├── MissingDescription          a new run without words to start from
├── ClarificationNeeded         a new change that nobody has explained enough
├── NotReady                    the command has no work in this phase
│   ├── ChangeNotReady
│   ├── ChangeNotComplete
│   └── Rejected
├── MergeConflict               a spec that the library changed too since the change began
├── Meddled                     a spec that somebody else changed while it was being archived, or that being undone
├── StillNeeded                 an archive that cannot be undone, because something later depends on it
├── Stopped                 4   a run that was told to stop before its end
├── Held                        another process works on the run
├── Corrupt                     a file agentd cannot read, left as it is
├── Unsound                     a workflow definition that cannot be trusted
├── BadConfig                   a value in config.toml that is not allowed
├── BadAnswer                   an answer the decision does not offer
├── GateClosed                  a step whose needs are not met
├── AgentFailed                 an agent that did not do its work
├── AgentUnavailable        4   an agent that cannot be called now: no quota
├── Refused                     a tool call that an agent may not make
├── DiskTrouble                 a full disk or a read-only folder
└── UsageError              2   the words of the command are off
Interrupted               128+n a signal ended the command
"""

from collections.abc import Mapping, Sequence
from typing import Any


class AgentdError(Exception):
    """Something went wrong."""

    code = 1

    def __init__(self, message: str = "", fix: str = "", cause: str = "", solution: tuple[str, ...] = ()) -> None:
        self.message = message or (type(self).__doc__ or "").split("\n")[0]
        self.fix = fix
        self.cause = cause
        self.solution = solution
        super().__init__(self.message)

    @property
    def name(self) -> str:
        return type(self).__name__

    def lines(self) -> list[str]:
        """What is wrong, where it comes from and what to do, as far as that is known."""
        cause = [f"Cause: {self.cause}"] if self.cause else []
        solution = ["Solution:", *(f"  - {step}" for step in self.solution)] if self.solution else []
        return [f"Error: {self.message}", *cause, *solution]

    def data(self) -> dict[str, Any]:
        """The same for programs, besides the message and the fix."""
        return {key: value for key in ("cause", "solution") if (value := getattr(self, key))}


class NotFound(AgentdError):
    """There is nothing of that name here."""


class ChangeNotFound(NotFound):
    """There is no change of that name here."""


class RunNotFound(NotFound):
    """There is no run of that name here."""


class UnknownAgent(NotFound):
    """There is no agent of that name."""

    def __init__(self, agent: str, fix: str) -> None:
        super().__init__(f"There is no agent called '{agent}'.", fix)
        self.agent = agent


class MissingDescription(AgentdError):
    """A new run needs a description."""


class ClarificationNeeded(AgentdError):
    """A new change has to be clarified first."""


class NotReady(AgentdError):
    """This command has no work in the current phase."""


class ChangeNotReady(NotReady):
    """The change is not ready to be implemented."""


class ChangeNotComplete(NotReady):
    """The change is not complete, so it cannot be archived."""


class Rejected(NotReady):
    """The proposal was rejected."""


class MergeConflict(AgentdError):
    """The change and the library disagree; nothing was archived."""

    def __init__(self, message: str, fix: str, conflicts: Sequence[Mapping[str, Any]], shown: Sequence[str]) -> None:
        super().__init__(message, fix)
        self.conflicts = conflicts
        self.shown = shown

    def lines(self) -> list[str]:
        return [*super().lines(), *self.shown]

    def data(self) -> dict[str, Any]:
        return {**super().data(), "conflicts": list(self.conflicts)}


class Meddled(AgentdError):
    """Somebody else changed what was being archived."""


class StillNeeded(AgentdError):
    """Something later depends on it."""


class Stopped(AgentdError):
    """It was told to stop."""

    code = 4


class Held(AgentdError):
    """Another process is working on this run."""


class Corrupt(AgentdError):
    """A file cannot be read; it was left as it is."""


class Unsound(AgentdError):
    """The workflow definition is not sound."""


class BadConfig(AgentdError):
    """A configuration value is not allowed."""


class BadAnswer(AgentdError):
    """That is not one of the answers."""


class GateClosed(AgentdError):
    """A gate is closed."""


class AgentFailed(AgentdError):
    """The agent did not do its work."""


class AgentUnavailable(AgentdError):
    """The agent cannot be called now."""

    code = 4


class Refused(AgentdError):
    """The call is not allowed."""


class DiskTrouble(AgentdError):
    """The disk did not take the write; the old file is intact."""


class UsageError(AgentdError):
    """The command was not understood."""

    code = 2


class Interrupted(BaseException):
    """A signal ended the command; `again` goes on where it stopped."""

    again = "the same command"

    def __init__(self, signal: int) -> None:
        self.signal = signal
        self.code = 128 + signal
        super().__init__(signal)
