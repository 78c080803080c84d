"""A forecast of the tokens and the cost of planning a change, from earlier calls of the project."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from math import ceil

from agentd.calling import roster
from agentd.families.change import LAYOUT
from agentd.model.models import AgentModel
from agentd.model.usage import Usage
from agentd.runs import costs
from agentd.runs.work import Work
from agentd.usage.calls import kind
from agentd.usage.ledger import Entry, mean_cost
from agentd.usage.prices import price
from agentd.values import dataclass

TYPICAL: Mapping[str, tuple[int, int]] = {  # tokens in and out of one call
    "clarification": (5_000, 500),
    "proposal-gen": (15_000, 1_000),
    "proposal-review": (8_000, 667),
    "spec-gen": (12_000, 1_000),
    "spec-review": (8_000, 444),
    "tasks-gen": (18_000, 1_500),
    "tasks-review": (8_000, 500),
    "challenge": (25_000, 2_000),
    "reproposal": (20_000, 2_000),
}
REVIEWS = 1.5
SPECS = 3


@dataclass(frozen=True)
class Forecast:
    """A first round of planning. `cost` is None if a kind of call has no price; `unpriced` names these kinds."""

    tokens_in: int
    tokens_out: int
    cost: float | None
    calls: int
    basis: str
    unpriced: tuple[str, ...] = ()


def foresee(work: Work) -> str:
    """The forecast for a change, in words."""

    def model(kind: str) -> tuple[AgentModel | None, str]:
        agent = roster.name(work.project, "challenger" if kind == "challenge" else "planner")
        found = work.project.config.model_for(agent, "medium")
        return found, found.model if found else f"{agent}'s own model"

    entries = costs.read_ledger(work.project)
    latest = {_kind(entry.step): entry.model for entry in entries if entry.model}

    def cost(kind: str, tokens_in: int, tokens_out: int) -> float | None:
        own, name = model(kind)
        return price(Usage(tokens_in, tokens_out), own, latest.get(kind, "") if own is None else name)

    found = forecast(entries, None, cost)
    return in_words(found, {kind: model(kind)[1] for kind in found.unpriced})


def _kind(step: str) -> str:
    return kind(step, LAYOUT.kinds)


def forecast(entries: Iterable[Entry], specs: int | None, price: Callable[[str, int, int], float | None]) -> Forecast:
    """The calls of a first round, each with the mean tokens and cost of its kind in the ledger, or typical ones.

    Calls whose cost was kept say what such a call costs, to the budget and here; `price` is for kinds without any.
    """
    entries = list(entries)
    past = _gather(entries)
    counts = _counts(past, specs)
    each = {name: past.mean(name) for name in counts}
    means = {name: mean_cost(entries, name, LAYOUT.kinds) for name in counts}
    prices = {
        name: price(name, *each[name]) if (mean := means[name]) is None else mean
        for name, calls in counts.items()
        if calls
    }
    costs = [calls * found for name, calls in counts.items() if (found := prices.get(name)) is not None]
    unpriced = tuple(name for name, found in prices.items() if found is None)
    return Forecast(
        tokens_in=sum(calls * each[name][0] for name, calls in counts.items()),
        tokens_out=sum(calls * each[name][1] for name, calls in counts.items()),
        cost=None if unpriced else sum(costs),
        calls=counts.total(),
        basis=_basis([past.known[name] for name in prices], bool(past.calls)),
        unpriced=unpriced,
    )


def in_words(found: Forecast, models: Mapping[str, str] | None = None) -> str:
    """The forecast as one line; `models` has the model of each kind of call, to name those without a price."""
    why = ""
    if found.unpriced:
        names = dict.fromkeys((models or {}).get(name) or name for name in found.unpriced)
        why = f"no price for {', '.join(names)}; "
    cost = (
        "cost unknown" if found.cost is None else f"${found.cost:,.2f}" if found.cost >= 0.005 else "less than a cent"
    )
    used = f"{_short(found.tokens_in)} tokens in, {_short(found.tokens_out)} out"
    return f"Forecast: about {found.calls} calls, {used}, {cost} ({why}{found.basis})"


@dataclass
class _Past:
    """The ledger by kind of call. `steps` and `calls` count runs that reached a challenge, or all if none did."""

    known: Counter[str] = field(default_factory=Counter)
    tokens_in: Counter[str] = field(default_factory=Counter)
    tokens_out: Counter[str] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    with_specs: int = 0

    def mean(self, name: str) -> tuple[int, int]:
        number = self.known[name]
        return (
            (round(self.tokens_in[name] / number), round(self.tokens_out[name] / number)) if number else TYPICAL[name]
        )

    def reviews(self, document: str) -> float:
        """How many reviews a document of this kind has on average."""
        documents, reviews = self.steps[f"{document}-gen"], self.calls[f"{document}-review"]
        return reviews / documents if documents and (reviews or self.calls["challenge"]) else REVIEWS


def _gather(entries: Iterable[Entry]) -> _Past:
    past = _Past()
    runs: dict[str, Counter[str]] = defaultdict(Counter)
    for entry in entries:
        runs[entry.run][entry.step] += 1
        name = _kind(entry.step)
        if entry.tokens_in is not None and entry.tokens_out is not None:
            past.known[name] += 1
            past.tokens_in[name] += entry.tokens_in
            past.tokens_out[name] += entry.tokens_out
    whole = [steps for steps in runs.values() if "challenge" in steps]
    for steps in whole or runs.values():
        for step, calls in steps.items():
            past.steps[_kind(step)] += 1
            past.calls[_kind(step)] += calls
        past.with_specs += any(_kind(step) == "spec-gen" for step in steps)
    return past


def _counts(past: _Past, specs: int | None) -> Counter[str]:
    """How many calls of each kind; reviews are rounded up for all documents of a kind: three specs at 1.5 make five."""
    if specs is None:
        specs = round(past.steps["spec-gen"] / past.with_specs) if past.with_specs else SPECS
    return Counter(
        {
            "clarification": 1,
            "proposal-gen": 1,
            "proposal-review": ceil(past.reviews("proposal")),
            "spec-gen": specs,
            "spec-review": ceil(specs * past.reviews("spec")),
            "tasks-gen": 1,
            "tasks-review": ceil(past.reviews("tasks")),
            "challenge": 1,
        }
    )


def _basis(known: list[int], called: bool) -> str:
    number = sum(known)
    if not number:
        return f"typical figures: this project has no {'such ' if called else ''}calls yet"
    rest = "" if all(known) else ", typical figures for the rest"
    return f"from {number} earlier {'call' if number == 1 else 'calls'} of this project{rest}"


def _short(tokens: int) -> str:
    if tokens < 1000:
        return str(tokens)
    return f"{tokens / 1000:.0f}k" if tokens < 999_500 else f"{tokens / 1_000_000:.1f}M"
