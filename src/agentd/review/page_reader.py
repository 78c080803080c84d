"""What CHALLENGE.md and REVIEW.md have in common: one verdict stated by the structure, issues, sections of text.

An unclear verdict is no verdict, and an approval with more words behind it is unclear.
"""

import re
from bisect import insort
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from agentd.model.finding import Finding
from agentd.model.rules import Rules
from agentd.patterns import regex
from agentd.review import issue_list
from agentd.review.verdict_words import Stated, stated
from agentd.text import frontmatter, quoting
from agentd.text.outline import Outline, outline
from agentd.text.spacing import spaced
from agentd.values import dataclass

Verdict = TypeVar("Verdict", bound=str)
RULES = Rules()

OWN = quoting.structure(r"#{1,6}(?:[ \t]|$)|(?:[-*+>][ \t]+)?(?:\*\*|__)?(?i:verdict)(?:\*\*|__)?[ \t]*[:：]")
_LABEL = regex(r" ?(?:[-*+][ \t]+)?(?:\*\*|__)?verdict(?:\*\*|__)?[ \t]*[:：](.*)", re.IGNORECASE)
_TITLE = regex(r"(?:final |overall )?verdict\b", re.IGNORECASE)
_APPROVED = regex(r"\W*approved\W*(?:ready(?: (?:for|to) \w+)?\W*)?", re.IGNORECASE)
_COMMENT = regex(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_ISSUE_FIX = "write - **Severity**: High, Medium or Low, and - **Description**:, below the issue's heading"


@dataclass(frozen=True)
class Form(Generic[Verdict]):
    """One of the two documents: its file, its verdicts, its title, and the fixes for an unclear or contradicted verdict."""

    file: str
    words: Mapping[str, Verdict]
    title: re.Pattern[str]
    verdict_fix: str
    agree_fix: str


class Page(Generic[Verdict]):
    """A parsed review. `verdict` is None unless exactly one is stated, on line `line`; `findings` are sorted by line."""

    def __init__(self, plan: Outline, form: Form[Verdict], rules: Rules = RULES) -> None:
        self.plan, self.form, self.rules = plan, form, rules
        self.findings: list[Finding] = []
        found = issue_list.read(plan)
        self.issues = tuple(found.issues)
        self.issues_line = next((start for start, _ in found.sections), _top(plan))
        self.verdict, self.line, problem = _verdict(plan, found, form.words)
        if problem:
            self.report(problem, self.line, form.verdict_fix)
        for line, message in found.problems:
            self.report(message, line, _ISSUE_FIX)

    def report(self, message: str, line: int, fix: str, rule: str = "invalid_review") -> None:
        """Add a finding."""
        finding = Finding(rule, message, line, self.rules.severity(rule), fix, self.form.file)
        insort(self.findings, finding, key=lambda found: found.line)

    @property
    def change_id(self) -> str:
        """The change that the title names; empty if there is no such title."""
        found = next((match for part in self.plan.sections if (match := self.form.title.match(part.title))), None)
        return quoting.unescape_line(found[1]) if found else ""

    def section(self, title: str) -> str:
        """The text of a section."""
        return section(self.plan, title)


def _verdict(plan: Outline, found: issue_list.Found, words: Mapping[str, Verdict]) -> tuple[Verdict | None, int, str]:
    """The one verdict of a text and its line; or None, a line, and why there is no verdict."""
    said = stated(_speaking(plan, found.sections), [word.lower() for word in words], plan.first)
    if not said:
        heading = next((part.line for part in plan.sections if _TITLE.match(part.title)), _top(plan))
        return None, heading, "there is no verdict"
    meant = [words.get(_meant(one)) for one in said]
    if None in meant:
        odd = said[meant.index(None)]
        return None, odd.line, f"'{odd.said}' is no clear verdict"
    other = next((one for one, verdict in zip(said, meant, strict=True) if verdict != meant[0]), None)
    if other:
        return None, other.line, f"'{other.said}' is another verdict than '{said[0].said}' on line {said[0].line}"
    return meant[0], said[0].line, ""


def _top(plan: Outline) -> int:
    """The first line of the body, or the last of the front matter if there is no body."""
    return plan.first if plan.lines else plan.first - 1


def _meant(one: Stated) -> str:
    """The word of a statement; an approval that says more than that all is ready counts as no word."""
    return one.word.upper() if one.word != "approved" or _APPROVED.fullmatch(one.said) else ""


def _speaking(plan: Outline, silent: Collection[tuple[int, int]]) -> list[str]:
    """The lines, with those emptied that cannot state a verdict: issues, comments, quotations, indented lines."""
    lines = _without_comments(plan)
    speaking = [""] * len(lines)
    for at, part in enumerate(plan.sections, 1):
        title = _TITLE.match(part.title)
        if title and not _within(part.line, silent):
            end = plan.sections[at].line - 1 if at < len(plan.sections) else part.end
            _copy(lines, speaking, part.line - plan.first, end - plan.first)
            speaking[part.line - plan.first] = f"## Verdict{part.title[title.end() :]}"
    for number, line in enumerate(lines):
        label = _LABEL.match(line) if "erdict" in line or "ERDICT" in line else None
        if label and not _within(number + plan.first, silent):
            end = number
            if not label[1].strip(" \t*_"):
                end = next(
                    (at - 1 for at in range(number + 1, len(lines)) if lines[at].startswith("#")), len(lines) - 1
                )
            _copy(lines, speaking, number, end)
    return speaking


def _copy(lines: Sequence[str], speaking: list[str], start: int, end: int) -> None:
    for at in range(start, end + 1):
        if not lines[at].startswith(("  ", "\t", ">", " >")):
            speaking[at] = lines[at]


def _within(number: int, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= number <= end for start, end in spans)


def _without_comments(plan: Outline) -> list[str]:
    """The lines with comments and code fences emptied; a comment inside a fence is code."""
    text = "\n".join("" if at in plan.fenced else line for at, line in enumerate(plan.lines, plan.first))
    if "<!--" not in text:
        return text.split("\n") if plan.lines else []
    return _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text).split("\n")


def section(plan: Outline, title: str) -> str:
    """The text of the first section with this title."""
    part = plan.find(title)
    return quoting.unescape(plan.lines[part.line + 1 - plan.first : part.end + 1 - plan.first], OWN) if part else ""


def written(title: str, text: str) -> str:
    """A section as text."""
    return f"## {title}\n\n{quoting.escape(text, OWN)}\n" if text else f"## {title}\n"


def tidy(text: str) -> str:
    """The text without trailing white space, and with empty lines around its main headings."""
    front = frontmatter.read(text)
    plan = outline(front.lines, front.first)
    return spaced(text, front.first, plan.fenced, [part.line for part in plan.sections if part.level <= 2], ())
