"""Anthropic's Messages protocol."""

from tests.contract.model.wire import (
    Answer,
    Asked,
    Called,
    Event,
    Json,
    Message,
    Tool,
    chunks,
    dumps,
    size_of,
    spoken,
    text_in,
    turns_of,
)

SEARCH = "ToolSearch"
_ERRORS = {
    400: ("invalid_request_error", "The request is not valid."),
    401: ("authentication_error", "invalid x-api-key"),
    402: ("billing_error", "There is an issue with your organization's billing."),
    403: ("permission_error", "Your API key does not have permission to use the specified resource."),
    404: ("not_found_error", "The requested resource could not be found."),
    413: ("request_too_large", "Request exceeds the maximum size"),
    429: ("rate_limit_error", "This request would exceed your organization's rate limit."),
    503: ("api_error", "Service Unavailable"),
    529: ("overloaded_error", "Overloaded"),
}


def read(path: str, body: Json, size: int) -> Asked:
    tools = [Tool(str(tool.get("name", ""))) for tool in body.get("tools") or []]
    config = body.get("output_config") or {}
    thinking = body.get("thinking") or {}
    return Asked(
        messages=tuple(message for entry in body.get("messages", []) for message in _messages(entry)),
        tools=tuple(tool for tool in tools if tool.name != SEARCH),
        search=SEARCH if any(tool.name == SEARCH for tool in tools) else "",
        model=str(body.get("model", "")),
        effort=str(config.get("effort") or thinking.get("budget_tokens") or ""),
        system=size_of(body.get("system")),
        stream=bool(body.get("stream")),
        size=size,
        schema=(config.get("format") or {}).get("schema"),
    )


def _messages(entry: Json) -> list[Message]:
    content = entry.get("content")
    parts = content if isinstance(content, list) else []
    if entry.get("role") == "assistant":
        uses = [part for part in parts if part.get("type") == "tool_use"]
        search = bool(uses) and all(part.get("name") == SEARCH for part in uses)
        turns = () if search else turns_of([str(part.get("id")) for part in uses])
        return [Message("assistant", text_in(content, "text"), turns, search)]
    if entry.get("role") != "user":
        return []
    results = [text_in(part.get("content"), "text") for part in parts if part.get("type") == "tool_result"]
    said = spoken(text_in(content, "text"))
    found = [Message("tool", result) for result in results]
    return found + [Message("user", said)] if said else found


def write(asked: Asked, answer: Answer) -> Json:
    return {
        "id": f"msg_{asked.size}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": _blocks(answer),
        "stop_reason": _reason(answer),
        "stop_sequence": None,
        "usage": _usage(answer, answer.tokens_out),
    }


def events(asked: Asked, answer: Answer) -> list[Event]:
    opening = {**write(asked, answer), "content": [], "stop_reason": None, "usage": _usage(answer, 1)}
    listed: list[Json] = [{"type": "message_start", "message": opening}]
    for index, block in enumerate(_blocks(answer)):
        empty = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
        listed.append({"type": "content_block_start", "index": index, "content_block": empty})
        raw = block["input"] if isinstance(block.get("input"), str) else dumps(block.get("input"))
        text = block["text"] if block["type"] == "text" else raw
        for piece in chunks(text):
            delta = (
                {"type": "text_delta", "text": piece}
                if block["type"] == "text"
                else {"type": "input_json_delta", "partial_json": piece}
            )
            listed.append({"type": "content_block_delta", "index": index, "delta": delta})
        listed.append({"type": "content_block_stop", "index": index})
    ending = {"stop_reason": _reason(answer), "stop_sequence": None}
    listed.append({"type": "message_delta", "delta": ending, "usage": {"output_tokens": answer.tokens_out}})
    listed.append({"type": "message_stop"})
    return [(str(each["type"]), each) for each in listed]


def _blocks(answer: Answer) -> list[Json]:
    said: list[Json] = [{"type": "text", "text": answer.say}] if answer.say or not answer.calls else []
    return said + [
        {"type": "tool_use", "id": f"toolu_{call.id}", "name": call.tool.full, "input": _input(call)}
        for call in answer.calls
    ]


def _input(call: Called) -> Json | str:
    return {**call.args, "max_results": 5} if isinstance(call.args, dict) and call.kind == "search" else call.args


def _reason(answer: Answer) -> str:
    return "tool_use" if answer.calls else "end_turn"


def _usage(answer: Answer, tokens_out: int) -> Json:
    return {
        "input_tokens": answer.tokens_in - answer.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": answer.cached,
        "output_tokens": tokens_out,
    }


def error(status: int, quota: bool, wait: float) -> tuple[int, Json]:
    kind, message = _ERRORS.get(status, ("api_error", "Internal server error"))
    if quota:
        status, kind = 400, "invalid_request_error"
        message = (
            "Your credit balance is too low to access the Anthropic API. "
            "Please go to Plans & Billing to upgrade or purchase credits."
        )
    return status, {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_fake"}
