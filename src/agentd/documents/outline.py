"""A Markdown text by its headings: sections with their lines, blind to what stands in code fences. Nothing is changed.

Lines are what a person's editor counts. A byte-order mark and CRLF are read as if they were not there.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")


@dataclass(frozen=True)
class Section:
    """A heading and the lines below it, up to the next heading of its level or above. Lines count from 1."""

    level: int
    title: str
    line: int
    end: int


@dataclass(frozen=True)
class Outline:
    """The lines of a text and its sections in order."""

    lines: tuple[str, ...]
    sections: tuple[Section, ...]
    fenced: frozenset[int]
    first: int = 1

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
        """Lines `start` to `end` that are not in a code fence, each with its number."""
        for number in range(start, end + 1):
            if number not in self.fenced:
                yield number, self.lines[number - self.first]


def split_lines(text: str) -> list[str]:
    """The lines of a text, without their ends; a byte-order mark is no part of the first."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def outline(lines: list[str] | tuple[str, ...], first: int = 1) -> Outline:
    """The sections of these lines, the first of which is line `first` of its file."""
    found: list[tuple[int, str, int]] = []
    fenced: set[int] = set()
    fence = ""
    for number, line in enumerate(lines, first):
        mark = _FENCE.match(line) if fence or "```" in line or "~~~" in line else None
        if fence:
            fenced.add(number)
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fenced.add(number)
            fence = mark[1]
        elif "#" in line:
            heading = _HEADING.match(line)
            if heading:
                found.append((len(heading[1]), heading[2] or "", number))
    last = first + len(lines) - 1
    sections = []
    for index, (level, title, at) in enumerate(found):
        following = next((other for deep, _, other in found[index + 1 :] if deep <= level), last + 1)
        sections.append(Section(level, title.strip(), at, following - 1))
    return Outline(tuple(lines), tuple(sections), frozenset(fenced), first)
