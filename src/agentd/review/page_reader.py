"""What CHALLENGE.md and REVIEW.md have in common: one verdict stated by the structure, sections of text, white space.

Anything unclear about a verdict is no verdict, and an approval with words behind it is unclear.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from agentd.model.finding import Finding
from agentd.model.rules import Rules
from agentd.review.issue_list import Found
from agentd.review.verdict_words import Stated, stated
from agentd.text import quoting
from agentd.text.frontmatter import Front
from agentd.text.outline import Outline, outline
from agentd.text.spacing import spaced

Verdict = TypeVar("Verdict", bound=str)
RULES = Rules()

OWN = quoting.structure(r"#{1,6}(?:[ \t]|$)|(?:[-*+>][ \t]+)?(?:\*\*|__)?(?i:verdict)(?:\*\*|__)?[ \t]*[:：]")
_LABEL = re.compile(r" ?(?:[-*+][ \t]+)?(?:\*\*|__)?verdict(?:\*\*|__)?[ \t]*[:：](.*)", re.IGNORECASE)
_TITLE = re.compile(r"(?:final |overall )?verdict\b", re.IGNORECASE)
_APPROVED = re.compile(r"\W*approved\W*(?:ready(?: (?:for|to) \w+)?\W*)?", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def judge(
    plan: Outline, found: Found, words: Mapping[str, Verdict]
) -> tuple[Verdict | None, int, list[tuple[int, str]]]:
    """The one verdict of a text and its line, or None and the reason with its line."""
    said = stated(_speaking(plan, found.sections), [word.lower() for word in words], plan.first)
    verdicts = {words.get(_meant(one)) for one in said}
    if not said:
        heading = next((part.line for part in plan.sections if _TITLE.match(part.title)), top(plan))
        return None, heading, [(heading, "there is no verdict")]
    if None in verdicts:
        odd = next(one for one in said if words.get(_meant(one)) is None)
        return None, odd.line, [(odd.line, f"'{odd.said}' is no clear verdict")]
    if len(verdicts) > 1:
        other = next(one for one in said if words.get(_meant(one)) != words.get(_meant(said[0])))
        what = f"'{other.said}' is another verdict than '{said[0].said}' on line {said[0].line}"
        return None, other.line, [(other.line, what)]
    return verdicts.pop(), said[0].line, []


def top(plan: Outline) -> int:
    """The first line of a body, or the last of the front matter where there is no body."""
    return plan.first if plan.lines else plan.first - 1


def _meant(one: Stated) -> str:
    """The word of a statement; an approval that goes on to say more than that all is ready is none."""
    return one.word.upper() if one.word != "approved" or _APPROVED.fullmatch(one.said) else ""


def _speaking(plan: Outline, silent: Collection[tuple[int, int]]) -> list[str]:
    """The lines with all those emptied that cannot state a verdict: issues, comments, quotations, what is indented."""
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
    """The lines with comments emptied, and code fences too: what looks like a comment in code is none."""
    text = "\n".join("" if at in plan.fenced else line for at, line in enumerate(plan.lines, plan.first))
    if "<!--" not in text:
        return text.split("\n") if plan.lines else []
    return _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text).split("\n")


def section(plan: Outline, *titles: str) -> str:
    """The text of the first section with one of these titles."""
    for title in titles:
        part = plan.find(title)
        if part:
            return quoting.unescape(plan.lines[part.line + 1 - plan.first : part.end + 1 - plan.first], OWN)
    return ""


def written(title: str, text: str) -> str:
    """A section with a text."""
    return f"## {title}\n\n{quoting.escape(text, OWN)}\n" if text else f"## {title}\n"


def findings(problems: Iterable[tuple[int, str]], file: str, fix: str, rules: Rules) -> list[Finding]:
    """Problems with a review as findings."""
    severity = rules.severity("invalid_review")
    return [Finding("invalid_review", what, line, severity, fix, file) for line, what in problems]


def tidied(text: str, front: Front, deepest: int = 2) -> str:
    """The text without trailing white space; headings down to a level, which no text has in it, get empty lines around."""
    plan = outline(front.lines, front.first)
    return spaced(text, front.first, plan.fenced, [part.line for part in plan.sections if part.level <= deepest], ())
