"""OpenAI's Responses protocol, with the three ways in which Codex offers tools: namespaces, a search, a program."""

from collections.abc import Iterable
from typing import Any

from tests.contract.model.wire import (
    Answer,
    Asked,
    Called,
    Event,
    Json,
    Message,
    Tool,
    chunks,
    size_of,
    spoken,
    text_in,
    turns_of,
)

SEARCH, CODE = "tool_search", "exec"
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
ERRORS = {
    400: ("invalid_request_error", None, "The request is not valid."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided: sk-fake."),
    402: ("insufficient_quota", "billing_hard_limit_reached", "Billing hard limit has been reached."),
    403: ("invalid_request_error", "permission_denied", "You do not have access to this model."),
    404: ("invalid_request_error", "model_not_found", "The model does not exist."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached for requests. Please try again in {wait}s."),
    503: ("server_error", None, "The engine is currently overloaded, please try again later."),
}


def read(path: str, body: Json, size: int) -> Asked:
    items: Any = body.get("input")
    if isinstance(items, str):
        items = [{"type": "message", "role": "user", "content": items}]
    items = [item for item in items or [] if isinstance(item, dict)]
    declared = list(body.get("tools") or [])
    for item in items:
        if item.get("type") in ("additional_tools", "tool_search_output"):
            declared += item.get("tools") or []
    freeform = [tool for tool in _flat(declared) if tool.get("type") == "custom" and tool.get("name") == CODE]
    told = [item for item in items if item.get("role") in ("system", "developer")]
    return Asked(
        messages=tuple(message for item in items for message in _messages(item)),
        tools=tuple(_tools(declared)),
        search=SEARCH if any(tool.get("type") == SEARCH for tool in declared) else "",
        code=CODE if freeform else "",
        model=str(body.get("model", "")),
        effort=str((body.get("reasoning") or {}).get("effort") or ""),
        system=len(str(body.get("instructions") or "").encode()) + size_of(told),
        stream=bool(body.get("stream")),
        size=size,
        schema=((body.get("text") or {}).get("format") or {}).get("schema"),
    )


def _flat(declared: Iterable[Json]) -> Iterable[Json]:
    for tool in declared:
        yield from tool.get("tools") or [] if tool.get("type") == "namespace" else [tool]


def _tools(declared: Iterable[Json]) -> Iterable[Tool]:
    for tool in declared:
        if tool.get("type") == "namespace":
            for inner in tool.get("tools") or []:
                yield Tool(str(inner.get("name", "")), str(tool.get("name", "")))
        elif tool.get("type") == "function" or (tool.get("type") == "custom" and tool.get("name") != CODE):
            yield Tool(str(tool.get("name", "")), free=tool["type"] == "custom")


def _messages(item: Json) -> list[Message]:
    kind = item.get("type", "message")
    if kind in ("message", None) and item.get("role") in ("user", "assistant"):
        text = text_in(item.get("content"), "input_text", "output_text", "text")
        if item["role"] == "assistant":
            return [Message("assistant", text)]
        said = spoken(text)
        return [Message("user", said)] if said and not said.startswith("# AGENTS.md instructions") else []
    if kind in _CALLS:
        return [Message("assistant", turns=turns_of([str(item.get("call_id"))]))]
    if kind == "tool_search_call":
        return [Message("assistant", search=True)]
    if kind == "tool_search_output":
        return [Message("tool", search=True)]
    if isinstance(kind, str) and kind.endswith("_output"):
        output = item.get("output")
        return [
            Message("tool", output if isinstance(output, str) else text_in(output, "input_text", "output_text", "text"))
        ]
    return []


def write(asked: Asked, answer: Answer) -> Json:
    return {
        "id": f"resp_{asked.size}",
        "object": "response",
        "status": "completed",
        "model": asked.model,
        "output": _items(asked, answer),
        "usage": {
            "input_tokens": answer.tokens_in,
            "input_tokens_details": {"cached_tokens": answer.cached},
            "output_tokens": answer.tokens_out,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": answer.tokens_in + answer.tokens_out,
        },
    }


def events(asked: Asked, answer: Answer) -> list[Event]:
    whole = write(asked, answer)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    listed: list[Json] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    for index, item in enumerate(whole["output"]):
        at = {"output_index": index, "item_id": item["id"]}
        listed.append({"type": "response.output_item.added", "output_index": index, "item": _opened(item)})
        listed += [{**event, **at} for event in _pieces(item)]
        listed.append({"type": "response.output_item.done", "output_index": index, "item": item})
    listed.append({"type": "response.completed", "response": whole})
    return [(str(each["type"]), {**each, "sequence_number": number}) for number, each in enumerate(listed)]


def _opened(item: Json) -> Json:
    blank: dict[str, Json] = {
        "message": {"content": []},
        "function_call": {"arguments": ""},
        "custom_tool_call": {"input": ""},
    }
    return {**item, "status": "in_progress", **blank.get(item["type"], {})}


def _pieces(item: Json) -> list[Json]:
    if item["type"] == "message":
        part = item["content"][0]
        empty = {**part, "text": ""}
        at = {"content_index": 0}
        return [
            {"type": "response.content_part.added", **at, "part": empty},
            *({"type": "response.output_text.delta", **at, "delta": piece} for piece in chunks(part["text"])),
            {"type": "response.output_text.done", **at, "text": part["text"]},
            {"type": "response.content_part.done", **at, "part": part},
        ]
    if item["type"] == "function_call":
        name, key = "response.function_call_arguments", "arguments"
    elif item["type"] == "custom_tool_call":
        name, key = "response.custom_tool_call_input", "input"
    else:
        return []
    pieces: list[Json] = [{"type": f"{name}.delta", "delta": piece} for piece in chunks(item[key])]
    return [*pieces, {"type": f"{name}.done", key: item[key]}]


def _items(asked: Asked, answer: Answer) -> list[Json]:
    items: list[Json] = []
    if answer.say or not answer.calls:
        part = {"type": "output_text", "text": answer.say, "annotations": []}
        items.append({"type": "message", "role": "assistant", "content": [part]})
    items += map(_item, answer.calls)
    return [{"id": f"item_{asked.size}_{number}", "status": "completed", **item} for number, item in enumerate(items)]


def _item(call: Called) -> Json:
    if call.kind == "search" and isinstance(call.args, dict):
        arguments = {**call.args, "limit": 20}
        return {"type": "tool_search_call", "call_id": call.id, "execution": "client", "arguments": arguments}
    if call.kind == "code" or call.tool.free:
        return {"type": "custom_tool_call", "call_id": call.id, "name": call.tool.name, "input": call.raw}
    item = {"type": "function_call", "call_id": call.id, "name": call.tool.name, "arguments": call.raw}
    return {**item, "namespace": call.tool.namespace} if call.tool.namespace else item


def error(status: int, quota: bool, wait: float) -> tuple[int, Json]:
    kind, code, message = ERRORS.get(status, ("server_error", None, "The server had an error processing your request."))
    if quota:
        status, kind, code = 429, "insufficient_quota", "insufficient_quota"
        message = "You exceeded your current quota, please check your plan and billing details."
    text = message.replace("{wait}", f"{wait:g}")
    return status, {"error": {"message": text, "type": kind, "param": None, "code": code}}
