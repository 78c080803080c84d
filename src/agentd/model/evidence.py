"""What agentd saw a project's own commands do: values that say exactly that, and nothing that anybody claimed."""

import hashlib
from typing import Literal

from agentd.model.command import Command
from agentd.values import dataclass

Status = Literal["green", "red", "none", "unknown"]
CaseStatus = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True)
class Counts:
    """How many tests there were, or how many problems an audit or a linter named (`failed`)."""

    total: int = 0
    passed: int = 0
    failed: int = 0
    skipped: int = 0


@dataclass(frozen=True)
class Case:
    """One test that the output names, or one problem; `file` and `line` where the output tells."""

    name: str
    status: CaseStatus
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Result:
    """What one command came to. `none`: it ran and collected nothing; `unknown`: it could not run, or not audit.

    `counts` is None where the output cannot be read; `cases` are those that it names, failing ones at least.
    """

    command: Command
    status: Status
    exit_code: int | None = None
    seconds: float = 0.0
    counts: Counts | None = None
    cases: tuple[Case, ...] = ()
    output: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Changed:
    """One file of a change as it was and as it is, from the place of work; None where it was not or is no more."""

    path: str
    old: str | None
    new: str | None


@dataclass(frozen=True)
class Harm:
    """Something a change did to the tests or to how they are run. Only a person can waive it, by its `id`."""

    rule: str
    message: str
    file: str
    line: int = 0
    quote: str = ""

    @property
    def id(self) -> str:
        """The same for the same harm wherever its line has moved."""
        said = "\0".join((self.rule, self.file, " ".join(self.quote.split()) or self.message))
        return f"T-{hashlib.sha256(said.encode(errors='replace')).hexdigest()[:8]}"


@dataclass(frozen=True)
class Evidence:
    """Everything one look at the project gave; `tree` is the hash of the files it was about.

    `before` is what the tests that are new came to on the code as it was before the change.
    """

    tree: str
    at: str
    results: tuple[Result, ...] = ()
    harms: tuple[Harm, ...] = ()
    before: tuple[Result, ...] = ()
