"""OpenAI's Chat Completions protocol, as every compatible server speaks it."""

from tests.contract.model import responses
from tests.contract.model.wire import (
    Answer,
    Asked,
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

DONE = "[DONE]"
error = responses.error


def read(path: str, body: Json, size: int) -> Asked:
    declared = [tool.get("function") or {} for tool in body.get("tools") or [] if tool.get("type") == "function"]
    entries = body.get("messages") or []
    return Asked(
        messages=tuple(message for entry in entries for message in _messages(entry)),
        tools=tuple(Tool(str(tool.get("name", ""))) for tool in declared),
        model=str(body.get("model", "")),
        effort=str(body.get("reasoning_effort") or ""),
        system=size_of([entry for entry in entries if entry.get("role") in ("system", "developer")]),
        stream=bool(body.get("stream")),
        size=size,
        schema=((body.get("response_format") or {}).get("json_schema") or {}).get("schema"),
    )


def _messages(entry: Json) -> list[Message]:
    text = text_in(entry.get("content"), "text")
    if entry.get("role") == "assistant":
        return [Message("assistant", text, turns_of([str(call.get("id")) for call in entry.get("tool_calls") or []]))]
    if entry.get("role") == "tool":
        return [Message("tool", text)]
    said = spoken(text)
    return [Message("user", said)] if said and entry.get("role") == "user" else []


def write(asked: Asked, answer: Answer) -> Json:
    message: dict[str, object] = {"role": "assistant", "content": answer.say or None}
    if answer.calls:
        message["tool_calls"] = _calls(answer)
    choice = {"index": 0, "message": message, "finish_reason": _reason(answer), "logprobs": None}
    return {**_head(asked, "chat.completion"), "choices": [choice], "usage": _usage(answer)}


def events(asked: Asked, answer: Answer) -> list[Event]:
    deltas: list[Json] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in chunks(answer.say)]
    for index, call in enumerate(_calls(answer)):
        function = call["function"]
        opening = {**call, "index": index, "function": {"name": function["name"], "arguments": ""}}
        deltas.append({"tool_calls": [opening]})
        for piece in chunks(function["arguments"]):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    head = _head(asked, "chat.completion.chunk")
    listed = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    listed.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": _reason(answer)}]})
    listed.append({**head, "choices": [], "usage": _usage(answer)})
    return [("", each) for each in listed]


def _head(asked: Asked, kind: str) -> Json:
    return {"id": f"chatcmpl-{asked.size}", "object": kind, "created": 1, "model": asked.model}


def _calls(answer: Answer) -> list[Json]:
    return [
        {"id": call.id, "type": "function", "function": {"name": call.tool.full, "arguments": call.raw}}
        for call in answer.calls
    ]


def _reason(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "stop"


def _usage(answer: Answer) -> Json:
    return {
        "prompt_tokens": answer.tokens_in,
        "completion_tokens": answer.tokens_out,
        "total_tokens": answer.tokens_in + answer.tokens_out,
        "prompt_tokens_details": {"cached_tokens": answer.cached},
    }
