"""The text of a merged spec: pieces joined with the blank lines of the sides, and conflict marks."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from agentd.library.spec.spec_tree import Node, Path, walk
from agentd.library.spec.tree_merge import Clash, Piece
from agentd.model.merge import Prefer
from agentd.text.outline import split_lines

THEIRS, BASE, OURS = "<<<<<<< theirs", "||||||| base", ">>>>>>> ours"
_BETWEEN = "======="
_MARKED: Path = (("marked", "", 1),)
_END: Path = (("end", "", 1),)


class Gaps(NamedTuple):
    """The blank lines after each part of a tree, with the part that follows, and the blank lines before each part."""

    after: dict[Path, tuple[Path, str]]
    before: dict[Path, str]
    last: str


def gaps(root: Node) -> Gaps:
    nodes = list(walk(root))
    follow = [*(path for path, _ in nodes[1:]), _END]
    after = {path: (next_one, node.gap) for (path, node), next_one in zip(nodes, follow, strict=True)}
    return Gaps(after, dict(after.values()), nodes[-1][1].gap)


class Joiner:
    """Joins pieces with the blank lines that the sides have between them, or with one if no side has the two together."""

    def __init__(self, base: Node, ours: Node, theirs: Node, newline: str) -> None:
        self.sides = gaps(base), gaps(ours), gaps(theirs)
        self.mark = theirs.text
        self.newline = newline

    def text(self, pieces: Sequence[Piece]) -> str:
        """The whole file."""
        if not pieces:
            return self.mark + self._last()
        return self.mark + self._between((), pieces[0].path) + self.joined(pieces) + self._last()

    def joined(self, pieces: Sequence[Piece]) -> str:
        """These pieces, and the blank lines between them."""
        out = [piece.text for piece in pieces[:1]]
        for before, piece in pairwise(pieces):
            out += (self._between(before.path, piece.path), piece.text)
        return "".join(out)

    def chosen(self, pieces: Iterable[Piece | Clash], prefer: Prefer) -> Iterator[Piece]:
        """Each piece; of a clash the preferred side, else theirs, or with `mark` all three between marks."""
        for piece in pieces:
            if isinstance(piece, Piece):
                yield piece
            elif prefer == "mark":
                sides = (
                    self.chosen(piece.base, "ours"),
                    self.chosen(piece.ours, "ours"),
                    self.chosen(piece.theirs, ""),
                )
                yield Piece((*piece.path[:-1], *_MARKED), marked(self.newline, *(self._lines(side) for side in sides)))
            else:
                yield from self.chosen(piece.ours if prefer == "ours" else piece.theirs, prefer)

    def _lines(self, pieces: Iterable[Piece]) -> str:
        listed = list(pieces)
        return self.joined(listed) + self.newline if listed else ""

    def _between(self, before: Path, after: Path) -> str:
        """The blank lines that a side has between two parts; else those before the second one, and at least one."""
        pairs = (side.after.get(before) for side in self.sides)
        gap = _any(*(pair[1] if pair and pair[0] == after else None for pair in pairs))
        if gap is not None or not before:
            return gap or ""
        if len(after) > 1 and after[0][0] == "front":
            return self.newline
        gap = _any(*(side.before.get(after) for side in self.sides)) or ""
        return gap if max(gap.count("\n"), gap.count("\r")) > 1 else self.newline * 2

    def _last(self) -> str:
        return _settled(*(side.last for side in self.sides))


def marked(newline: str, base: str, ours: str, theirs: str) -> str:
    """Three texts between conflict marks; each is empty or ends with a line end."""
    lines = (THEIRS, newline, theirs, BASE, newline, base, _BETWEEN, newline, ours, OURS)
    return "".join(lines)


def first_marker(text: str, *sides: str | None) -> int:
    """The line of the first conflict mark in a text, or 0. A line that a side has itself is no mark: seven `=` may
    underline a heading."""
    marks = {THEIRS, BASE, OURS, *([_BETWEEN] if sides else [])}
    if any(mark in side for mark in marks for side in sides if side):
        marks -= {line.rstrip(" \t") for side in sides for line in split_lines(side or "")}
    if not any(mark in text for mark in marks):
        return 0
    return next((number for number, line in enumerate(split_lines(text), 1) if line.rstrip(" \t") in marks), 0)


def _any(base: str | None, ours: str | None, theirs: str | None) -> str | None:
    """The blank lines of those sides that have them."""
    if ours is not None and theirs is not None:
        return _settled(base, ours, theirs)
    return next((gap for gap in (ours, theirs, base) if gap is not None), None)


def _settled(base: str | None, ours: str, theirs: str) -> str:
    """The blank lines of the side that changed them; the longer ones if both did."""
    if ours == base:
        return theirs
    if theirs == base:
        return ours
    return max(ours, theirs, key=lambda gap: (len(gap), gap))
