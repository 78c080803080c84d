"""The review blocks of a proposal: found by their exact tags, outside of code fences and comments.

Blocks are added and never edited; the text around them stays as it is, byte for byte.
"""

import re
from collections.abc import Sequence
from typing import cast

from agentd.model.change import REVIEW_STATUSES, Review, ReviewStatus
from agentd.model.finding import Finding
from agentd.model.rules import Rules
from agentd.patterns import regex
from agentd.review.verdict_words import Stated, stated
from agentd.text import quoting, spacing
from agentd.text.outline import closes, opens
from agentd.values import dataclass

VERDICTS: tuple[ReviewStatus, ...] = ("approved", "needs_revision", "rejected")
OWN = quoting.structure(r"</?(?:proposal|review)\b")
_TAG = regex(r'<review status="([^"]*)" iteration="([^"]*)" reviewer="([^"]*)"(?: call="([^"]*)")?>[ \t]*\Z')
_LIKE_A_TAG = regex(r"</?review(?=[\s/>]|\Z)")
_ENTITIES = {"&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;", "\n": "&#10;", "\r": "&#13;"}
_MEANINGS = {entity: char for char, entity in _ENTITIES.items()}
_FIX = 'Write <review status="approved" iteration="1" reviewer="name"> on a line of its own, and </review> below.'


@dataclass(frozen=True)
class Block:
    """A review, with the lines of its opening and its closing tag."""

    review: Review
    line: int
    end: int


@dataclass(frozen=True)
class Blocks:
    """The review blocks of a text and findings about them. `spans` are the lines that belong to blocks, unclosed ones too."""

    found: tuple[Block, ...] = ()
    findings: tuple[Finding, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def reviews(self) -> tuple[Review, ...]:
        return tuple(block.review for block in self.found)


class _Scan:
    """Finds the blocks in one pass over the lines."""

    def __init__(self, lines: Sequence[str], first: int) -> None:
        self.lines, self.first = lines, first
        self.found: list[Block] = []
        self.spans: list[tuple[int, int]] = []
        self.problems: list[tuple[int, str]] = []
        self.opened = 0
        self.fence, self.fenced_at = "", 0

    def run(self) -> None:
        for number, line in enumerate(self.lines, self.first):
            if self.fence:
                if closes(line, self.fence):
                    self.fence = ""
            elif line.startswith(("<review", "</review")):
                self.tag(number, line)
            else:
                self.fence, self.fenced_at = opens(line), number
        if self.opened:
            self.leave_open(self.first + len(self.lines) - 1)
        elif self.fence and any(_LIKE_A_TAG.match(line) for line in self.lines[self.fenced_at - self.first :]):
            self.problems.append((self.fenced_at, "what begins here is never closed, and hides the reviews below it"))

    def tag(self, number: int, line: str) -> None:
        if _TAG.match(line):
            if self.opened:
                self.leave_open(number - 1)
            self.opened = number
        elif line.rstrip(" \t") == "</review>":
            if self.opened:
                self.close(number)
            else:
                self.problems.append((number, "</review> closes no review block"))
        elif not self.opened and _LIKE_A_TAG.match(line):
            self.problems.append((number, "this is not the tag of a review block as agentd reads it"))

    def leave_open(self, end: int) -> None:
        self.problems.append((self.opened, "the review block that begins here has no closing </review>"))
        self.spans.append((self.opened, end))

    def close(self, number: int) -> None:
        start, self.opened = self.opened, 0
        self.spans.append((start, number))
        tag = _TAG.match(self.lines[start - self.first])
        assert tag
        status, iteration, reviewer, call = tag.groups()
        if status not in REVIEW_STATUSES:
            self.problems.append((start, f"the status '{status}' is not one of {', '.join(REVIEW_STATUSES)}"))
        elif not re.fullmatch(r"[1-9][0-9]{0,8}", iteration):
            self.problems.append((start, f"the iteration '{iteration}' is not a number from 1"))
        else:
            content = quoting.unescape(self.lines[start - self.first + 1 : number - self.first], OWN)
            review = Review(
                cast(ReviewStatus, status), int(iteration), _meant(reviewer), content, start, _meant(call or "")
            )
            self.found.append(Block(review, start, number))


def scan(lines: Sequence[str], first: int, rules: Rules) -> Blocks:
    """The review blocks in the lines of a body that begins on line `first` of its file."""
    walk = _Scan(lines, first)
    walk.run()
    severity = rules.severity("invalid_review")
    findings = [Finding("invalid_review", what, line, severity, _FIX) for line, what in sorted(walk.problems)]
    return Blocks(tuple(walk.found), tuple(findings), tuple(walk.spans))


def write(review: Review) -> str:
    """A block as text; ValueError if its content contradicts its status."""
    if review.status not in REVIEW_STATUSES:
        raise ValueError(f"status '{review.status}' is not one of {', '.join(REVIEW_STATUSES)}.")
    if review.iteration < 1:
        raise ValueError(f"iteration {review.iteration} is less than 1.")
    written = quoting.escape(review.content, OWN)
    against = contradiction(review, stated(written.split("\n"), VERDICTS))
    if against:
        raise ValueError(f"The status is '{review.status}', but the content says '{against.said}': state one verdict.")
    call = f' call="{_quoted(review.call)}"' if review.call else ""
    tag = (
        f'<review status="{review.status}" iteration="{review.iteration}" reviewer="{_quoted(review.reviewer)}"{call}>'
    )
    return f"{tag}\n\n{written}\n\n</review>" if written else f"{tag}\n</review>"


def _quoted(text: str) -> str:
    return re.sub(r'[&"<>\r\n]', lambda found: _ENTITIES[found[0]], text)


def _meant(quoted: str) -> str:
    return re.sub(r"&#?\w+;", lambda found: _MEANINGS.get(found[0], found[0]), quoted)


def contradiction(review: Review, said: Sequence[Stated]) -> Stated | None:
    """The first statement of a review that contradicts its status; none for a resolved review."""
    return next((each for each in said if each.word != review.status and review.status != "resolved"), None)


def append(text: str, blocks: Blocks, review: Review) -> str:
    """The text with a block added at its end, or in place of the last of its iteration if that one is resolved.

    Blocks of earlier attempts of the same call are removed, so that a call leaves only one.
    """
    newline = spacing.line_end(text)
    block = write(review).replace("\n", newline)
    pieces = spacing.split_ends(text)
    mine = [each for each in blocks.found if visit(review.call) and visit(each.review.call) == visit(review.call)]
    same = [each for each in blocks.found if each.review.iteration == review.iteration][-1:]
    old = mine[-1:] if mine else [each for each in same if each.review.status == "resolved"]
    if old and (old[0] is blocks.found[-1] or not mine):
        last = pieces[old[0].end - 1]
        pieces[old[0].line - 1 : old[0].end] = [block + last[len(last.rstrip("\r\n")) :]]
        return "".join(_without(mine[:-1], pieces))
    text = "".join(_without(mine, pieces))
    if not text:
        return block + newline
    tail = text[-4:].replace("\r\n", "\n").replace("\r", "\n")
    gap = 0 if tail.endswith("\n\n") else 1 if tail.endswith("\n") else 2
    return text + newline * gap + block + newline


def _without(gone: Sequence[Block], pieces: list[str]) -> list[str]:
    """The lines without these blocks and the empty line after each."""
    for block in reversed(gone):
        after = 1 if block.end < len(pieces) and not pieces[block.end].strip() else 0
        del pieces[block.line - 1 : block.end + after]
    return pieces


def visit(call: str) -> str:
    """The part that all attempts of a call share: `challenge-1` of `challenge-1.2`; empty for other names."""
    found = re.fullmatch(r"(.+-\d+)\.\d+", call)
    return found[1] if found else ""
