"""The limits on what calls may cost: whether the next one would go beyond. It is asked before a call, never during one."""

from collections.abc import Mapping
from typing import Literal

from agentd.usage.calls import Spent
from agentd.usage.prices import dollars
from agentd.values import dataclass

Which = Literal["call", "change", "day", "calls"]


@dataclass(frozen=True)
class Limits:
    """The `[budget]` section: US dollars and a number of calls; 0 is no limit."""

    per_call: float = 0.0
    per_change: float = 0.0
    per_day: float = 0.0
    calls_per_change: int = 0


@dataclass(frozen=True)
class Excess:
    """A limit that is reached, by which figure, in one sentence. A person who allows more allows it from `spent` on."""

    which: Which
    limit: float
    spent: float
    text: str


def exceeded(
    limits: Limits,
    change: Spent,
    day_cost: float,
    last_call: float | None,
    expected: float | None,
    from_: Mapping[str, float],
) -> Excess | None:
    """The first limit that stands against the next call.

    `from_` has, by limit, the `spent` from which a person allowed more; that of the day holds for its day only.
    What a person allowed is at least one call, however much that one is expected to cost.
    """
    unknown = f" besides {_calls(change.unknown)} of unknown cost" if change.unknown else ""
    so_far = f"This change has cost {dollars(change.cost)}{unknown}"
    today = f"Today's calls have cost {dollars(day_cost)}"
    return (
        _by_one_call(limits.per_call, last_call, expected, from_.get("call"))
        or _in_all("change", limits.per_change, change.cost, so_far, expected, from_.get("change"))
        or _in_all("day", limits.per_day, day_cost, today, expected, from_.get("day"))
        or _by_number(limits.calls_per_change, change.calls, from_.get("calls"))
    )


def _by_one_call(limit: float, last: float | None, expected: float | None, start: float | None) -> Excess | None:
    figures = ((last, "The last call cost"), (expected, "The next call may cost about"))
    figure, words = max(((figure or 0.0, words) for figure, words in figures), key=lambda pair: pair[0])
    if not limit or figure - (start or 0.0) <= limit:
        return None
    return Excess("call", limit, figure, f"{words} {dollars(figure)}, and [budget] per_call allows {dollars(limit)}.")


def _in_all(
    which: Which, limit: float, spent: float, words: str, expected: float | None, start: float | None
) -> Excess | None:
    if start is not None and start > spent:
        start = None  # it was allowed on another day
    since = round(spent - (start or 0.0), 6)
    granted = start is not None and since == 0
    if not limit or (since < limit and (granted or expected is None or since + expected <= limit)):
        return None
    if start is not None:
        words += f", {dollars(since)} of it since more was allowed"
    if since < limit:
        words += f", the next call may cost about {dollars(expected or 0.0)}"
    return Excess(which, limit, spent, f"{words}, and [budget] per_{which} allows {dollars(limit)}.")


def _by_number(limit: int, calls: int, start: float | None) -> Excess | None:
    if not limit or calls - (start or 0) < limit:
        return None
    more = "" if start is None else " more each time"
    text = f"This change has made {_calls(calls)}, and [budget] calls_per_change allows {limit}{more}."
    return Excess("calls", limit, calls, text)


def _calls(number: int) -> str:
    return f"{number} {'call' if number == 1 else 'calls'}"
