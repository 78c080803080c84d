"""How an agent call under way looks: a line of who and what, how long and how much, and a line of what was said last."""

import time
from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from agentd.agents import live_line
from agentd.model.moment import Moment
from agentd.values import dataclass

if TYPE_CHECKING:
    from rich.text import Text

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
EVERY = 0.1


@dataclass
class Call:
    """One call under way. `used` holds the tokens by turn; under no name, those of the whole call."""

    begun: Moment
    since: float
    last: str = ""
    used: dict[str, int] = field(default_factory=dict)

    def tokens(self) -> int | None:
        return self.used.get("", sum(self.used.values())) if self.used else None

    def hear(self, line: str) -> None:
        """Take in a line the agent printed."""
        self.last = live_line.said(line) or self.last
        counted = live_line.usage(line)
        if counted:
            turn, tokens = counted
            self.used[turn] = tokens


def rows(call: Call, cost: str) -> "Iterator[Text]":
    """A call as it is drawn: who works on what, for how long and for how much; below it what the agent said last."""
    from rich.text import Text

    now = time.monotonic()
    of = call.begun
    tokens = call.tokens()
    who = " · ".join(filter(None, (of.role, f"{of.agent} ({of.model})" if of.model else of.agent)))
    facts = (who, clock(now - call.since), f"{tokens:,} tokens" if tokens is not None else "", cost)
    head = Text(no_wrap=True, overflow="ellipsis")
    head.append(f"{SPINNER[int(now / EVERY) % len(SPINNER)]} ", "cyan").append(live_line.tidy(of.step), "bold")
    yield head.append("".join(f"  {live_line.tidy(fact)}" for fact in facts if fact))
    if call.last:
        yield Text(f"  {call.last}", "dim", no_wrap=True, overflow="ellipsis")


def clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def spent(cost: float | None) -> str:
    """What the calls that ended have cost. Not knowing is not nothing."""
    if cost is None:
        return "cost unknown"
    return f"${cost:.2f} so far" if cost >= 0.01 or not cost else f"${cost:.4f} so far"
