"""What a call cost: as its agent said, else by the person's prices, else by the bundled table, else unknown."""

from agentd.model.models import AgentModel
from agentd.model.usage import Usage
from agentd.usage.calls import count, dollars_of

MILLION = 1_000_000


def price(usage: Usage, model: AgentModel | None, name: str) -> float | None:
    """The cost of a call in US dollars; `name` is the model that answered. Tokens read from a cache count once."""
    if usage.cost is not None and dollars_of(usage.cost) is not None:
        return float(usage.cost)
    tokens_in, tokens_out = count(usage.tokens_in), count(usage.tokens_out)
    if tokens_in is None or tokens_out is None or not tokens_in + tokens_out:
        return None
    cached = min(count(usage.cached_in) or 0, tokens_in)
    name = name or (model.model if model else "")
    if not model or model.cost_per_1m_input is None or model.cost_per_1m_output is None:
        return _listed(tokens_in, cached, tokens_out, name)
    price_in, reused = model.cost_per_1m_input, model.cost_per_1m_cached
    if reused is None and cached:
        reused = price_in * _cached_share(name)
    return (
        (tokens_in - cached) * price_in + cached * (reused or 0.0) + tokens_out * model.cost_per_1m_output
    ) / MILLION


def _cached_share(name: str) -> float:
    """The price of cached input as a share of that of other input, as the table has it; the whole price if it has none."""
    whole, reused = (_listed(MILLION, cached, 0, name) for cached in (0, MILLION))
    return reused / whole if whole and reused is not None else 1.0


def _listed(tokens_in: int, cached: int, tokens_out: int, name: str) -> float | None:
    """The cost by the table that genai-prices brings along; it is never fetched anew."""
    import genai_prices  # some 0.3 s, for models without a price in the configuration only

    try:
        used = genai_prices.Usage(input_tokens=tokens_in, cache_read_tokens=cached, output_tokens=tokens_out)
        return float(genai_prices.calc_price(used, name).total_price)
    except (LookupError, ValueError):
        return None


def dollars(cost: float) -> str:
    """A cost as people read it."""
    return f"${cost:,.2f}" if round(cost, 4) >= 1 else f"${cost:.4f}"
