"""Whether a finding about code is grounded: it names a file and quotes it, near a change or a use of what changed.

Wrong line numbers and the formatting of a quote do not matter.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from agentd.model.verdict import Issue
from agentd.patterns import regex
from agentd.review.changed_code import NEAR, numbered, uses
from agentd.review.plan_grounding import Place, places

_LINE = regex(r"(?::|#L|,? +lines? +|,? +L)(\d{1,9})(?:[:\-–]L?\d{1,9})*\s*\Z", re.IGNORECASE)
_ELLIPSIS = regex(r"\[?(?:\.{3,}|…)\]?")
_PAIRS = (("`", "`"), ('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("«", "»"), ("「", "」"))
_MARGINS = (
    regex(r"[ \t]*>"),
    regex(r"[ \t]*(?:[\w@./+~-]{1,200}\.\w+:)?L?\d{1,7}(?:[ \t]*[:|│→]|[ \t]{2}|\t|-)", re.IGNORECASE),
)
_HUNK = regex(r"@@ |\\ No newline|(?:\+\+\+|---) ")
_SIGN = regex(r"^[+-]", re.MULTILINE)


class Match(NamedTuple):
    """The offsets of a match in the folded text, and its lines."""

    start: int
    end: int
    lines: range


def ungrounded(
    issue: Issue,
    text: Callable[[str], str | None],
    touched: Callable[[str], Collection[range] | None],
    callers: Callable[[str], str],
    before: Callable[[str], str | None] = lambda path: None,
) -> str:
    """Why a finding about code does not count, or nothing.

    `text` gives the text of a file, None if it does not exist; `touched` the lines that the change touched; `callers` the
    changed names that a file uses, separated by commas; `before` the old text of a file, for quotes of removed code.
    """
    where = named(issue)
    there = text(where.path) if where.path else None
    gone = before(where.path) or "" if where.path else ""
    if there is None:
        if _removed(issue.quote, gone):
            return ""
        return f"there is no file {where.path}" if where.path else unsaid(issue)
    if unsaid(issue):
        return unsaid(issue)
    found = _matches(issue.quote, there)
    if found:
        return _out_of_reach(where.path, found, there, touched(where.path) or (), callers(where.path))
    return "" if _removed(issue.quote, gone) else f"the quote is not in {where.path}"


def unsaid(issue: Issue) -> str:
    """What a finding lacks, whatever the files contain, or nothing."""
    where = named(issue)
    if not where.path:
        return "it names no file"
    if issue.quote.strip():
        return ""
    return "it quotes nothing" if where.line else "it names no line and quotes nothing"


def place(issue: Issue, text: str) -> int:
    """The line on which the quote of a finding begins, nearest to the line it names; 0 if the file does not have it."""
    line = named(issue).line
    begins = [parts[0].lines.start for parts in _matches(issue.quote, text)]
    return min(begins, key=lambda begin: abs(begin - line) if line else begin, default=0)


def named(issue: Issue) -> Place:
    """The file and the line that a finding names, 0 for no line."""
    path = issue.file_path.strip(" \t`'\"*<>()")
    line = _LINE.search(path)
    if path:
        place = Place(path=path[: line.start()] if line else path, line=int(line[1]) if line else 0)
    else:
        place = next((one for one in places(issue) if one.path), Place())
    return Place(path=place.path.removeprefix("./"), line=issue.line_number or place.line)


def _out_of_reach(path: str, found: Sequence[Sequence[Match]], text: str, ranges: Collection[range], names: str) -> str:
    """Why a quote is too far from the change: no changed line and no changed name is near it."""
    if not ranges:
        return "" if names else f"{path} is not changed, and it uses no name that is"
    spans = [part.lines for parts in found for part in parts]
    if any(span.start < one.stop + NEAR and one.start < span.stop + NEAR for span in spans for one in ranges):
        return ""
    lines = numbered(text)
    known = frozenset(re.split(r"[\s,]+", names)) - {""}
    if any(uses("\n".join(lines[max(span.start - 1 - NEAR, 0) : span.stop - 1 + NEAR]), known) for span in spans):
        return ""
    return f"{path}:{spans[0].start} is more than {NEAR} lines from every change, and no name that changed is near it"


def _matches(quote: str, text: str) -> list[list[Match]]:
    """All places of a quote in a text, each as the matches of the parts between its ellipses."""
    words = _Words(text)
    for bare in _bared(quote):
        found = [[one] for one in words.find(bare)]
        pieces = _ELLIPSIS.split(bare)
        parts = [at for at, piece in enumerate(pieces) if piece.split()]
        if not found and parts and len(pieces) > 1:
            # An ellipsis may replace a part of a word too.
            found = _sequences([words.find_bared(pieces[at], at == 0, at == len(pieces) - 1) for at in parts])
        if found:
            return found
    return []


def _removed(quote: str, gone: str) -> bool:
    """Whether a quote, which may be a diff, is of code that was removed."""
    swapped = _SIGN.sub(lambda sign: "-" if sign[0] == "+" else "+", quote)
    return bool(_matches(quote, gone) or _matches(swapped, gone))


def _sequences(parts: Sequence[Sequence[Match]]) -> list[list[Match]]:
    """For each match of the first part, the next matches of the other parts in order."""
    found: list[list[Match]] = []
    for first in parts[0]:
        sequence = [first]
        for later in parts[1:]:
            at = bisect_left(later, sequence[-1].end, key=lambda one: one.start)
            if at == len(later):
                return found
            sequence.append(later[at])
        found.append(sequence)
    return found


class _Words:
    """A text with its white space folded to single spaces, and the line of each word."""

    def __init__(self, text: str) -> None:
        words = [(word, number) for number, line in enumerate(numbered(text), 1) for word in line.split()]
        self.folded = " ".join(word for word, _ in words)
        self.lines = [number for _, number in words]
        self.starts = [0]
        for word, _ in words:
            self.starts.append(self.starts[-1] + len(word) + 1)

    def find(self, quote: str, whole_first: bool = True, whole_last: bool = True) -> list[Match]:
        """The matches of a quote; it begins and ends at the boundary of a word, unless that is not asked for."""
        wanted = " ".join(quote.split())
        found = []
        at = self.folded.find(wanted) if wanted else -1
        while at >= 0:
            end = at + len(wanted)
            if not (whole_first and self._inside(at)) and not (whole_last and self._inside(end)):
                first, last = (self.lines[bisect_right(self.starts, where) - 1] for where in (at, end - 1))
                found.append(Match(at, end, range(first, last + 1)))
            at = self.folded.find(wanted, at + 1)
        return found

    def find_bared(self, quote: str, whole_first: bool, whole_last: bool) -> list[Match]:
        return next(filter(None, (self.find(bare, whole_first, whole_last) for bare in _bared(quote))), [])

    def _inside(self, at: int) -> bool:
        """Whether an offset is inside a word."""
        return 0 < at < len(self.folded) and bool(re.fullmatch(r"\w\w", self.folded[at - 1 : at + 1]))


def _bared(quote: str) -> Iterator[str]:
    """The quote as it is, then with one layer of formatting after the other removed."""
    left = quote
    while left.strip():
        yield left
        barer = _barer(left)
        left = barer if barer != left else ""


def _barer(quote: str) -> str:
    """The quote without its outermost formatting: a fence, a margin, the signs of a diff, or quotation marks."""
    lines = [line for line in numbered(quote) if line.strip()]
    fence = lines[0].strip()[:3]
    if fence in ("```", "~~~") and len(lines) > 1:
        return "\n".join(lines[1:-1] if lines[-1].strip().startswith(fence) else lines[1:])
    for margin in _MARGINS:
        if all(margin.match(line) for line in lines):
            return "\n".join(margin.sub("", line, count=1) for line in lines)
    if any(line[0] in "+-" or _HUNK.match(line) for line in lines):
        kept = [line for line in lines if not _HUNK.match(line) and line[0] != "-"]
        return "\n".join(line.removeprefix("+") for line in kept)
    bare = quote.strip()
    for begin, end in _PAIRS:
        if len(bare) > 2 and bare.startswith(begin) and bare.endswith(end):
            return bare[1:-1]
    return ""
