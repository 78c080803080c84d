"""Which test of before goes on as which test of now, under whatever name and in whatever file."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from agentd.proof.integrity.paths import is_collected
from agentd.proof.integrity.reading import Claim, Test

_ALIKE = 0.75
_LITERAL = re.compile(
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\b\d[\w.]*|\b(?:True|False|None|true|false|null|nothing)\b"
)
_LISTED = re.compile(r"[\[({]_(?:, ?_)*,?[\])}]|\[\]|\{\}")


@dataclass(frozen=True)
class Placed:
    """A test and its file."""

    file: str
    test: Test


def pair(
    old: Sequence[Placed], new: Sequence[Placed]
) -> tuple[list[tuple[Placed, Placed]], list[Placed], list[Placed]]:
    """The pairs, the tests that are gone, and those that are new."""
    gone, fresh, pairs = list(old), list(new), []
    for key in (_here, _name, _short_here, _short, _body):
        places: dict[tuple[str, str], list[Placed]] = {}
        for now in fresh:
            places.setdefault(key(now), []).append(now)
        found = []
        for before in gone:
            free = places.get(key(before), [])
            at = next((at for at, each in enumerate(free) if _may_go(before, each)), -1)
            if at >= 0:
                found.append((before, free.pop(at)))
        pairs += found
        taken = {id(each) for both in found for each in both}
        gone = [each for each in gone if id(each) not in taken]
        fresh = [each for each in fresh if id(each) not in taken]
    for before in list(gone)[:40]:
        alike = _alike(before, fresh)
        if alike:
            pairs.append((before, alike))
            gone.remove(before)
            fresh.remove(alike)
    return pairs, [before for before in gone if not _covered(before, fresh)], fresh


def shape(claim: Claim, names: Iterable[str] = ()) -> str:
    """A claim without its values, and without the names that stand for values."""
    text = _LITERAL.sub("_", claim.text)
    words = [re.escape(name) for name in names]
    if words:
        text = re.sub(rf"\b(?:{'|'.join(words)})\b", "_", text)
    while (less := _LISTED.sub("_", text)) != text:
        text = less
    return re.sub(r"\s", "", text)


def keeps_values(claim: Claim, test: Test) -> bool:
    """Whether every value of a claim still stands somewhere in a test that now has them in a table."""
    said = test.body + " ".join(value for row in test.rows or () for value in row.values)
    return all(literal in said for literal in _LITERAL.findall(claim.text) if literal != "nothing")


def is_table(test: Test) -> bool:
    """Whether a test takes its values from a table."""
    return test.rows is not None or test.many or any(claim.most > 1 for claim in test.claims)


def _covered(before: Placed, fresh: Sequence[Placed]) -> bool:
    """Whether all that a test claimed is claimed by new tests."""
    claims = [claim for claim in before.test.real if not claim.called] or before.test.real
    fresh = [now for now in fresh if _may_go(before, now)]
    return bool(claims) and all(
        any(claim.text == other.text for now in fresh for other in now.test.real)
        or any(
            shape(claim) == shape(other, now.test.names) and keeps_values(claim, now.test)
            for now in fresh
            if is_table(now.test)
            for other in now.test.real
        )
        for claim in claims
    )


def _alike(before: Placed, fresh: Sequence[Placed]) -> Placed | None:
    best, found = _ALIKE, None
    for now in fresh[:40]:
        if not _may_go(before, now):
            continue
        match = SequenceMatcher(None, before.test.body[:4000], now.test.body[:4000], autojunk=False)
        if match.real_quick_ratio() > best and match.quick_ratio() > best and (ratio := match.ratio()) > best:
            best, found = ratio, now
    return found


def _may_go(before: Placed, now: Placed) -> bool:
    return before.file == now.file or is_collected(now.file) or not is_collected(before.file)


def _here(placed: Placed) -> tuple[str, str]:
    return placed.file, placed.test.name


def _name(placed: Placed) -> tuple[str, str]:
    return "", placed.test.name


def _short_here(placed: Placed) -> tuple[str, str]:
    return placed.file, placed.test.short


def _short(placed: Placed) -> tuple[str, str]:
    return "", placed.test.short


def _body(placed: Placed) -> tuple[str, str]:
    return "", placed.test.body
