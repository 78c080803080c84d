"""The merged order of parts, where each side may have added, removed and moved some."""

from collections.abc import Collection, Sequence
from itertools import accumulate

from agentd.library.spec.spec_tree import Key
from agentd.patterns import regex

_DIGITS = regex(r"([0-9]+)")
_RANKS = {"front": 0, "text": 1, "tag": 2, "title": 3, "fence": 6}
_Rank = tuple[int, tuple[str | tuple[int, str], ...], str, str, int]


def orders(
    base: Sequence[Key], ours: Sequence[Key], theirs: Sequence[Key], kept: Collection[Key]
) -> tuple[list[Key], list[Key]]:
    """The order of the kept parts by ours and by theirs; a conflict if the two differ."""
    ours = [key for key in ours if key in kept]
    theirs = [key for key in theirs if key in kept]
    in_ours, in_theirs = set(ours), set(theirs)
    mine = [key for key in ours if key in in_theirs]
    other = [key for key in theirs if key in in_ours]
    if mine != other:  # compare the parts of the base only: what both added may be in two places
        before = [key for key in base if key in in_ours and key in in_theirs]
        known = set(before)
        mine = [key for key in mine if key in known]
        other = [key for key in other if key in known]
        if mine == before:
            mine = other
        elif other == before:
            other = mine
    woven = _woven(mine, ours, theirs)
    return (woven, woven) if mine == other else (woven, _woven(other, ours, theirs))


def _woven(spine: Sequence[Key], ours: Sequence[Key], theirs: Sequence[Key]) -> list[Key]:
    """Insert each remaining part after its predecessor on its own side."""
    places = {key: place for place, key in enumerate(spine, 1)}
    first: dict[Key, int] = {}
    slots: list[tuple[list[Key], list[Key]]] = [([], []) for _ in range(len(spine) + 1)]
    for side, keys in enumerate((ours, theirs)):
        place = 0
        for key in keys:
            place = places.get(key, place)
            if key not in places:
                slots[place][side].append(key)
                first[key] = min(place, first.get(key, place))
    result: list[Key] = []
    for place, (mine, other) in enumerate(slots):
        result += spine[place - 1 : place] if place else ()
        result += blended(*([key for key in keys if first[key] == place] for keys in (mine, other)))
    return result


def blended(one: Sequence[Key], other: Sequence[Key]) -> list[Key]:
    """Two lists merged by number and name; each keeps its own order.

    Each key is ranked by the highest key up to it in its list, so that the result does not depend on which list is first.
    """
    if not one or not other:
        return list(one or other)
    entries = []
    for keys in (one, other):
        ranks = accumulate(map(_rank, keys), max)
        entries += [(rank, place, key) for place, (rank, key) in enumerate(zip(ranks, keys, strict=True))]
    return list(dict.fromkeys(key for _, _, key in sorted(entries)))


def _rank(key: Key) -> _Rank:
    """R4 sorts before R10; front matter and title sort first, the closing tag last."""
    kind, name, number = key
    words = _DIGITS.split(name)
    natural = tuple((len(word.lstrip("0")), word.lstrip("0")) if at % 2 else word for at, word in enumerate(words))
    return 5 if name == "</spec>" and kind == "tag" else _RANKS.get(kind, 4), natural, kind, name, number
