"""What follows from a call that failed: once more, afresh, another agent, a pause for a person, or the end. Pure."""

from typing import Literal

from agentd.model.job import Failure

Move = Literal["again", "afresh", "other", "pause", "stop"]

# A service that asks for more patience than this is out of quota for all that matters here.
PATIENCE = 600.0
LONGEST = 300.0
MOVES: dict[Failure, tuple[Move, ...]] = {
    "lost": ("afresh", "stop"),
    "transient": ("again", "other", "stop"),
    "quota": ("other", "pause"),
    "auth": ("other", "pause"),
    "hang": ("other", "stop"),
    "unreadable": ("other", "stop"),
    "refused": ("stop",),
    "failed": ("stop",),
}


def next_move(failure: Failure, tries: int, retries: int, others: bool, resumed: bool, asked: float = 0.0) -> Move:
    """The first move of the failure's class that can be made.

    `tries` is how often this agent was called, `others` whether another one is left, `resumed` whether a conversation
    was to go on, `asked` the seconds its service asks to wait.
    """
    kind: Failure = "quota" if failure == "transient" and asked > PATIENCE else failure
    possible = {"again": tries <= retries, "afresh": resumed, "other": others}
    return next(move for move in MOVES[kind] if possible.get(move, True))


def delay(tries: int, first: float, asked: float = 0.0) -> float:
    """How long to wait before the next try: twice as long each time, but never less than was asked for."""
    return float(max(asked, min(LONGEST, first * 2 ** (tries - 1))))
