"""The models an agent has, each good for work up to some complexity, and the choice among them."""

from collections.abc import Sequence
from typing import Literal, get_args

from agentd.values import dataclass

Complexity = Literal["low", "medium", "high", "critical"]
COMPLEXITIES: tuple[Complexity, ...] = get_args(Complexity)


@dataclass(frozen=True)
class AgentModel:
    """One model of an agent; `effort` is how hard it thinks, in its agent's words. A price that is None is not known."""

    id: str
    model: str
    complexity: Complexity
    effort: str = ""
    cost_per_1m_input: float | None = None
    cost_per_1m_output: float | None = None
    cost_per_1m_cached: float | None = None


def assess(specs: int, tasks: int) -> Complexity:
    """How complex a change is, by its number of specs and tasks; medium before there are any."""
    score = specs + tasks
    if score == 0:
        return "medium"
    return "low" if score < 5 else "medium" if score < 11 else "high" if score < 21 else "critical"


def select(models: Sequence[AgentModel], complexity: Complexity) -> AgentModel | None:
    """The least capable model that is up to the work, or else the most capable; of equals the first."""
    able = [model for model in models if _rank(model) >= COMPLEXITIES.index(complexity)]
    if able:
        return min(able, key=_rank)
    return max(models, key=_rank, default=None)


def _rank(model: AgentModel) -> int:
    return COMPLEXITIES.index(model.complexity)
