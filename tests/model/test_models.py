"""Complexity is assessed by specs and tasks, and the model is the least capable one that is up to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.agents.table import ADAPTERS
from agentd.model.models import COMPLEXITIES, AgentModel, Complexity, assess, select

MODELS = st.lists(st.builds(AgentModel, id=st.text(), model=st.text(), complexity=st.sampled_from(COMPLEXITIES)))


def rank(complexity: Complexity) -> int:
    return COMPLEXITIES.index(complexity)


@pytest.mark.requirement(31)
@pytest.mark.parametrize(
    ("specs", "tasks", "expected"),
    [
        (0, 0, "medium"),
        (1, 0, "low"),
        (1, 3, "low"),
        (2, 3, "medium"),
        (3, 7, "medium"),
        (3, 8, "high"),
        (5, 15, "high"),
        (5, 16, "critical"),
        (0, 900, "critical"),
    ],
)
def test_complexity_grows_with_specs_and_tasks(specs: int, tasks: int, expected: Complexity) -> None:
    assert assess(specs, tasks) == expected


@pytest.mark.requirement(31)
def test_the_levels_are_four_in_order() -> None:
    assert COMPLEXITIES == ("low", "medium", "high", "critical")


@pytest.mark.requirement(32)
@pytest.mark.parametrize(
    ("complexity", "model"),
    [
        ("low", "gemini-3-flash-preview"),
        ("medium", "gemini-3-flash-preview"),
        ("high", "gemini-3-pro-preview"),
        ("critical", "gemini-3-pro-preview"),
    ],
)
def test_the_planner_takes_flash_up_to_medium_and_pro_above(complexity: Complexity, model: str) -> None:
    found = select(ADAPTERS["gemini"].models, complexity)
    assert found is not None
    assert found.model == model


@pytest.mark.requirement(289)
@pytest.mark.parametrize(
    ("complexity", "effort"), [("low", "low"), ("medium", "medium"), ("high", "high"), ("critical", "extra high")]
)
def test_the_challenger_thinks_as_hard_as_the_change_is_complex(complexity: Complexity, effort: str) -> None:
    found = select(ADAPTERS["codex"].models, complexity)
    assert found is not None
    assert (found.model, found.effort) == ("gpt-5.2-codex", effort)


@given(MODELS, st.sampled_from(COMPLEXITIES))
def test_the_choice_is_the_least_capable_that_is_up_to_it_or_else_the_most_capable(
    models: list[AgentModel], complexity: Complexity
) -> None:
    found = select(models, complexity)
    if not models:
        assert found is None
        return
    assert found is not None
    able = [model for model in models if rank(model.complexity) >= rank(complexity)]
    best = min(rank(model.complexity) for model in able) if able else max(rank(model.complexity) for model in models)
    assert found is next(model for model in models if rank(model.complexity) == best)
