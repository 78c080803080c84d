"""The three-way merge of a spec. No text of either side is lost without a conflict."""

from agentd.library.spec import front_matter_merge
from agentd.library.spec.merge_flaws import FLAWS, doubled, flaws
from agentd.library.spec.merged_text import Joiner, marked
from agentd.library.spec.renames import aligned
from agentd.library.spec.spec_tree import Node, plain, tree, walk
from agentd.library.spec.tree_merge import THEY_REMOVED, WE_REMOVED, Piece, combined, conflicts
from agentd.model.merge import Conflict, Merged, Prefer
from agentd.patterns import regex
from agentd.text.spacing import line_end

UNFIT = "the two texts do not fit together: something is not closed in one of them, or its headings have other levels"
_END = regex("\r?\n")


def merge(base: str | None, ours: str | None, theirs: str | None, prefer: Prefer = "") -> Merged:
    """The spec with the changes of both sides; None stands for a file that does not exist.

    `prefer` settles conflicts; `mark` puts conflict marks around them. Without it, theirs stays. Line ends are theirs.
    """
    if ours is None or theirs is None:
        return _there_or_not(base, ours, theirs, prefer)
    base, ours = None if base is None else _in_style(base, theirs), _in_style(ours, theirs)
    if theirs == base or ours == theirs:
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    return _merged(base, ours, theirs, prefer)


def can_settle(conflict: Conflict) -> bool:
    """Whether preferring a side settles a conflict; otherwise a person has to edit the text."""
    return conflict.why not in FLAWS


def _merged(base: str | None, ours: str, theirs: str, prefer: Prefer) -> Merged:
    before = tree(base or "")
    mine, other = (aligned(before, tree(text)) for text in (ours, theirs))
    pieces = combined(before, mine, other)
    joiner = Joiner(before, mine, other, line_end(theirs if "\n" in theirs or "\r" in theirs else ours))
    found = list(conflicts(pieces))
    chosen = _counted(list(joiner.chosen(pieces, prefer)), joiner, (base, ours, theirs))
    text = joiner.text(chosen)
    if found and prefer not in ("ours", "theirs"):
        rest = tree(joiner.text([piece for piece in pieces if isinstance(piece, Piece)]))
        return Merged(text, (*found, *doubled(rest, mine, other)))
    root = tree(text)
    if not _is_made_of(root, chosen):
        unfit = _whole(UNFIT, base, ours, theirs, prefer)
        return Merged(unfit.text, (*found, *unfit.conflicts))
    wrong = flaws(before, root, mine, other, settled=bool(found))
    if wrong and prefer == "mark":  # the marks can only go around the whole file
        text = _whole("", base, ours, theirs, prefer).text or ""
    return Merged(text, (*found, *wrong))


def _is_made_of(root: Node, pieces: list[Piece]) -> bool:
    """Whether a merged text parses into these pieces again, each at its depth."""
    found = [(node.text, len(path)) for path, node in walk(root)][1:]
    return found == [(piece.text, len(piece.path)) for piece in pieces]


def _counted(chosen: list[Piece], joiner: Joiner, texts: tuple[str | None, str, str]) -> list[Piece]:
    """The pieces with computed counts in the front matter, if both sides changed the counts or had them right."""
    at = next((place for place, piece in enumerate(chosen) if piece.path == front_matter_merge.COUNTS), -1)
    if at < 0 or not front_matter_merge.may_count(*texts):
        return chosen
    ids = list(dict.fromkeys(front_matter_merge.listed(joiner.text(chosen))))
    piece = chosen[at]._replace(text=front_matter_merge.with_counts(chosen[at].text, ids, joiner.newline))
    return [*chosen[:at], piece, *chosen[at + 1 :]]


def _in_style(text: str, model: str) -> str:
    """The text with the byte-order mark and the line ends, or the most frequent ones, of another text; with its own line
    ends if both texts mix them."""
    old, new = _ends(text), _ends(model)
    text = text.removeprefix("\ufeff")
    if old and not new and "\n" in model:
        new = "\r\n" if 2 * model.count("\r\n") > model.count("\n") else "\n"
    if old and new and old != new:
        text = text.replace(old, new)
    elif not old and new in ("\r\n", "\n"):
        text = _END.sub(new, text)
    return "\ufeff" + text if model.startswith("\ufeff") else text


def _ends(text: str) -> str:
    """The line end of a text; empty if it mixes several."""
    returns, feeds = text.count("\r"), text.count("\n")
    if not returns or not feeds:
        return "\r" if returns else "\n" if feeds else ""
    return "\r\n" if returns == feeds == text.count("\r\n") else ""


def _there_or_not(base: str | None, ours: str | None, theirs: str | None, prefer: Prefer) -> Merged:
    """The merge of a spec that at least one side does not have."""
    there = theirs if ours is None else ours
    if base is None:
        return Merged(there)
    if there is None or plain(there.removeprefix("\ufeff")).strip() == plain(base.removeprefix("\ufeff")).strip():
        return Merged(None)
    return _whole(WE_REMOVED if ours is None else THEY_REMOVED, base, ours, theirs, prefer)


def _whole(why: str, base: str | None, ours: str | None, theirs: str | None, prefer: Prefer) -> Merged:
    """A conflict about the whole file."""
    what = Conflict("", why, base, ours, theirs)
    if prefer != "mark":
        return Merged(ours if prefer == "ours" else theirs, (what,))
    newline = line_end(theirs or ours or "")
    sides = (_closed(text or "", newline) for text in (base, ours, theirs))
    return Merged(marked(newline, *sides) + newline, (what,))


def _closed(text: str, newline: str) -> str:
    return text if not text or text.endswith(("\n", "\r")) else text + newline
