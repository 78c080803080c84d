"""Something that happens during an agent call, for whoever watches it."""

from typing import Literal, NamedTuple


class Moment(NamedTuple):
    """`begin` and `end` frame a call; each `line` between them is one line the agent printed, as it came.

    At the end `tokens` and `cost` are what this call used, and None where that is unknown.
    """

    kind: Literal["begin", "line", "end"]
    call: str
    step: str
    role: str = ""
    agent: str = ""
    model: str = ""
    line: str = ""
    tokens: int | None = None
    cost: float | None = None
