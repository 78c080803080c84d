"""What people do to a document by hand, as named functions from text to text, and the text they write in it.

An edit with `keeps` leaves the meaning alone: a document whose texts are plain words reads the same after it.
"""

import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from hypothesis import strategies as st

BULLET = re.compile(r"^([ \t]*)[-*+](?=[ \t])")
COMMENT = re.compile(r" {0,3}<!--(?!.*-->)")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
HEADING = re.compile(r"(#{1,6})[ \t]+\S")
NUMBERED = re.compile(r"#+[ \t]+(?:R\d|Q\d|Task\b|\d)", re.IGNORECASE)  # the word in these is an id, not a title
ENDING_TAG = re.compile(r"</?(?:proposal|spec|tasks|review)\b")


@dataclass(frozen=True)
class Edit:
    """One hand edit; calling it gives the text a person would have saved."""

    name: str
    apply: Callable[[str], str]
    keeps: bool = True

    def __call__(self, text: str) -> str:
        return self.apply(text)

    def __repr__(self) -> str:
        return f"<{self.name}>"


@dataclass(frozen=True)
class Line:
    """A line of the body with its end; `fenced` if it is in a code fence or a comment, or begins or ends one."""

    text: str
    end: str
    fenced: bool


def split(text: str) -> tuple[str, list[Line]]:
    """The front matter, to its closing line, and the lines of the body."""
    head = re.match(r"\ufeff?---[ \t]*\r?\n.*?^---[ \t]*(?:\r?\n|\Z)", text, re.DOTALL | re.MULTILINE)
    front = head[0] if head else ""
    lines = []
    fence = ""
    for part in re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", text[len(front) :]):
        body = part.rstrip("\r\n")
        mark = FENCE.match(body)
        inside = bool(fence or mark or COMMENT.match(body))
        if not fence:
            fence = mark[1] if mark else "<!--" if inside else ""
        elif fence == "<!--":
            fence = "" if "-->" in body else fence
        elif mark and mark[1].startswith(fence) and not body.strip().strip(fence[0]):
            fence = ""
        lines.append(Line(body, part[len(body) :], inside))
    return front, lines


def join(front: str, lines: Iterable[Line]) -> str:
    return front + "".join(line.text + line.end for line in lines)


def _each(change: Callable[[str], str], fenced: bool = False) -> Callable[[str], str]:
    """An edit of every line of the body, those in code fences only where it says so."""

    def apply(text: str) -> str:
        front, lines = split(text)
        return join(front, (Line(change(x.text) if fenced or not x.fenced else x.text, x.end, False) for x in lines))

    return apply


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _crlf(text: str) -> str:
    return re.sub(r"\r\n|\r|\n", "\r\n", text)


def _mark(text: str) -> str:
    return "\ufeff" + text.removeprefix("\ufeff")


def _before_headings(lines: str, chance: random.Random) -> Callable[[str], str]:
    """Puts lines before some of the headings."""

    def apply(text: str) -> str:
        front, body = split(text)
        new = []
        for line in body:
            if not line.fenced and HEADING.match(line.text) and chance.random() < 0.5:
                new.append(Line(lines.replace("\n", _newline(text)), "", False))
            new.append(line)
        return join(front, new)

    return apply


def _sections(lines: list[Line]) -> tuple[list[Line], list[list[Line]], list[Line]]:
    """What stands before the first `##` section, the sections, and the closing tag with what follows it."""
    starts = [i for i, line in enumerate(lines) if not line.fenced and re.match(r"##[ \t]", line.text)]
    if not starts:
        return lines, [], []
    closing = (
        i for i, line in enumerate(lines) if i > starts[0] and not line.fenced and ENDING_TAG.match(line.text.strip())
    )
    end = next(closing, len(lines))
    starts = [start for start in starts if start < end]
    return lines[: starts[0]], [lines[a:b] for a, b in zip(starts, [*starts[1:], end], strict=True)], lines[end:]


def _blank_end(section: list[Line], newline: str) -> list[Line]:
    return [*section[:-1], Line(section[-1].text, section[-1].end or newline, False), Line("", newline, False)]


def _swapped(chance: random.Random) -> Callable[[str], str]:
    def apply(text: str) -> str:
        front, lines = split(text)
        before, sections, after = _sections(lines)
        newline = _newline(text)
        chance.shuffle(sections)
        return join(front, [*before, *(x for part in sections for x in _blank_end(part, newline)), *after])

    return apply


def _section_added(content: str, chance: random.Random) -> Callable[[str], str]:
    def apply(text: str) -> str:
        front, lines = split(text)
        before, sections, after = _sections(lines)
        newline = _newline(text)
        sections = [_blank_end(part, newline) for part in sections]
        if sections:
            sections.insert(chance.randrange(len(sections) + 1), [Line(content.replace("\n", newline), "", False)])
        return join(front, [*before, *(x for part in sections for x in part), *after])

    return apply


def _dropped(chance: random.Random) -> Callable[[str], str]:
    def apply(text: str) -> str:
        front, lines = split(text)
        if lines:
            del lines[chance.randrange(len(lines))]
        return join(front, lines)

    return apply


def _headings(change: Callable[[str], str]) -> Callable[[str], str]:
    """An edit of the titles of `##` sections, but for the ids in them."""
    return _each(lambda line: change(line) if re.match(r"##[ \t]", line) and not NUMBERED.match(line) else line)


def _blank_lines(text: str) -> str:
    front, lines = split(text)
    doubled = [(x, Line("", x.end, False)) if not x.fenced and not x.text.strip() and x.end else (x,) for x in lines]
    return join(front, (x for pair in doubled for x in pair))


def edits(chance: random.Random) -> list[Edit]:
    """Every edit there is."""
    mark = chance.choice("-*+")
    unknown = "## Notes of mine\n\nSome words: about nothing.\n\n- [ ] one\n- two\n\n"
    fence = (
        "## Notes of mine\n\n```markdown\n# Not a heading\n\n## Summary\n\n### R9 - Not one\n\n- **WHEN** x\n```\n\n"
    )
    comment = "## Notes of mine\n\n<!--\n## Overview\n\n### R8 - Not one\n\n### Scenario: nor this\n-->\n\n"
    return [
        Edit("CRLF", _crlf),
        Edit("a byte-order mark", _mark),
        Edit("trailing spaces", _each(lambda line: line + chance.choice(["", " ", "  ", "\t"]))),
        Edit("tabs for spaces", _each(lambda line: re.sub(r"^(?: {4}| {2})(?=\S)", "\t", line))),
        Edit("blank lines doubled", _blank_lines),
        Edit("blank lines before headings", _before_headings("\n\n", chance)),
        Edit("bullets changed", _each(lambda line: BULLET.sub(lambda found: found[1] + mark, line))),
        Edit("bold taken off labels", _each(lambda line: re.sub(r"\*\*(WHEN|THEN|GIVEN|AND)\*\*", r"\1", line))),
        Edit("headings in upper case", _headings(str.upper)),
        Edit("headings in lower case", _headings(str.lower)),
        Edit("headings closed with hashes", _headings(lambda line: line.rstrip() + " ##")),
        Edit("sections swapped", _swapped(chance)),
        Edit("an unknown section", _section_added(unknown, chance)),
        Edit("a fenced block with headings", _section_added(fence, chance)),
        Edit("a comment with headings", _section_added(comment, chance)),
        Edit(
            "Chinese and Arabic words", _section_added("## 备注\n\n说明：无。\n\n## ملاحظات\n\nلا شيء: هنا\n\n", chance)
        ),
        Edit("tags taken away", _each(lambda line: "" if re.match(r"</?(proposal|spec|tasks)>\s*$", line) else line)),
        Edit("no newline at the end", lambda text: text.rstrip("\r\n")),
        Edit("a line lost", _dropped(chance), keeps=False),
        Edit("a heading one level deeper", _each(lambda line: re.sub(r"^##(?=[ \t])", "###", line)), keeps=False),
        Edit("a fence left open", lambda text: text + "\n```\n", keeps=False),
        Edit("half of it lost", lambda text: text[: chance.randrange(len(text) + 1)], keeps=False),
        Edit("no front matter", lambda text: join("", split(text)[1]), keeps=False),
        Edit("everything twice", lambda text: text + text, keeps=False),
    ]


@cache
def _places(count: int, most: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, count - 1), min_size=1, max_size=most, unique=True)


@st.composite
def hand_edits(draw: st.DrawFn, keeps: bool = False, most: int = 4) -> Edit:
    """One to `most` edits after each other; with `keeps` only those that leave the meaning alone."""
    chance = random.Random(draw(st.integers(0, 2**16)))
    offered = [edit for edit in edits(chance) if edit.keeps or not keeps]
    chosen = [offered[at] for at in draw(_places(len(offered), most))]

    def apply(text: str) -> str:
        for edit in chosen:
            text = edit(text)
        return text

    return Edit(", ".join(edit.name for edit in chosen), apply, all(edit.keeps for edit in chosen))


WORDS = (
    "login",
    "code",
    "用户登录",
    "تسجيل الدخول",
    "utilisateur",
    "ログイン",
    "the system SHALL answer",
    "it's",
    "a–b",
    "5 s",
)
NASTY_LINES = (
    *("# Heading", "## Overview", "## Requirements", "### R1 - x", "### Task 1.1: x", "## Q1: x", "###### six", "#"),
    *("---", "...", "===", "```", "````", "~~~", "```yaml", "```mermaid", "`code`", "    indented", "\tindented"),
    *("<spec>", "</spec>", "</proposal>", "</tasks>", '<review status="approved">', "</review>", "<b>x</b>", "<!-- x"),
    *("-->", "- item", "* item", "+ item", "1. item", "- [ ] 1.1 x", "- [x] APPROVED", "> quote", "| a | b |"),
    *("- **WHEN** x", "WHEN x", "When x THEN y", "then y", "**THEN** y", "THEN", "GIVEN z", "AND more", "But: not"),
    *("key: value", "id: R1", "{a: [1]}", "**Verdict**: APPROVED", "- **Scope**: major", "说明：内容", "مرحبا: نص"),
    *(
        "\\",
        "\\\\",
        "\\# x",
        "\\`",
        "&#32;",
        "&amp;",
        "x ",
        "x  ",
        " x",
        "  ",
        "\t",
        "",
        "",
        '"quoted"',
        "'",
        "a\u2028b",
    ),
)


LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-"
ANYTHING = st.characters(exclude_categories=["Cs"], exclude_characters="\r")  # a text is read with one kind of line end


def names(most: int) -> st.SearchStrategy[str]:
    """Small letters, digits and hyphens, none of these in front. `from_regex` takes several times as long."""
    return st.text(LETTERS, min_size=1, max_size=most).filter(lambda name: name[0] != "-")


@cache
def plain_texts(most: int = 4) -> st.SearchStrategy[str]:
    """A few words on one line: text that no edit could be mistaken about."""
    return st.lists(st.sampled_from(WORDS), min_size=1, max_size=most).map(" ".join)


@cache
def nasty_lines() -> st.SearchStrategy[str]:
    """One line of anything, never empty at the ends."""
    return (st.sampled_from(NASTY_LINES) | st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=20)).filter(
        lambda line: bool(line.strip()) and "\n" not in line
    )


@cache
def nasty_texts(most: int = 6) -> st.SearchStrategy[str]:
    """Lines of anything, each of which could be mistaken for structure; not white space alone."""
    line = st.sampled_from(NASTY_LINES) | plain_texts() | st.text(ANYTHING, max_size=20)
    return st.lists(line, min_size=1, max_size=most).map("\n".join).filter(lambda text: bool(text.strip()))


TYPED = (
    "",
    " ",
    "\n",
    "\n\n",
    "\t",
    "\r",
    "\ufeff",
    "#",
    "`",
    "~",
    "<",
    "-",
    ":",
    "0",
    "9",
    '"',
    "null",
    "R1",
    "é",
    "\\",
)


@st.composite
def slips(draw: st.DrawFn, most: int = 3) -> Edit:
    """Something typed at any place, over up to as many characters as it has and three more: a document that was in the
    usual form still nearly is."""
    piece = st.sampled_from([*TYPED, *NASTY_LINES]) | st.text(ANYTHING, max_size=3)
    found = draw(st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 3), piece), max_size=most))

    def apply(text: str) -> str:
        for at, over, typed in found:
            at %= len(text) + 1
            text = text[:at] + typed + text[at + over :]
        return text

    return Edit(f"slips {found}", apply, keeps=False)
