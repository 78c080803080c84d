"""clarifications.md, parsed and rendered: the questions asked before a change was proposed, with their answers."""

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace

from agentd.model.change import Clarifications, Question
from agentd.model.finding import Finding
from agentd.model.rules import Rules
from agentd.patterns import regex
from agentd.text import bullets, frontmatter, quoting, spacing
from agentd.text.bullets import Item
from agentd.text.frontmatter import Front
from agentd.text.outline import Outline, Section, outline
from agentd.values import dataclass

_OWN = quoting.structure(r"\#{1,2}(?=[ \t]|$)")
_HEADING = regex(r"Q(?:uestion)?[ \t]*\d+(?:[ \t]*[:：.)–—-][ \t]*|[ \t]+|\Z)(.*)", re.IGNORECASE)
_ID = regex(r"[a-z0-9-]+")
_LABELS = ("question", "answer", "rationale")
_RULES = Rules()
Report = Callable[[str, str, int, str], None]


@dataclass(frozen=True)
class _Page:
    """The parts of the text: the headings of its questions, and the lines at which a section must end."""

    front: Front
    view: Outline
    headings: tuple[Section, ...]
    limits: list[int]

    @property
    def last(self) -> int:
        """The number of the last line."""
        lines = self.front.lines
        return max(self.front.first + len(lines) - (2 if lines and not lines[-1] else 1), 1)


def render(document: Clarifications) -> str:
    """A whole clarifications.md; ValueError, with words for an agent, if it cannot be written."""
    if not _ID.fullmatch(document.change):
        raise ValueError(f"Change '{document.change}' is not made of lower-case letters, digits and hyphens.")
    if not document.questions:
        raise ValueError("There is no question: give at least one.")
    parts = [_section(number, each) for number, each in enumerate(document.questions, 1)]
    return frontmatter.write(
        {"change": document.change, "date": document.date}, "\n\n".join(["# Clarifications", *parts])
    )


def read(text: str, rules: Rules = _RULES) -> tuple[Clarifications | None, tuple[Finding, ...]]:
    """The questions as far as they can be understood, and everything that is wrong with them."""
    page = _take_apart(text)
    found = [replace(each, severity=rules.severity(each.rule)) for each in page.front.findings]

    def report(rule: str, message: str, line: int, fix: str) -> None:
        found.append(Finding(rule, message, max(1, min(line, page.last)), rules.severity(rule), fix))

    change = page.front.data.get("change")
    if not page.front.findings and not (isinstance(change, str) and _ID.fullmatch(change)):
        what = (
            "the front matter has no change" if change is None else f"the change '{change}' is not the id of a change"
        )
        report("invalid_frontmatter", what, frontmatter.key_line(text, "change"), "Write `change: name-of-the-change`.")
    questions = []
    for heading in page.headings:
        if heading.level != 2:
            what = f"the heading '{heading.title}' is at level {heading.level}, not 2"
            report("untidy", what, heading.line, "agentd validate --fix")
        questions.append(_question(page, heading, report))
    if not questions:
        report("missing_heading", "there is no question", page.last, "Add `## Q1: topic`, with Question and Answer.")
    date = page.front.data.get("date")
    value = Clarifications(str(change or ""), "" if date is None else str(date), tuple(questions))
    return value if questions else None, tuple(sorted(found, key=lambda finding: finding.line))


def tidy(text: str) -> str:
    """The text with white space and levels of headings corrected; its content stays as it is."""
    page = _take_apart(text)
    off = {heading.line for heading in page.headings if heading.level != 2}
    headings = {part.line for part in page.view.sections if part.level <= 2} | off
    return spacing.spaced(text, page.front.first, page.view.fenced, headings, off)


def _take_apart(text: str) -> _Page:
    front = frontmatter.read(text)
    view = outline(front.lines, front.first)
    named = [part for part in view.sections if part.level <= 3 and _HEADING.match(part.title)]
    chosen = [part for part in named if part.level == 2] or named
    limits = {part.line for part in view.sections if part.level <= 2} | {part.line for part in chosen}
    return _Page(front, view, tuple(chosen), sorted({*limits, front.first + len(front.lines)}))


def _question(page: _Page, heading: Section, report: Report) -> Question:
    end = page.limits[bisect_right(page.limits, heading.line)] - 1
    said: dict[str, Item] = {}
    for item in bullets.fields(page.view, heading.line + 1, end, _LABELS, loose=True):
        if item.label in said:
            what = f"'{item.label.title()}' stands twice in '{heading.title}'"
            report("invalid_value", what, item.line, "Keep one of the two.")
        said.setdefault(item.label, item)
    texts = {label: bullets.read(said[label], _OWN) if label in said else "" for label in _LABELS}
    for label in ("question", "answer"):
        if not texts[label].strip():
            line = said[label].line if label in said else heading.line
            what = f"'{heading.title}' has no {label}"
            report("invalid_value", what, line, f"Write `- **{label.title()}**: …` below its heading.")
    topic = _HEADING.match(heading.title)
    return Question(quoting.unescape_line(topic[1]) if topic else "", **texts, line=heading.line)


def _section(number: int, question: Question) -> str:
    if not question.question.strip() or not question.answer.strip():
        raise ValueError(f"Question {number} needs both a question and an answer.")
    try:
        heading = f"## Q{number}: {quoting.escape_line(question.topic)}".rstrip(" ")
    except ValueError as error:
        raise ValueError(f"The topic of question {number} {error}.") from None
    texts = zip(_LABELS, (question.question, question.answer, question.rationale), strict=True)
    return "\n".join([f"{heading}\n", *(bullets.write(f"- **{label.title()}**:", text, _OWN) for label, text in texts)])
