"""Conflicts that only the merged text shows: doubled, lost or misplaced parts. Preferring a side does not settle them."""

from collections import Counter
from collections.abc import Iterator, Sequence

from agentd.library.spec.renames import body, has_words, is_id, title
from agentd.library.spec.spec_tree import Node, plain, requirements, says, tree, walk, whole
from agentd.model.merge import Conflict

TWICE = "it would be there twice"
LOST = "both sides have it, and it would be gone"
MOVED = "one side moved it, the other removed it"
ORPHANED = "scenarios would be left of a requirement that is gone"
ASTRAY = "it would come to stand under another requirement"
Words = dict[tuple[str, str], Node]  # requirements by title and text
FLAWS = (TWICE, LOST, MOVED, ORPHANED, ASTRAY)


def amiss(text: str | None, ours: str | None, theirs: str | None) -> tuple[Conflict, ...]:
    """The flaws of a text that a person merged, as far as neither side has them."""
    return tuple(doubled(*(tree(each or "") for each in (text, ours, theirs))))


def flaws(base: Node, root: Node, ours: Node, theirs: Node, settled: bool) -> list[Conflict]:
    """The flaws of a merged text; `settled`: a side was preferred where the two conflicted."""
    trees = (base, root, ours, theirs)
    words = [_by_words(node) for node in trees]
    found = [*doubled(root, ours, theirs), *_lost(*trees), *_astray(trees[1:], words[1:])]
    return found if settled else [*found, *_moved(trees, words)]


def doubled(root: Node, ours: Node, theirs: Node) -> Iterator[Conflict]:
    """Requirements that occur more often than on either side, and scenarios whose requirement is gone."""
    merged, mine, other = (requirements(node) for node in (root, ours, theirs))
    for name, nodes in merged.items():
        texts = (whole(side[name][0]) if name in side else None for side in (mine, other))
        sides = [side[name] for side in (mine, other) if name in side]
        if len(nodes) > max([1, *map(len, sides)]) or _with_words(nodes) > max([1, *map(_with_words, sides)]):
            yield Conflict(name, TWICE, None, *texts)
        elif not _with_words(nodes) and all(map(_with_words, sides)):
            yield Conflict(name, ORPHANED, None, *texts)


def _with_words(nodes: list[Node]) -> int:
    """How many of these headings are requirements with a title or a text."""
    return sum(map(has_words, nodes))


def _lost(base: Node, root: Node, ours: Node, theirs: Node) -> Iterator[Conflict]:
    """Lines that both sides have exactly once and the merged text does not have."""
    merged, mine = set(_lines(root)), Counter(_lines(ours))
    gone = [line for line, count in mine.items() if count == 1 and line not in merged]
    if gone:
        before, other = Counter(_lines(base)), Counter(_lines(theirs))
        gone = [line for line in gone if other[line] == 1 >= before[line]]
    if gone:
        yield Conflict("", LOST, None, "\n".join(gone), "\n".join(gone))


def _lines(root: Node) -> Iterator[str]:
    """The lines below the front matter, without the ids of requirements."""
    for _, node in walk(root):
        if node.kind not in ("front", "key", "fence"):
            lines = plain(node.text).split("\n")
            yield from (line for line in lines if line and not is_id(line))


def _astray(trees: Sequence[Node], words: Sequence[Words]) -> Iterator[Conflict]:
    """Scenarios below another requirement than on either side, although their own exists."""
    merged, mine, other = map(_owners, trees, words)
    there = words[0].keys()
    for said, owners in merged.items():
        wanted = mine.get(said, set()) | other.get(said, set())
        if owners - wanted and wanted & there:
            texts = ("\n".join(said) if said in side else None for side in (mine, other))
            yield Conflict(said[0].split("\n")[0].lstrip("# "), ASTRAY, None, *texts)


def _owners(root: Node, by_words: Words) -> dict[tuple[str, ...], set[tuple[str, str]]]:
    """Every scenario by its text, with the title and text of each requirement that it belongs to."""
    words = {node.name: said for said, node in by_words.items()}
    found: dict[tuple[str, ...], set[tuple[str, str]]] = {}

    def look(node: Node, of: str) -> None:
        of = node.name if node.kind == "requirement" else of
        if node.kind == "scenario" and of in words:
            found.setdefault(tuple(says(node)), set()).add(words[of])
        for child in node.children:
            look(child, of)

    look(root, "")
    return found


def _moved(trees: Sequence[Node], by_words: Sequence[Words]) -> Iterator[Conflict]:
    """Requirements and scenarios that one side removed, and that exist because the other moved them."""
    before, merged, mine, other = by_words
    for words, node in before.items():
        if words in merged and not (words in mine and words in other):
            texts = (whole(side[words]) if words in side else None for side in (before, mine, other))
            yield Conflict(node.name, MOVED, *texts)
    cases = [_cases(node) for node in trees]
    for said, name in cases[0].items():
        if said in cases[1] and not (said in cases[2] and said in cases[3]):
            yield Conflict(name, MOVED, *("\n".join(said) if said in each else None for each in (cases[0], *cases[2:])))


def _cases(root: Node) -> dict[tuple[str, ...], str]:
    """The names of the scenarios by their texts."""
    return {tuple(says(node)): f"Scenario: {node.name}" for _, node in walk(root) if node.kind == "scenario"}


def _by_words(root: Node) -> Words:
    """The requirements by title and text, whatever their ids."""
    best: dict[str, Node] = {}
    for _, node in walk(root):
        known = best.get(node.name)
        if node.kind == "requirement" and (known is None or (body(node) and not body(known))):
            best[node.name] = node
    return {(title(node), body(node)): node for node in best.values() if has_words(node)}
