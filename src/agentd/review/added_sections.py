"""Sections that agentd adds to a document somebody else wrote, each marked as its own. Nothing of theirs is touched.

Whoever puts the mark there themselves has written for agentd: such lines are never read as theirs, and go with the next
writing.
"""

import re
from collections.abc import Mapping

from agentd.text import frontmatter, quoting
from agentd.text.outline import Outline, Section, closes, opens, outline
from agentd.text.spacing import split_ends

MARK = "<!-- written by agentd -->"
# Text may have headings of its own below that of its section, but for any that would state a verdict.
TEXT = quoting.structure(
    r"#{1,2}(?:[ \t]|$)|#{3,6}[ \t]+(?i:(?:final |overall )?verdict)\b"
    r"|(?:[-*+>][ \t]+)?(?:\*\*|__)?(?i:verdict)(?:\*\*|__)?[ \t]*[:：]"
)
_MARK = re.compile(r" {0,3}<!--[ \t]*written by agentd[ \t]*-->[ \t]*", re.IGNORECASE)


def sections(plan: Outline) -> tuple[Section, ...]:
    """Everything that bears the mark: from a heading that it stands right below, or else from itself, without title."""
    found: list[Section] = []
    for number, line in enumerate(plan.lines, plan.first):
        if not _MARK.fullmatch(line) or number in plan.fenced or (found and number <= found[-1].end):
            continue
        above = [part for part in plan.sections if part.line < number]
        if above and above[-1].level > 1 and not plan.text(above[-1].line + 1, number - 1).strip():
            found.append(above[-1])
        else:
            after = (part.line for part in plan.sections if part.line > number and part.level <= 2)
            found.append(Section(2, "", number, next(after, plan.first + len(plan.lines)) - 1))
    return tuple(found)


def lines(plan: Outline, title: str) -> list[str]:
    """The lines of the first section with this title that bears the mark, without both."""
    for part in sections(plan):
        if part.title.casefold() == title.casefold():
            body = list(plan.lines[part.line + 1 - plan.first : part.end + 1 - plan.first])
            return body[next(at for at, line in enumerate(body, 1) if _MARK.fullmatch(line)) :]
    return []


def without(plan: Outline) -> Outline:
    """The same lines, with those that bear the mark emptied."""
    ours = {number for part in sections(plan) for number in range(part.line, part.end + 1)}
    if not ours:
        return plan
    return outline(["" if at in ours else line for at, line in enumerate(plan.lines, plan.first)], plan.first)


def put(text: str, written: Mapping[str, str]) -> str:
    """The text with these sections at its end, in place of all that bears the mark; the rest stays byte for byte.

    What was left open there, a code fence or a comment, is closed before them.
    """
    front = frontmatter.read(text)
    ours = {at for part in sections(outline(front.lines, front.first)) for at in range(part.line, part.end + 1)}
    theirs = "".join(piece for at, piece in enumerate(split_ends(text), 1) if at not in ours)
    if not written:
        return theirs
    newline = "\r\n" if "\r\n" in theirs else "\n"
    if theirs and not theirs.endswith(("\n", "\r")):
        theirs += newline
    theirs += _closing(theirs, newline)
    if theirs.strip() and split_ends(theirs)[-1].strip():
        theirs += newline
    whole = "\n".join(f"## {title}\n\n{MARK}\n\n{body}\n" for title, body in written.items())
    return theirs + whole.replace("\n", newline)


def _closing(text: str, newline: str) -> str:
    front = frontmatter.read(text)
    plan = outline(front.lines, front.first)
    if not plan.unclosed:
        return ""
    fence = opens(plan.lines[plan.unclosed - plan.first])
    end = "-->" if fence == "<!--" else fence
    return f"{end}{newline}" if closes(end, fence) else ""
