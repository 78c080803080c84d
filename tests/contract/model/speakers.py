"""Small clients of the four protocols: each holds a conversation with the model, streamed or not, and runs no tool."""

from __future__ import annotations

import json
import urllib.request
from abc import ABC, abstractmethod
from typing import Any

TOOLS = ("agentd_create_proposal", "Read")


def post(url: str, path: str, body: Any) -> tuple[str, bytes]:
    """The type and the bytes of the answer."""
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(url + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=20) as reply:
        return reply.headers["content-type"], reply.read()


def sse(data: bytes) -> list[dict[str, Any]]:
    lines = data.decode().splitlines()
    found = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    return [json.loads(line) for line in found if line != "[DONE]"]


class Speaker(ABC):
    """One conversation. `ask` says something, or gives the results of the tools that were called."""

    path = ""

    def __init__(self, url: str, stream: bool = False, tools: tuple[str, ...] = TOOLS) -> None:
        self.url, self.stream, self.tools = url, stream, tools
        self.history: list[Any] = []
        self.usage = (0, 0, 0)
        self.open: list[tuple[str, str]] = []

    def ask(self, text: str = "") -> tuple[str, list[tuple[str, Any]]]:
        """What was said, and the tools that were called with what."""
        if text:
            self.history.append(self.said(text))
        else:
            self.history += self.results()
        kind, data = post(self.url, self.where(), self.body())
        assert kind == ("text/event-stream" if self.stream else "application/json")
        return self.hear(self.join(sse(data)) if self.stream else json.loads(data))

    def where(self) -> str:
        return self.path

    @abstractmethod
    def body(self) -> Any: ...
    @abstractmethod
    def said(self, text: str) -> Any: ...
    @abstractmethod
    def results(self) -> list[Any]: ...
    @abstractmethod
    def join(self, events: list[dict[str, Any]]) -> dict[str, Any]: ...
    @abstractmethod
    def hear(self, reply: dict[str, Any]) -> tuple[str, list[tuple[str, Any]]]: ...


class Anthropic(Speaker):
    path = "/v1/messages"

    def body(self) -> Any:
        tools = [{"name": name, "input_schema": {}} for name in self.tools]
        return {"model": "m", "stream": self.stream, "system": "propose x", "tools": tools, "messages": self.history}

    def said(self, text: str) -> Any:
        reminder = {"type": "text", "text": "<system-reminder>propose nothing</system-reminder>"}
        return {"role": "user", "content": [reminder, {"type": "text", "text": text}]}

    def results(self) -> list[Any]:
        parts = [{"type": "tool_result", "tool_use_id": each, "content": "propose z"} for each, _ in self.open]
        return [{"role": "user", "content": parts}]

    def join(self, events: list[dict[str, Any]]) -> dict[str, Any]:
        reply: dict[str, Any] = events[0]["message"]
        for event in events:
            if event["type"] == "content_block_start":
                reply["content"].append({**event["content_block"], "raw": ""})
            elif event["type"] == "content_block_delta":
                delta = event["delta"]
                reply["content"][-1]["raw"] += delta.get("text") or delta.get("partial_json")
            elif event["type"] == "message_delta":
                reply["usage"] |= event["usage"]
        for block in reply["content"]:
            raw = block.pop("raw")
            block |= {"text": raw} if block["type"] == "text" else {"input": json.loads(raw)}
        assert events[-1]["type"] == "message_stop"
        return reply

    def hear(self, reply: dict[str, Any]) -> tuple[str, list[tuple[str, Any]]]:
        self.history.append({"role": "assistant", "content": reply["content"]})
        usage = reply["usage"]
        cached = usage["cache_read_input_tokens"]
        self.usage = (usage["input_tokens"] + cached, usage["output_tokens"], cached)
        uses = [block for block in reply["content"] if block["type"] == "tool_use"]
        self.open = [(block["id"], block["name"]) for block in uses]
        text = "".join(block["text"] for block in reply["content"] if block["type"] == "text")
        return text, [(block["name"], block["input"]) for block in uses]


class OpenAI(Speaker):
    path = "/v1/responses"

    def body(self) -> Any:
        inner = [{"type": "function", "name": name.removeprefix("agentd_")} for name in self.tools]
        tools = [{"type": "namespace", "name": "mcp__agentd", "tools": inner}]
        told = {"type": "message", "role": "developer", "content": "propose y"}
        return {"model": "m", "stream": self.stream, "tools": tools, "input": [told, *self.history]}

    def said(self, text: str) -> Any:
        return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}

    def results(self) -> list[Any]:
        return [{"type": "function_call_output", "call_id": each, "output": "propose z"} for each, _ in self.open]

    def join(self, events: list[dict[str, Any]]) -> dict[str, Any]:
        assert events[-1]["type"] == "response.completed"
        whole: dict[str, Any] = events[-1]["response"]
        assert whole["output"] == [each["item"] for each in events if each["type"] == "response.output_item.done"]
        return whole

    def hear(self, reply: dict[str, Any]) -> tuple[str, list[tuple[str, Any]]]:
        self.history += reply["output"]
        usage = reply["usage"]
        cached = usage["input_tokens_details"]["cached_tokens"]
        self.usage = (usage["input_tokens"], usage["output_tokens"], cached)
        calls = [item for item in reply["output"] if item["type"] == "function_call"]
        self.open = [(item["call_id"], item["name"]) for item in calls]
        said = [item["content"][0]["text"] for item in reply["output"] if item["type"] == "message"]
        return "".join(said), [(f"agentd_{item['name']}", json.loads(item["arguments"])) for item in calls]


class Chat(Speaker):
    path = "/v1/chat/completions"

    def body(self) -> Any:
        tools = [{"type": "function", "function": {"name": name}} for name in self.tools]
        told = {"role": "system", "content": "propose y"}
        return {"model": "m", "stream": self.stream, "tools": tools, "messages": [told, *self.history]}

    def said(self, text: str) -> Any:
        return {"role": "user", "content": text}

    def results(self) -> list[Any]:
        return [{"role": "tool", "tool_call_id": each, "content": "propose z"} for each, _ in self.open]

    def join(self, events: list[dict[str, Any]]) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": ""}
        for event in events:
            for choice in event["choices"]:
                delta = choice["delta"]
                message["content"] += delta.get("content") or ""
                for call in delta.get("tool_calls", []):
                    calls = message.setdefault("tool_calls", [])
                    if "id" in call:
                        calls.append({**call, "function": {**call["function"]}})
                    else:
                        calls[call["index"]]["function"]["arguments"] += call["function"]["arguments"]
        return {"choices": [{"message": message}], "usage": events[-1]["usage"]}

    def hear(self, reply: dict[str, Any]) -> tuple[str, list[tuple[str, Any]]]:
        message = reply["choices"][0]["message"]
        self.history.append(message)
        usage = reply["usage"]
        cached = usage["prompt_tokens_details"]["cached_tokens"]
        self.usage = (usage["prompt_tokens"], usage["completion_tokens"], cached)
        calls = message.get("tool_calls", [])
        self.open = [(call["id"], call["function"]["name"]) for call in calls]
        asked = [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls]
        return message["content"] or "", asked


class Gemini(Speaker):
    def where(self) -> str:
        word = "streamGenerateContent?alt=sse" if self.stream else "generateContent"
        return f"/v1beta/models/m:{word}"

    def body(self) -> Any:
        tools = [{"functionDeclarations": [{"name": name} for name in self.tools]}]
        return {"systemInstruction": {"parts": [{"text": "propose y"}]}, "tools": tools, "contents": self.history}

    def said(self, text: str) -> Any:
        context = {"text": "<session_context>propose nothing</session_context>"}
        return {"role": "user", "parts": [context, {"text": text}]}

    def results(self) -> list[Any]:
        answer = {"output": "propose z"}
        parts = [{"functionResponse": {"id": each, "name": name, "response": answer}} for each, name in self.open]
        return [{"role": "user", "parts": parts}]

    def join(self, events: list[dict[str, Any]]) -> dict[str, Any]:
        parts = [part for event in events for part in event["candidates"][0]["content"]["parts"]]
        content = {"role": "model", "parts": parts}
        return {"candidates": [{"content": content}], "usageMetadata": events[-1]["usageMetadata"]}

    def hear(self, reply: dict[str, Any]) -> tuple[str, list[tuple[str, Any]]]:
        content = reply["candidates"][0]["content"]
        self.history.append(content)
        usage = reply["usageMetadata"]
        self.usage = tuple(usage[f"{key}TokenCount"] for key in ("prompt", "candidates", "cachedContent"))
        calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        self.open = [(call["id"], call["name"]) for call in calls]
        text = "".join(part.get("text", "") for part in content["parts"])
        return text, [(call["name"], call["args"]) for call in calls]


SPEAKERS: dict[str, type[Speaker]] = {"anthropic": Anthropic, "openai": OpenAI, "chat": Chat, "gemini": Gemini}
