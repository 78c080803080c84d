"""A Markdown text by its headings: sections with their lines, blind to code fences and comments. Nothing is changed.

Lines are what a person's editor counts. A byte-order mark and CRLF are read as if they were not there.
"""

from collections.abc import Iterator
from typing import NamedTuple

from agentd.patterns import regex
from agentd.values import dataclass

_HEADING = regex(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_FENCE = regex(r" {0,3}(`{3,}|~{3,})(.*)$")
_MARKS = frozenset("#`~<")
_COMMENT = regex(r" {0,3}<!--(?!.*-->)")
_MAY_MARK = frozenset("#`~< ")


class Section(NamedTuple):
    """A heading and the lines below it, up to the next heading of its level or above. Lines count from 1."""

    level: int
    title: str
    line: int
    end: int


@dataclass(frozen=True)
class Outline:
    """The lines of a text and its sections in order. `fenced` has the lines of code fences and of comments.

    `unclosed` is where a fence or comment begins that never ends; 0 if there is none.
    """

    lines: tuple[str, ...]
    sections: tuple[Section, ...]
    fenced: frozenset[int]
    first: int = 1
    unclosed: int = 0

    def body(self, section: Section) -> str:
        """The text of a section without its heading and its sub-sections, trimmed."""
        inner = next(
            (other.line for other in self.sections if section.line < other.line <= section.end), section.end + 1
        )
        return self.text(section.line + 1, inner - 1)

    def text(self, start: int, end: int) -> str:
        """Lines `start` to `end`, trimmed of empty lines around."""
        return "\n".join(self.lines[start - self.first : end - self.first + 1]).strip("\n").rstrip()

    def find(self, title: str, level: int = 2) -> Section | None:
        """The first section of a level with this title, whatever its case."""
        wanted = title.casefold()
        return next((part for part in self.sections if part.level == level and part.title.casefold() == wanted), None)

    def inside(self, section: Section, level: int) -> list[Section]:
        """The sub-sections of a section at a level."""
        return [part for part in self.sections if section.line < part.line <= section.end and part.level == level]

    def plain_lines(self, start: int, end: int) -> Iterator[tuple[int, str]]:
        """Lines `start` to `end` that are not in a code fence or comment, each with its number."""
        for number in range(start, end + 1):
            if number not in self.fenced:
                yield number, self.lines[number - self.first]


def split_lines(text: str) -> list[str]:
    """The lines of a text, without their ends; a byte-order mark is no part of the first."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def outline(lines: list[str] | tuple[str, ...], first: int = 1) -> Outline:
    """The sections of these lines, the first of which is line `first` of its file."""
    headings: list[tuple[int, str, int]] = []
    fenced: list[int] = []
    fence = ""
    opened = 0
    for number, line in enumerate(lines, first):
        if fence:
            fenced.append(number)
            if fence in line or fence == "<!--":
                fence = "" if closes(line, fence) else fence
        elif line[:1] in _MAY_MARK:
            heading = _HEADING.match(line) if "#" in line else None
            if heading:
                headings.append((len(heading[1]), _title(heading[2] or ""), number))
                continue
            fence = opens(line)
            if fence:
                fenced.append(number)
                opened = number
    last = first + len(lines) - 1
    return Outline(tuple(lines), _sections(headings, last), frozenset(fenced), first, opened if fence else 0)


def _title(text: str) -> str:
    """The text of a heading without the hashes that may close it."""
    text = text.strip()
    if text[-1:] == "#":
        bare = text.rstrip("#")
        text = bare.rstrip() if bare[-1:] in (" ", "\t") else text
    return text


def _sections(headings: list[tuple[int, str, int]], last: int) -> tuple[Section, ...]:
    """Each heading with the last line below it, found from the end."""
    following = [last + 1] * 7
    sections = []
    for level, title, line in reversed(headings):
        sections.append(Section(level, title, line, min(following[: level + 1]) - 1))
        following[level] = line
    return tuple(reversed(sections))


def opens(line: str) -> str:
    """What a line begins that hides the lines after it: the fence, `<!--`, or nothing."""
    if line.lstrip(" ")[:1] not in _MARKS:
        return ""
    mark = _FENCE.match(line)
    if mark and not (mark[1][0] == "`" and "`" in mark[2]):
        return mark[1]
    return "<!--" if _COMMENT.match(line) else ""


def closes(line: str, fence: str) -> bool:
    """Whether a line ends what `opens` found."""
    if fence == "<!--":
        return "-->" in line
    if fence not in line:
        return False
    mark = _FENCE.match(line)
    return mark is not None and mark[1].startswith(fence) and not mark[2].strip()
