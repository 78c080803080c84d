"""What the four protocols have in common: what a request asks, and what it is answered."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Json = Mapping[str, Any]
Role = Literal["user", "assistant", "tool"]

# What the programs put between or around the words of the person: never the words of a scene.
_BLOCKS = (
    "system-reminder|environment_context|user_instructions|session_context|permissions instructions|INSTRUCTIONS|"
    "skills_instructions|collaboration_mode|turn_aborted|available-deferred-tools|loaded_context|hook_context|"
    "current_datetime|reminder|tagged_files"
)
_CONTEXT = re.compile(rf"<({_BLOCKS})\b[^>]*>.*?</\1>", re.DOTALL)
_TURN = re.compile(r"_turn(\d+)_")


@dataclass(frozen=True)
class Message:
    """One entry of a conversation.

    turns   the turns that its tool calls were made in, as their ids say
    search  it only looks for tools that are not loaded yet, which is no turn of a scene
    """

    role: Role
    text: str = ""
    turns: tuple[int, ...] = ()
    search: bool = False


@dataclass(frozen=True)
class Tool:
    """A tool as the request declares it; a free one takes a text as it is, not JSON."""

    name: str
    namespace: str = ""
    free: bool = False

    @property
    def full(self) -> str:
        return f"{self.namespace}__{self.name}" if self.namespace else self.name


@dataclass(frozen=True)
class Asked:
    """A request, whoever's protocol it came in.

    search  the tool that loads others, if there is one
    code    the tool that runs a program which calls others, if there is one
    system  the bytes of the system prompt
    schema  what JSON the answer is to be, if it is to be any
    """

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    search: str = ""
    code: str = ""
    model: str = ""
    effort: str = ""
    system: int = 0
    stream: bool = False
    size: int = 0
    schema: Json | None = None


@dataclass(frozen=True)
class Called:
    """A tool call to answer with. The id carries the turn, so that the next request tells how far the scene is.

    Arguments that are a text are sent as they are, whatever they are.
    """

    id: str
    tool: Tool
    args: Json | str
    kind: Literal["tool", "search", "code"] = "tool"

    @property
    def raw(self) -> str:
        return self.args if isinstance(self.args, str) else dumps(self.args)


@dataclass(frozen=True)
class Answer:
    """What the model says. `cached` is a part of `tokens_in`."""

    say: str = ""
    calls: tuple[Called, ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0


Event = tuple[str, Json]  # the name of a server-sent event, empty for none, and its data


class Vendor(Protocol):
    """A protocol as a module: how a request is read, how an answer and a failure are written."""

    def read(self, path: str, body: Json, size: int) -> Asked: ...
    def write(self, asked: Asked, answer: Answer) -> Json: ...
    def events(self, asked: Asked, answer: Answer) -> Sequence[Event]: ...
    def error(self, status: int, quota: bool, wait: float) -> tuple[int, Json]: ...


def spoken(text: str) -> str:
    """The words of a person in a message: without what their program put around them."""
    return _CONTEXT.sub("", text).strip()


def turns_of(ids: Sequence[str]) -> tuple[int, ...]:
    return tuple(int(found[1]) for found in map(_TURN.search, ids) if found)


def dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def text_in(content: object, *kinds: str) -> str:
    """The text of a message's content: a string, or a list of parts of these types."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [part for part in content if isinstance(part, dict) and part.get("type") in kinds]
    return "\n".join(spoken(str(part.get("text", ""))) for part in parts)


def size_of(value: object) -> int:
    return len(dumps(value).encode()) if value else 0


def sample(schema: Json) -> Any:
    """The plainest value that fits a JSON schema."""
    kind = str(schema.get("type", "object")).lower()
    if schema.get("enum"):
        return schema["enum"][0]
    if kind == "object":
        return {name: sample(part) for name, part in (schema.get("properties") or {}).items()}
    plain: dict[str, Any] = {"array": [], "boolean": False, "integer": 1, "number": 1}
    return plain.get(kind, "A short answer.")


def chunks(text: str) -> list[str]:
    """A text in the two pieces it is streamed in, so that a stream can break in its middle."""
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]
