"""The model behind the built-in agent: found through pydantic-ai, its errors classified, its tools and its usage."""

from typing import TYPE_CHECKING, Any

from agentd.agents.builtin_tools import ERROR, Offer
from agentd.agents.event_writer import emit
from agentd.agents.events import CallFailed, classify
from agentd.patterns import regex

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.tools import Tool
    from pydantic_ai.usage import RunUsage

Json = dict[str, Any]
SHOWN = 2000
OPENAI = regex(r"^openai(-chat|-responses)?:")


def find_model(told: Json, key: str) -> "Model":
    """The model that the settings name; without a key of their own its provider knows where to look."""
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers import infer_provider, infer_provider_class
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    name = told["model"]
    if told["base_url"]:
        kind = OpenAIResponsesModel if name.startswith("openai-responses:") else OpenAIChatModel
        provider = OpenAICompatibleProvider("compatible", base_url=told["base_url"], api_key=key or None)
        return kind(OPENAI.sub("", name), provider=provider)
    try:
        factory = (lambda provider: infer_provider_class(provider)(api_key=key)) if key else infer_provider  # type: ignore[call-arg]
        return infer_model(name if ":" in name else f"openai:{name}", factory)
    except UserError as error:
        missing = "API_KEY" in str(error) or "api_key" in str(error)
        raise CallFailed(first_sentence(error), "auth" if missing else "failed") from None
    except (ImportError, ValueError, TypeError) as error:
        raise CallFailed(f"The model {name} cannot be used: {first_sentence(error)}") from None


def first_sentence(error: Exception) -> str:
    return " ".join(str(error).split()).split(". ")[0].rstrip(".")[:500]


def make_tool(offer: Offer) -> "Tool[object]":
    """A tool for the model that tells of each of its calls, one after the other."""
    from pydantic_ai.tools import Tool

    def call(**arguments: Any) -> str:
        said = offer.do(**arguments)
        status = "error" if said.startswith(ERROR) else "success"
        emit(type="tool", tool=offer.name, status=status, text=said[:SHOWN])
        return said

    return Tool.from_schema(call, offer.name, offer.description, dict(offer.schema), sequential=True)


def counted(usage: "RunUsage") -> Json | None:
    """What a run used; a server that counts nothing leaves it unknown."""
    if not (usage.input_tokens or usage.output_tokens):
        return None
    return {"tokens_in": usage.input_tokens, "tokens_out": usage.output_tokens, "cached_in": usage.cache_read_tokens}


def explain(error: Exception) -> CallFailed:
    """What went wrong with the model, and which class it is of."""
    from pydantic_ai import exceptions as of

    wait = getattr(error, "retry_after", None) or 0.0
    if isinstance(error, of.ModelHTTPError):
        said = message_in(error.body) or "it gave no reason"
        words = f"{said} {error.body}" if error.status_code in (402, 403, 429) else said
        return CallFailed(
            f"The model's service answered {error.status_code}: {said}", classify(words, error.status_code), wait
        )
    if isinstance(error, of.ModelAPIError):
        return CallFailed(f"The model's service gave no answer: {first_sentence(error)}.", "transient", wait)
    if isinstance(error, of.ContentFilterError):
        return CallFailed(f"The model refuses to go on: {first_sentence(error)}.", "refused")
    if isinstance(error, of.UnexpectedModelBehavior):
        return CallFailed(f"The model answered what cannot be used: {first_sentence(error)}.", "unreadable")
    if isinstance(error, of.UsageLimitExceeded):
        return CallFailed(f"It was ended in the middle by [calls] max_turns or max_cost: {first_sentence(error)}.")
    return CallFailed(f"{first_sentence(error)}.")


def message_in(body: object) -> str:
    """The words in a service's answer."""
    while isinstance(body, dict):
        body = body.get("error") if isinstance(body.get("error"), (dict, str)) else body.get("message")
    return " ".join(body.split())[:500] if isinstance(body, str) else ""
