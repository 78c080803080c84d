"""IMPLEMENTATION.md: the implementer's own notes, in their own words below one heading."""

from dataclasses import dataclass, replace

from agentd.errors import Corrupt
from agentd.model.finding import Finding
from agentd.model.rules import Rules
from agentd.review.page_reader import RULES, tidied
from agentd.text import frontmatter, quoting
from agentd.text.outline import outline

_OWN = quoting.structure(r"#(?:[ \t]|$)")
_TITLE = "Implementation Notes:"


@dataclass(frozen=True)
class Notes:
    """IMPLEMENTATION.md."""

    change_id: str
    text: str = ""


def render(document: Notes) -> str:
    """A whole IMPLEMENTATION.md."""
    head = f"# {_TITLE} {quoting.escape_line(document.change_id)}\n"
    return f"{head}\n{quoting.escape(document.text, _OWN)}\n" if document.text else head


def skeleton(change_id: str) -> str:
    """What is there before the implementer has written anything."""
    return render(Notes(change_id))


def read(text: str, rules: Rules = RULES) -> tuple[Notes, tuple[Finding, ...]]:
    """The notes. Any text will do, so there is nothing to find but front matter that is broken."""
    front = frontmatter.read(text)
    plan = outline(front.lines, front.first)
    title = next((part for part in plan.sections[:1] if part.title.casefold().startswith(_TITLE.casefold())), None)
    lines = [line for number, line in enumerate(front.lines, front.first) if not title or number != title.line]
    name = quoting.unescape_line(title.title[len(_TITLE) :]) if title else ""
    broken = [finding for finding in front.findings if finding.rule != "missing_frontmatter"]
    return Notes(name, quoting.unescape(lines, _OWN)), tuple(
        replace(finding, severity=rules.severity(finding.rule), file="IMPLEMENTATION.md") for finding in broken
    )


def parse(text: str, source: str) -> Notes:
    """The notes; Corrupt if there is front matter that is broken."""
    document, findings = read(text)
    for finding in findings:
        raise Corrupt(f"{source}:{finding.line}: {finding.message}.", finding.fix)
    return document


def tidy(text: str) -> str:
    """The text with white space put right; it says what it said."""
    return tidied(text, frontmatter.read(text), deepest=0)
