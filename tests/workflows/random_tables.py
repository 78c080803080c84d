"""Tables that nobody would write: random steps, edges, limits, gates and phases, most of them sound."""

from random import Random

from hypothesis import strategies as st

from agentd.model.workflow import RELATIVE, Edge, Kind, Step, Workflow

ARTIFACTS = ("a.md", "b.md", "c/", "d-*.json")
CHECKS = ("sky_is_blue", "tests_are_green")
KINDS: tuple[Kind, ...] = ("agent", "agent", "do", "ask")


def random_tables() -> st.SearchStrategy[Workflow]:
    """Made from a size and a seed: drawing every edge would cost a hundred times as much as walking the table."""
    return st.builds(make, st.integers(2, 9), st.integers(0, 2**32))


def make(size: int, seed: int) -> Workflow:
    """File order is the backbone; what leaves it is limited, asked for, or, in one table of six, wild."""
    random = Random(seed)
    wild = random.randrange(6) == 0
    phases = sorted(random.randrange(4) for _ in range(size))
    made: list[str] = []
    steps = {}
    for number in range(size):
        kind = random.choice(KINDS)
        free = kind != "ask" or wild
        needs = _some(random, (*CHECKS, *(name for name in made if "*" not in name)), 2)
        steps[f"s{number}"] = Step(
            name=f"s{number}",
            phase=f"p{phases[number]}",
            kind=kind,
            what="x",
            next={"go": Edge(f"s{number + 1}")} | _others(random, number, size, kind, wild),
            needs=needs,
            when=_some(random, CHECKS, 1) if free else (),
            produces=_some(random, ARTIFACTS, 2) if free else (),
        )
        made += steps[f"s{number}"].produces
    steps[f"s{size}"] = Step(f"s{size}", "p4", "end", "over")
    failed = Edge("@again", random.randrange(3), f"s{random.randrange(size + 1) if wild else size}")
    defaults = {"failed": failed} if random.random() < 0.5 else {}
    return Workflow("random", steps, {"full": "s0"}, defaults=defaults, source=f"make({size}, {seed})")


def _others(random: Random, number: int, size: int, kind: Kind, wild: bool) -> dict[str, Edge]:
    found = {}
    for word in ("b1", "b2", "failed")[: random.randrange(4)]:
        to = random.choice(RELATIVE) if random.random() < 0.3 else f"s{random.randrange(size + 1)}"
        then = f"s{random.randrange(size + 1) if wild else random.randint(number + 1, size)}"
        limit, rewind, waive = random.randrange(4), random.random() < 0.4, random.random() < 0.5
        if kind == "ask" and random.random() < 0.7:
            found[word] = Edge(to, rewind=rewind, waive=waive)
        elif wild and random.random() < 0.5:
            found[word] = Edge(to, rewind=rewind)
        else:
            found[word] = Edge(to, limit, then, rewind, waive and kind == "ask")
    return found


def _some(random: Random, names: tuple[str, ...], most: int) -> tuple[str, ...]:
    return tuple(random.sample(names, random.randrange(min(most, len(names)) + 1)))
