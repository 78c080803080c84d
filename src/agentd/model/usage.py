"""What one agent call used; an unknown figure stays None and is never taken for zero."""

from agentd.values import dataclass


@dataclass(frozen=True)
class Usage:
    """Tokens and cost of one call, as the agent reported them. `cached_in` is the part of `tokens_in` read from a cache."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    duration_ms: int | None = None
    cached_in: int | None = None
