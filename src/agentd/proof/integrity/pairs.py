"""Which test of before is which test of now, whatever its name and its file are now."""

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from agentd.proof.integrity.claim_pairs import is_table, keeps_values, shape
from agentd.proof.integrity.parsed import Test
from agentd.proof.integrity.paths import is_collected
from agentd.values import dataclass

_ALIKE = 0.75
_MOST = 40  # tests that are compared with each other by likeness


@dataclass(frozen=True)
class Placed:
    """A test and its file."""

    file: str
    test: Test


# What identifies a test, the surest first.
_KEYS: tuple[Callable[[Placed], tuple[str, str]], ...] = (
    lambda each: (each.file, each.test.name),
    lambda each: ("", each.test.name),
    lambda each: (each.file, each.test.short),
    lambda each: ("", each.test.short),
    lambda each: ("", each.test.body),
)


def pair_tests(
    old: Sequence[Placed], new: Sequence[Placed]
) -> tuple[list[tuple[Placed, Placed]], list[Placed], list[Placed]]:
    """The pairs, the tests that are gone, and those that are new."""
    gone, fresh, pairs = list(old), list(new), []
    for key in _KEYS:
        places: dict[tuple[str, str], list[Placed]] = {}
        for now in fresh:
            places.setdefault(key(now), []).append(now)
        found = []
        for before in gone:
            free = places.get(key(before), [])
            at = next((at for at, each in enumerate(free) if _may_move(before, each)), -1)
            if at >= 0:
                found.append((before, free.pop(at)))
        pairs += found
        paired = {id(each) for both in found for each in both}
        gone = [each for each in gone if id(each) not in paired]
        fresh = [each for each in fresh if id(each) not in paired]
    for before in list(gone)[:_MOST]:
        alike = _alike(before, fresh)
        if alike:
            pairs.append((before, alike))
            gone.remove(before)
            fresh.remove(alike)
    return pairs, [before for before in gone if not _is_covered(before, fresh)], fresh


def _is_covered(before: Placed, fresh: Sequence[Placed]) -> bool:
    """Whether new tests claim everything that a test claimed."""
    claims = [claim for claim in before.test.real if not claim.called] or before.test.real
    tests = [now.test for now in fresh if _may_move(before, now)]
    return bool(claims) and all(
        any(claim.text == other.text for test in tests for other in test.real)
        or any(
            shape(claim) == shape(other, test.names) and keeps_values(claim, test)
            for test in filter(is_table, tests)
            for other in test.real
        )
        for claim in claims
    )


def _alike(before: Placed, fresh: Sequence[Placed]) -> Placed | None:
    best, found = _ALIKE, None
    for now in fresh[:_MOST]:
        if not _may_move(before, now):
            continue
        match = SequenceMatcher(None, before.test.body[:4000], now.test.body[:4000], autojunk=False)
        if match.real_quick_ratio() > best and match.quick_ratio() > best and (ratio := match.ratio()) > best:
            best, found = ratio, now
    return found


def _may_move(before: Placed, now: Placed) -> bool:
    """Whether a test that was in one place may be the one in the other: it must not leave the files that are collected."""
    return before.file == now.file or is_collected(now.file) or not is_collected(before.file)
