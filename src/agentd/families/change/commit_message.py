"""The message of a change's commit: what and why from its proposal, and what shows that it holds."""

import os
import textwrap
from collections.abc import Iterator

from agentd.errors import AgentdError
from agentd.families.change import trace
from agentd.families.change.documents import proposal
from agentd.patterns import regex
from agentd.proof import blockers, record
from agentd.redaction import redact, secret_values
from agentd.runs.work import Work
from agentd.state.reading import printable

TRAILER = "Agentd-Change: {}"
WIDTH = 72
_PARAGRAPHS = regex(r"\n\s*\n")


def message(work: Work, archives: bool = False) -> str:
    """The whole message; `archives`: the code is committed, and this commit only moves the documents."""
    found, _ = proposal.read(work.read("proposal.md"))
    title = _line(found.summary if found else "") or work.state.run.name
    subject = textwrap.shorten(f"Archive: {title}" if archives else title, WIDTH, placeholder="…").rstrip(".")
    why = [_paragraph(part) for part in _PARAGRAPHS.split(found.why)] if found and not archives else []
    text = "\n\n".join(filter(None, [subject, *why, "\n".join(_trailers(work))])) + "\n"
    return redact(text, secret_values(os.environ))


def _trailers(work: Work) -> Iterator[str]:
    yield TRAILER.format(work.state.run.name)
    if requirements := _requirements(work):
        yield f"Requirements: {', '.join(requirements)}"
    seen, _ = record.evidence(work)
    for one in seen.results if seen else ():
        yield _line(f"Evidence: {blockers.in_words(one)}")
    approved = record.record(work).approved
    if approved and approved.override:
        yield _line(f"Review: none counts; {approved.by} took it: {approved.why}")
    elif approved:
        yield f"Review: {work.state.fields.get('verdict') or 'APPROVED'} ({approved.call})"


def _requirements(work: Work) -> list[str]:
    """The requirements that the change adds or rewords."""
    try:
        found = trace.trace(work.project, work.state.run.name).rows
    except AgentdError:
        return []
    return [f"{row.spec}:{row.id}" for row in found if row.fresh]


def _paragraph(text: str) -> str:
    """Text in lines of the usual width; a list stays a list."""
    lines = [_line(line) for line in text.splitlines()]
    if any(line.startswith(("-", "*")) for line in lines):
        return "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="  ") for line in lines if line)
    return textwrap.fill(" ".join(lines), WIDTH, break_long_words=False)


def _line(text: str) -> str:
    """One line that no terminal obeys."""
    return printable(" ".join(text.split()))
