"""What a call cost: the agent's own figure first, then the person's prices, then the bundled table, else unknown."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.model.models import AgentModel
from agentd.model.usage import Usage
from agentd.usage.prices import dollars, price

FLASH = AgentModel("flash", "gemini-3-flash-preview", "medium", "", 0.1, 0.4)
COUNT = st.integers(0, 10**7)
PRICE = st.floats(0, 100)


@pytest.mark.requirement(136, 139)
def test_the_formula_gives_the_documented_figure() -> None:
    found = price(Usage(15234, 892), FLASH, "gemini-3-flash-preview")
    assert found is not None
    assert round(found, 4) == 0.0019


@pytest.mark.requirement(136, 139)
@given(COUNT, COUNT, COUNT, PRICE, PRICE, st.none() | PRICE)
def test_cached_tokens_are_counted_once(
    tokens_in: int, cached: int, tokens_out: int, price_in: float, price_out: float, price_cached: float | None
) -> None:
    model = AgentModel("x", "x", "low", "", price_in, price_out, price_cached)
    found = price(Usage(tokens_in, tokens_out, cached_in=cached), model, "x")
    if not tokens_in + tokens_out:
        assert found is None
        return
    reused = min(cached, tokens_in)
    whole = (tokens_in - reused) / 1e6 * price_in + tokens_out / 1e6 * price_out
    whole += reused / 1e6 * (price_in if price_cached is None else price_cached)
    assert found == pytest.approx(whole)


@pytest.mark.requirement(138)
@pytest.mark.parametrize("usage", [Usage(), Usage(5, None), Usage(None, 5), Usage(0, 0), Usage(-1, 5)])
def test_without_tokens_the_agents_own_figure_stands_or_nothing(usage: Usage) -> None:
    assert price(usage, FLASH, "gemini-3-flash-preview") is None
    said = Usage(usage.tokens_in, usage.tokens_out, cost=0.25)
    assert price(said, FLASH, "gemini-3-flash-preview") == 0.25


@pytest.mark.requirement(139)
def test_the_agents_own_figure_stands_over_the_configuration_and_that_over_the_table() -> None:
    usage = Usage(1_000_000, 0)
    assert price(usage, FLASH, "gemini-3-flash-preview") == pytest.approx(0.1)
    assert price(Usage(1_000_000, 0, cost=99.0), FLASH, "gemini-3-flash-preview") == 99.0
    free = AgentModel("local", "llama", "low", "", 0.0, 0.0)
    assert price(usage, free, "llama") == 0.0


def test_cached_input_without_a_price_of_its_own_costs_the_share_that_the_table_knows() -> None:
    own = AgentModel("own", "gpt-5", "low", "", 10.0, 0.0)  # the table: 1.25 and 0.125
    assert price(Usage(1_000_000, 0, cached_in=900_000), own, "gpt-5") == pytest.approx(1.0 + 0.9)
    stated = AgentModel("own", "gpt-5", "low", "", 10.0, 0.0, 5.0)
    assert price(Usage(1_000_000, 0, cached_in=900_000), stated, "gpt-5") == pytest.approx(1.0 + 4.5)


def test_a_model_without_a_price_has_that_of_the_table() -> None:
    bare = AgentModel("x", "gpt-5", "low", "", 1.0, None)
    usage = Usage(1_000_000, 0)
    found = price(usage, bare, "gpt-5")
    assert found is not None
    assert found > 0
    assert price(usage, bare, "") == price(usage, None, "gpt-5") == found
    cached = price(Usage(1_000_000, 0, cached_in=1_000_000), bare, "gpt-5")
    assert cached is not None
    assert 0 < cached < found


@pytest.mark.parametrize("name", ["", "gpt-x", "scripted", "a\nb", "é" * 500])
def test_a_model_nobody_knows_has_the_agents_figure_or_none(name: str) -> None:
    assert price(Usage(10, 10), None, name) is None
    assert price(Usage(10, 10, cost=0.25), None, name) == 0.25
    assert price(Usage(10, 10, cost=float("nan")), None, name) is None


def test_the_table_is_asked_without_the_network_and_only_when_it_is_needed() -> None:
    code = """
import sys
from agentd.model.models import AgentModel
from agentd.model.usage import Usage
from agentd.usage.prices import price
def refuse(event, args):
    if event.startswith(("socket.", "urllib.")):
        raise SystemExit(f"the network was used: {event} {args}")
price(Usage(1, 1), AgentModel("x", "x", "low", "", 1.0, 1.0), "x")
assert "genai_prices" not in sys.modules
import genai_prices
sys.addaudithook(refuse)
assert price(Usage(1000, 1000), None, "gpt-5") > 0
assert price(Usage(1000, 1000), None, "gpt-x") is None
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("cost", "shown"),
    [
        (0.0, "$0.0000"),
        (0.00188, "$0.0019"),
        (0.99994, "$0.9999"),
        (0.99999, "$1.00"),
        (1, "$1.00"),
        (1234.5, "$1,234.50"),
    ],
)
def test_small_costs_have_four_decimals_and_large_ones_two(cost: float, shown: str) -> None:
    assert dollars(cost) == shown
