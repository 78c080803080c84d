"""What a tool gives back to the agent that called it: words, and the same as data."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from agentd.errors import Refused
from agentd.model.finding import Finding
from agentd.values import dataclass


@dataclass(frozen=True)
class Text:
    """The text of a file or of a task."""

    message: str
    path: str = ""


@dataclass(frozen=True)
class Written:
    """A document that was written, and what is wrong with it as it is now."""

    message: str
    path: str
    findings: tuple[Finding, ...] = ()


def listed(message: str, path: str, findings: Iterable[Finding]) -> Written:
    """The result of a write, its findings in words too."""
    found = tuple(replace(finding, file=path) for finding in findings)
    return Written("\n".join([message, *map(in_words, found)]), path, found)


def in_words(finding: Finding) -> str:
    fix = f" Fix: {finding.fix}" if finding.fix else ""
    return f"- line {finding.line} ({finding.severity}, {finding.rule}): {finding.message}.{fix}"


@contextmanager
def rendering() -> Iterator[None]:
    """What a serializer cannot put into words is for the agent to say in others."""
    try:
        yield
    except ValueError as error:
        raise Refused(f"Nothing was written: {str(error).rstrip('.')}.", "correct it and call again") from error


def refuse_wrong(name: str, findings: tuple[Finding, ...]) -> None:
    """A whole new document is written only if nothing in it breaks a rule that counts."""
    if any(finding.severity == "High" for finding in findings):
        lines = "\n".join(in_words(finding) for finding in findings)
        raise Refused(
            f"{name} was not written, because of what would be wrong with it:\n{lines}", "correct it and call again"
        )
