"""Where a command can be killed: the points that it passes, each at its moments."""

import random
from collections.abc import Sequence

MOMENTS = ("before", "torn", "after")
AT_ONCE = (("step", "journal"), ("journal", "state"), ("journal", "child"))


def places(points: Sequence[str], alone: bool) -> list[str]:
    """Every place to die: three in a write, one at a boundary. Where the parts of a save follow each other, the disk is
    the same after one and before the next, which is one place."""
    found = []
    before = ""
    for line in points:
        role, number = line.split()
        moments = MOMENTS[:1] if role == "step" else MOMENTS
        same = alone and (before, role) in AT_ONCE
        found += [f"{role}:{number}:{when}" for when in (moments[1:] if same else moments)]
        before = role
    return found


def some(found: Sequence[str], count: int, seed: str) -> list[str]:
    """A sample that takes each kind of place, role and moment, in turn."""
    dice = random.Random(seed)
    shuffled = dice.sample(found, len(found))
    kinds: dict[str, list[str]] = {}
    for place in shuffled:
        role, _, moment = place.split(":")
        kinds.setdefault(f"{role}:{moment}", []).append(place)
    turns = [place for turn in range(len(found)) for kind in kinds.values() for place in kind[turn : turn + 1]]
    return turns[:count]
