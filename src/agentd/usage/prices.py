"""What a call cost: by the prices of the configuration, else by the bundled table, else as its agent said, else unknown."""

from agentd.model.models import AgentModel
from agentd.model.usage import Usage
from agentd.usage.calls import count, dollars_of

MILLION = 1_000_000


def price(usage: Usage, model: AgentModel | None, name: str) -> float | None:
    """The cost of a call in US dollars; `name` is the model it was made with. Tokens read from a cache count once."""
    tokens_in, tokens_out = count(usage.tokens_in), count(usage.tokens_out)
    said = None if usage.cost is None or dollars_of(usage.cost) is None else float(usage.cost)
    if tokens_in is None or tokens_out is None or not tokens_in + tokens_out:
        return said
    cached = min(count(usage.cached_in) or 0, tokens_in)
    if model and model.cost_per_1m_input is not None and model.cost_per_1m_output is not None:
        price_in, price_out, price_cached = model.cost_per_1m_input, model.cost_per_1m_output, model.cost_per_1m_cached
        reused = price_in if price_cached is None else price_cached
        return ((tokens_in - cached) * price_in + cached * reused + tokens_out * price_out) / MILLION
    listed = _listed(tokens_in, cached, tokens_out, name or (model.model if model else ""))
    return said if listed is None else listed


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
