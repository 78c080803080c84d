"""What agents say in the Agent Client Protocol, in agentd's words. Every value may be missing or of any type."""

from collections.abc import Mapping
from typing import Any

from agentd.agents.event_writer import emit
from agentd.agents.events import CallFailed, classify, count_of, load, text_of, wait_asked
from agentd.model.job import Failure

Json = dict[str, Any]

STOPS: Mapping[str, tuple[Failure, str]] = {
    "cancelled": ("failed", "The agent says that its turn was cancelled."),
    "max_tokens": ("failed", "The agent came to the end of its model's tokens."),
    "max_turn_requests": ("failed", "The agent came to its own limit of turns."),
    "refusal": ("refused", "The model refuses to go on."),
}
AUTH_REQUIRED = -32000


def mapping(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def explain(code: object, message: object, data: object) -> CallFailed:
    """An error of the protocol in one sentence; some agents pass on the HTTP status of their service as its code."""
    details = mapping(data).get("details") or mapping(data).get("message") or (data if isinstance(data, str) else "")
    said = f"{plain(message)}: {plain(details)}" if details and str(details) not in str(message) else plain(message)
    if code == AUTH_REQUIRED:
        return CallFailed(said, "auth")
    status = code if isinstance(code, int) and 400 <= code < 600 else None
    return CallFailed(said, classify(said, status), wait_asked(said))


def plain(message: object) -> str:
    """The words in a message, which may be a service's whole answer in JSON."""
    inner = mapping(mapping(load(str(message))).get("error")).get("message")
    return " ".join(str(inner or message).split())[:1000]


def stopped(reason: str) -> CallFailed:
    failure, error = STOPS.get(reason, ("unreadable", f"The agent stopped for a reason unknown here: {reason!r}."))
    return CallFailed(error, failure)


def usage_of(answer: Json) -> tuple[Json, str]:
    """Tokens and model as far as the agent tells them: by the protocol's own field, or in the way of Gemini."""
    quota = mapping(mapping(answer.get("_meta")).get("quota"))
    models = [text_of(mapping(each).get("model")) for each in listed(quota.get("model_usage"))]
    model = next(filter(None, models), "")
    usage = mapping(answer.get("usage"))
    into, out = count_of(usage.get("inputTokens")), count_of(usage.get("outputTokens"))
    if into is None or out is None:
        count = mapping(quota.get("token_count"))
        known = {"tokens_in": count_of(count.get("input_tokens")), "tokens_out": count_of(count.get("output_tokens"))}
        return {name: tokens for name, tokens in known.items() if tokens is not None}, model
    read, written = count_of(usage.get("cachedReadTokens")), count_of(usage.get("cachedWriteTokens"))
    cached = (read or 0) + (written or 0)
    if (count_of(usage.get("totalTokens")) or 0) >= into + out + cached:  # then the cached ones are counted apart
        into += cached
    return {"tokens_in": into, "tokens_out": out, "cached_in": read}, model


def names(choices: object, field: str) -> dict[str, str]:
    """What can be chosen: the id of each choice by its id and by its name."""
    found: dict[str, str] = {}
    for each in map(mapping, listed(choices)):
        id_ = text_of(each.get(field))
        if id_:
            found.setdefault(text_of(each.get("name")) or id_, id_)
            found[id_] = id_
    return found


def values(option: object) -> dict[str, str]:
    """What a config option offers, in groups or not."""
    flat: list[object] = []
    for each in listed(mapping(option).get("options")):
        flat.extend(listed(mapping(each).get("options")) or [each])
    return names(flat, "value")


def text_in(call: Json) -> str:
    """What a tool call says, in short."""
    said = (text_of(mapping(mapping(part).get("content")).get("text")) for part in listed(call.get("content")))
    return " ".join(filter(None, said))[:500]


def note(text: str) -> None:
    """Tell a person what the agent did otherwise than it was asked to."""
    emit(type="note", text=text)
