"""Sections and keys that agentd adds to another author's document. The author's own text is never changed.

Each section has a mark. Lines that the author marks like that are read as agentd's, and removed when it next writes.
"""

import re
from collections.abc import Mapping
from typing import Any

from agentd.errors import Corrupt
from agentd.patterns import regex
from agentd.text import frontmatter, lossless_yaml, quoting
from agentd.text.frontmatter import Front
from agentd.text.outline import Outline, Section, closes, opens, outline
from agentd.text.spacing import split_ends

MARK = "<!-- written by agentd -->"
# A text may have headings of level 3 and more, unless they would state a verdict.
TEXT = quoting.structure(
    r"#{1,2}(?:[ \t]|$)|#{3,6}[ \t]+(?i:(?:final |overall )?verdict)\b"
    r"|(?:[-*+>][ \t]+)?(?:\*\*|__)?(?i:verdict)(?:\*\*|__)?[ \t]*[:：]"
)
_MARK = regex(r" {0,3}<!--[ \t]*written by agentd[ \t]*-->[ \t]*", re.IGNORECASE)


def sections(plan: Outline) -> tuple[Section, ...]:
    """Every marked section; a mark that is not right below a heading begins a section without a title."""
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
    """The lines of the first marked section with this title, without the heading and the mark."""
    for part in sections(plan):
        if part.title.casefold() == title.casefold():
            body = list(plan.lines[part.line + 1 - plan.first : part.end + 1 - plan.first])
            return body[next(at for at, line in enumerate(body, 1) if _MARK.fullmatch(line)) :]
    return []


def without(plan: Outline) -> Outline:
    """The document with the lines of marked sections emptied."""
    ours = {number for part in sections(plan) for number in range(part.line, part.end + 1)}
    if not ours:
        return plan
    return outline(["" if at in ours else line for at, line in enumerate(plan.lines, plan.first)], plan.first)


def put(text: str, written: Mapping[str, str]) -> str:
    """The text with these sections at its end, in place of all marked ones; the rest stays byte for byte.

    A code fence or comment that is left open is closed first.
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


def put_keys(text: str, front: Front, data: Mapping[str, Any]) -> str:
    """The text with these keys in its front matter; one whose front matter cannot be read stays as it is."""
    if any(finding.rule == "invalid_frontmatter" for finding in front.findings):
        return text
    try:
        updated = frontmatter.update(text, data)
    except Corrupt:
        updated = text
    again = frontmatter.read(updated)
    if again.data == {**front.data, **data} and again.lines[-len(front.lines) :] == front.lines:
        return updated
    # The front matter cannot be changed in place: it is written anew.
    body = "".join(split_ends(text)[front.first - 1 :])
    return f"---\n{lossless_yaml.dump({**front.data, **data})}---\n{body}"


def _closing(text: str, newline: str) -> str:
    front = frontmatter.read(text)
    plan = outline(front.lines, front.first)
    if not plan.unclosed:
        return ""
    fence = opens(plan.lines[plan.unclosed - plan.first])
    end = "-->" if fence == "<!--" else fence
    return f"{end}{newline}" if closes(end, fence) else ""
