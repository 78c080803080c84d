"""The three-way merge of spec trees: pieces of text where the sides agree, clashes where they do not."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from agentd.library.spec import front_matter_merge
from agentd.library.spec.part_order import orders
from agentd.library.spec.renames import is_another
from agentd.library.spec.spec_tree import Key, Node, Path, plain, says, walk, whole
from agentd.model.merge import Conflict

CHANGED = "both changed it"
ADDED = "both added it, with different texts"
WE_REMOVED = "the change removes it, the library changed it"
THEY_REMOVED = "the library removed it, the change changed it"
MOVED = "both put it in another order"


class Piece(NamedTuple):
    """A text of the merged file, and its path in the trees."""

    path: Path
    text: str


class Clash(NamedTuple):
    """A conflict, with the pieces of each side."""

    conflict: Conflict
    path: Path
    base: tuple["Piece | Clash", ...]
    ours: tuple["Piece | Clash", ...]
    theirs: tuple["Piece | Clash", ...]


Pieces = list[Piece | Clash]


def combined(base: Node, ours: Node, theirs: Node) -> Pieces:
    """The pieces of the merged file; both sides must have the keys of the base (see `renames`)."""
    return _below(base, ours, theirs, (), ())


def conflicts(pieces: Iterable[Piece | Clash]) -> Iterator[Conflict]:
    """Every conflict, in the order of the file."""
    for piece in pieces:
        if isinstance(piece, Clash):
            yield piece.conflict
            yield from conflicts(piece.theirs)


def pieces_of(node: Node | None, path: Path) -> tuple[Piece, ...]:
    """A node and all below it, unchanged."""
    return tuple(Piece(at, each.text) for at, each in walk(node, path)) if node else ()


def _both(base: Node | None, ours: Node, theirs: Node, path: Path, names: tuple[str, ...]) -> Pieces:
    """Merge a part that both sides have."""
    if ours in (theirs, base):
        return [*pieces_of(theirs, path)]
    if theirs == base:
        return [*pieces_of(ours, path)]
    names = _names(names, base or min(ours, theirs))
    kind = ours.kind
    if base and (is_another(ours, base) or is_another(theirs, base)):
        return [_clash(CHANGED, base, ours, theirs, path, names)]
    text = settled(base.text if base else None, ours.text, theirs.text)
    if text is None and kind == "key":
        text = front_matter_merge.settled(base, ours, theirs)
    if text is None and base is None and kind in ("requirement", "scenario"):
        return [_clash(ADDED, None, ours, theirs, path, names)]
    own: Piece | Clash
    if text is None:
        bare = [node and node._replace(children=()) for node in (base, ours, theirs)]
        own = _clash(CHANGED if base else ADDED, bare[0], bare[1], bare[2], path, names)
    else:
        own = Piece(path, text)
    return [own, *_below(base, ours, theirs, path, names)]


def settled(base: str | None, ours: str, theirs: str) -> str | None:
    """The text with the changes of both sides; None if they conflict. White space at line ends does not count."""
    if ours in (base, theirs):
        return theirs
    if theirs == base:
        return ours
    said = None if base is None else plain(base)
    if plain(ours) == plain(theirs):
        return min(ours, theirs, key=lambda text: (len(text), text))
    if plain(ours) == said:
        return theirs
    return ours if plain(theirs) == said else None


def _below(base: Node | None, ours: Node, theirs: Node, path: Path, names: tuple[str, ...]) -> Pieces:
    """Merge the children of a part."""
    before, mine, other = (
        {child.key: child for child in node.children} if node else {} for node in (base, ours, theirs)
    )
    found: dict[Key, Pieces] = {}
    for key in {**mine, **other}:
        node, here = before.get(key), (*path, key)
        if key in mine and key in other:
            found[key] = _both(node, mine[key], other[key], here, names)
        elif node is None:
            found[key] = [*pieces_of(mine.get(key) or other.get(key), here)]
        elif says(mine.get(key) or other[key]) == says(node):
            continue  # one side removed what the other left unchanged
        elif node.kind == "key" and node.name in front_matter_merge.BOOKS:
            found[key] = [*pieces_of(mine.get(key) or other.get(key), here)]
        else:
            why = THEY_REMOVED if key in mine else WE_REMOVED
            found[key] = [_clash(why, node, mine.get(key), other.get(key), here, _names(names, node))]
    one, two = orders(tuple(before), tuple(mine), tuple(other), found)
    if one == two or ours.kind == "front":
        return [piece for key in min(one, two) for piece in found[key]]
    listed = (_listed(before, before), _listed(one, {**other, **mine}), _listed(two, {**mine, **other}))
    what = Conflict(f"order of {' / '.join(names) or 'the sections'}", MOVED, *listed)
    whole_base = [piece for key, node in before.items() for piece in pieces_of(node, (*path, key))]
    sides = (tuple(piece for key in order for piece in found[key]) for order in (one, two))
    return [Clash(what, (*path, one[0]), tuple(whole_base), *sides)]


def _listed(keys: Iterable[Key], nodes: dict[Key, Node]) -> str:
    return "\n".join(plain(nodes[key].text).split("\n")[0] for key in keys)


def _clash(
    why: str, base: Node | None, ours: Node | None, theirs: Node | None, path: Path, names: Sequence[str]
) -> Clash:
    texts = [None if node is None else whole(node) for node in (base, ours, theirs)]
    return Clash(
        Conflict(" / ".join(names), why, *texts), path, *(pieces_of(node, path) for node in (base, ours, theirs))
    )


def _names(names: tuple[str, ...], node: Node) -> tuple[str, ...]:
    """The names by which a conflict calls a part; a requirement is called by its id alone."""
    number = f" ({node.key[2]})" if node.key[2] > 1 else ""
    if node.kind == "key":
        return (f"front matter: {node.name}{number}",)
    if node.kind == "requirement":
        return (f"{node.name}{number}",)
    known = {
        "front": "front matter",
        "fence": "front matter",
        "text": "text before the first heading",
        "title": "title",
    }
    label = known.get(node.kind) or (f"Scenario: {node.name}" if node.kind == "scenario" else node.name)
    return (*(() if node.kind == "fence" else names), label + number)
