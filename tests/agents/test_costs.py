"""What recorded calls of the real programs cost: agentd's figure is the program's own, or the price list's."""

import json
from collections.abc import Iterator

import pytest

from agentd.agents.events import load, warnings_in
from agentd.agents.table import ADAPTERS
from agentd.model.models import AgentModel
from agentd.usage.prices import price
from tests.agents.recordings import names, recorded

# A price list of a person's own: no figure of an agent's own may depend on it.
DEAR = AgentModel("own", "x", "low", "", 1000.0, 1000.0, 1000.0)
FLASH = (0.30, 0.03, 2.50)  # gemini-2.5-flash, a million tokens: input, cached input, output


def own_figures(agent: str) -> Iterator[tuple[str, float]]:
    """Each recorded call for which the program itself says what it cost, and that figure."""
    for name in names(agent):
        events = [event for line in recorded(agent, name) if (event := load(line))]
        if agent == "claude":
            since = [
                each["model_usage_since_last_result"] for each in events if "model_usage_since_last_result" in each
            ]
            figures = [model["costUSD"] for result in since for model in result.values()]
        else:
            figures = [each["part"]["cost"] for each in events if "cost" in each.get("part", {})]
        if sum(figures):
            yield name, sum(figures)


@pytest.mark.parametrize("agent", ["claude", "opencode"])
def test_the_programs_own_figure_is_taken_whatever_the_price_list_says(agent: str) -> None:
    told = dict(own_figures(agent))
    assert len(told) >= 5
    for name, figure in told.items():
        reply = ADAPTERS[agent].read(recorded(agent, name))
        assert price(reply.usage, DEAR, reply.model) == pytest.approx(figure, rel=0.01), name


def test_claudes_figure_for_cached_input_is_not_that_of_the_list() -> None:
    lines = list(recorded("claude", "done"))
    at = next(number for number, line in enumerate(lines) if "model_usage_since_last_result" in line)
    result = json.loads(lines[at])
    (used,) = result["model_usage_since_last_result"].values()
    used |= {"inputTokens": 10_000, "cacheReadInputTokens": 90_000, "cacheCreationInputTokens": 0, "costUSD": 0.0385}
    lines[at] = json.dumps(result)
    usage = ADAPTERS["claude"].read(lines).usage
    assert (usage.tokens_in, usage.cached_in) == (100_000, 90_000)
    assert price(usage, AgentModel("s", "sonnet", "low", "", 3.0, 15.0), "claude-sonnet-5-5") == pytest.approx(0.0385)


def test_gemini_gives_no_figure_and_is_priced_by_the_model_it_says_it_used() -> None:
    reply = ADAPTERS["gemini"].read(recorded("gemini", "implemented"))
    tokens, cached, out = reply.usage.tokens_in, reply.usage.cached_in, reply.usage.tokens_out
    assert (reply.usage.cost, tokens, cached, out) == (None, 4800, 800, 140)
    listed = (4000 * FLASH[0] + 800 * FLASH[1] + 140 * FLASH[2]) / 1e6
    assert price(reply.usage, None, reply.model) == pytest.approx(listed, rel=0.01)


def test_a_call_whose_model_nobody_knows_has_no_cost() -> None:
    reply = ADAPTERS["codex"].read(recorded("codex", "done"))
    assert price(reply.usage, None, reply.model) is None


def test_what_a_program_warns_about_is_found_and_its_small_talk_is_not() -> None:
    (warning,) = warnings_in(recorded("codex", "fallback_model"))
    assert warning.startswith("Model metadata for `gpt-5.2-codex` not found.")
    for agent in ("claude", "codex", "gemini", "copilot", "opencode"):
        for name in set(names(agent)) - {"fallback_model", "unknown_model"}:
            assert warnings_in(recorded(agent, name)) == (), (agent, name)
    flag = json.dumps({"agentd": "end", "code": 0, "errors": ["(node) --experimental-acp is deprecated, use --acp"]})
    assert warnings_in([flag]) == ("(node) --experimental-acp is deprecated, use --acp",)
