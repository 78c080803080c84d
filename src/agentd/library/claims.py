"""Which requirements a change lays claim to, and whether another change claims them too."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from agentd.model.change import Requirement, Scenario, Spec, Tasks
from agentd.model.finding import Finding
from agentd.model.rules import Rules

_SHOWN = 3


class Claim(NamedTuple):
    """A requirement that a change writes or implements, and where it says so; `sure`: one of its tasks names it.

    Without a requirement it is the spec as a whole, which the change removes.
    """

    spec: str
    requirement: str
    file: str
    line: int
    sure: bool = False


class Stake(NamedTuple):
    """All that one change claims; `home` is the folder its files are named from."""

    change: str
    claims: tuple[Claim, ...]
    home: str = ""


@lru_cache(4096)  # each is asked for by several checks
def named(spec_ref: str) -> tuple[str, str]:
    """The spec and the requirement of `auth:R1`; `specs/auth.md#R1` says the same."""
    spec, _, requirement = spec_ref.strip().replace("#", ":").rpartition(":")
    spec = spec.strip().removeprefix("./").removeprefix("specs/").removesuffix(".md")
    return spec, requirement.strip()


def changed(spec: Spec, before: Spec | None) -> frozenset[str]:
    """The requirements a spec adds to what was there before, or says in other words, their scenarios included."""
    known = _by_id(before) if before else {}
    return frozenset(name for name, entry in _by_id(spec).items() if known.get(name) != entry)


def _by_id(spec: Spec) -> dict[str, tuple[Requirement, list[Scenario]]]:
    scenarios = defaultdict(list)
    for scenario in spec.scenarios:
        scenarios[scenario.requirement].append(scenario)
    return {entry.id: (entry, scenarios[entry.id]) for entry in spec.requirements}


def claims(specs: Mapping[str, Spec], tasks: Tasks | None, removed: Iterable[tuple[str, int]] = ()) -> Iterator[Claim]:
    """Everything a change may claim, each once. What a spec has is only a claim for sure if a task names it.

    `removed` are the specs that it removes, with the lines of proposal.md that say so.
    """
    yield from (Claim(name, "", "proposal.md", line, True) for name, line in removed)
    tasked = {named(task.spec_ref): task.line for task in reversed(tasks.tasks)} if tasks else {}
    seen = set()
    for name, spec in specs.items():
        for entry in spec.requirements:
            key = (name, entry.id)
            if key not in seen:
                seen.add(key)
                yield Claim(name, entry.id, f"specs/{name}.md", entry.line, key in tasked)
    for key, line in tasked.items():
        if all(key) and key not in seen:
            yield Claim(*key, "tasks.md", line, True)


def contested(
    stakes: Iterable[Stake], changed: Callable[[str, str], frozenset[str]]
) -> dict[tuple[str, str], list[str]]:
    """The requirements that more than one change claims, with the names of the changes in order.

    `changed` tells which requirements of a spec a change does not only repeat; it is asked where it matters. A spec
    that one change removes is contested, without a requirement, if another one claims any of its requirements.
    """
    by_key = defaultdict(list)
    for stake in stakes:
        for claim in stake.claims:
            by_key[claim.spec, claim.requirement].append((stake.change, claim))
    removed = {spec for spec, requirement in by_key if not requirement}
    for (spec, requirement), several in by_key.items() if removed else ():
        if requirement and spec in removed:
            by_key[spec, ""] += several
    found = {}
    for key, several in by_key.items():
        if len(several) > 1:
            names = {name for name, claim in several if claim.sure or claim.requirement in changed(name, claim.spec)}
            if len(names) > 1:
                found[key] = sorted(names)
    return found


def no_requirement_is_claimed_twice(
    stake: Stake, claimants: Mapping[tuple[str, str], Sequence[str]], rules: Rules
) -> Iterator[Finding]:
    """A finding for each requirement of a change that another one claims as well, and for each spec that one removes."""
    told = set()
    for claim in stake.claims:
        for key in ((claim.spec, claim.requirement), (claim.spec, "")):
            changes = claimants.get(key, ())
            if stake.change in changes and key not in told:
                told.add(key)
                yield _twice(stake, claim, key, changes, rules)


def _twice(stake: Stake, claim: Claim, key: tuple[str, str], changes: Sequence[str], rules: Rules) -> Finding:
    spec, requirement = key
    others = [name for name in changes[: _SHOWN + 1] if name != stake.change][:_SHOWN]
    more = len(changes) - 1 - len(others)
    who = ", ".join(others) + (f" and {more} more" if more else "")
    what = f"{spec}:{requirement}" if requirement else f"{spec}, which one of these changes removes,"
    return Finding(
        "claimed_twice",
        f"{what} is claimed by {who} too",
        claim.line,
        rules.severity("claimed_twice"),
        f"agree which change keeps {requirement or spec}, or archive the other one first: agentd status {others[0]}",
        f"{stake.home}/{claim.file}" if stake.home else claim.file,
    )
