"""What a line of an agent's output shows in the live view: its words, and the tokens it counts.

The event shapes of all agents are matched together, whichever agent printed the line: they overlap, and a program of a
person's own may print any of them. A field of an unexpected type is ignored; nothing raises.
"""

import json
from collections.abc import Iterable, Mapping

from agentd.patterns import regex

LONGEST = 200
_ESCAPES = regex(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
# Control characters, marks of the writing direction, surrogates. White space is handled by `tidy`.
_UNSEEN = regex(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SERVER = regex(r"^(?:mcp__.+?__|mcp_[^_]+_|agentd_)(?=.)")  # the MCP server in the name of its tool
_LONG = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
_OWN = ("tokens_in", "tokens_out")
_SHORT = ("input", "output", "reasoning")


def said(line: str) -> str:
    """The last thing the agent says in a line of its output, as one line; empty if it says nothing."""
    event = _event(line)
    return tidy(line if event is None else _words(event))


def usage(line: str) -> tuple[str, int] | None:
    """The turn that a line counts tokens for, and how many; an empty turn means the whole call."""
    event = _event(line) if "tokens" in line else None
    match event:
        case {"type": "assistant", "message": {"usage": dict(counts), **message}}:
            turn, count = str(message.get("id") or "turn"), _sum(counts, (*_LONG, *_OWN))
        case {"type": "step_finish", "part": {"tokens": dict(counts), **part}}:
            cache = counts.get("cache")
            cached = _sum(cache, ("read", "write")) if isinstance(cache, dict) else None
            turn, count = str(part.get("id") or "turn"), _sum(counts, _SHORT)
            count = count + (cached or 0) if count is not None else None
        case {"usage": dict(counts)} | {"stats": dict(counts)}:
            turn, count = "", _sum(counts, (*_LONG, *_OWN))
        case _:
            return None
    return None if count is None else (turn, count)


def tidy(text: str) -> str:
    """Text as one short line, without escape sequences and control characters."""
    seen = _UNSEEN.sub("", _ESCAPES.sub("", text[: LONGEST * 10]))
    return " ".join(seen.split())[:LONGEST]


def _event(line: str) -> Mapping[str, object] | None:
    """The JSON object on a line; None if the line is plain text."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def _words(event: Mapping[str, object]) -> str:
    match event:
        case {"type": "assistant", "message": {"content": [*blocks]}}:
            return next(filter(None, map(_block, reversed(blocks))), "")
        case (
            {"type": "assistant", "message": {"content": str(text)}}
            | {"type": "message", "role": "assistant", "content": str(text)}
            | {"type": "item.completed", "item": {"type": "agent_message" | "reasoning", "text": str(text)}}
            | {"type": "text" | "result", "text": str(text)}
            | {"type": "text", "part": {"text": str(text)}}
            | {"type": "result", "result": str(text)}
            | {"type": "error", "message": str(text)}
            | {"type": "result" | "error" | "turn.failed" | "tool_result", "error": {"message": str(text)}}
            | {"type": "result" | "error", "error": str(text)}
        ):
            return text
    return _tool(event)


def _block(block: object) -> str:
    """One block of a message: words, or the call of a tool."""
    match block:
        case {"type": "text", "text": str(text)} if text.strip():
            return text
        case {"type": "tool_use", "name": str(name)}:
            return f"→ {_bare(name)}"
    return ""


def _tool(event: Mapping[str, object]) -> str:
    match event:
        case {"type": "tool_use", "tool_name": str(name)}:
            return f"→ {_bare(name)}"
        case {"type": "tool", "tool": str(name), "status": status}:
            return _done(_bare(name), status == "success")
        case {"type": "tool_use", "part": {"tool": str(name), "state": {"status": "completed" | "error" as status}}}:
            return _done(_bare(name), status == "completed")
        case {"type": "tool_use", "part": {"tool": str(name)}}:
            return f"→ {_bare(name)}"
        case {"type": "item.started" | "item.completed" as when, "item": {"status": status, **item}}:
            name = _item(item)
            begun = name and when == "item.started"
            return f"→ {name}" if begun else _done(name, status == "completed")
    return ""


def _item(item: Mapping[object, object]) -> str:
    """What an item of codex works on."""
    match item:
        case {"type": "mcp_tool_call", "tool": str(name)}:
            return _bare(name)
        case {"type": "command_execution", "command": str(command)}:
            return tidy(command)
        case {"type": "file_change", "changes": [*changes]}:
            return tidy(
                ", ".join(str(change["path"]) for change in changes if isinstance(change, dict) and "path" in change)
            )
    return ""


def _done(name: str, well: bool) -> str:
    return f"{name[: LONGEST - 2]} {'✓' if well else '✗'}" if name else ""


def _bare(name: str) -> str:
    return _SERVER.sub("", name)


def _sum(counts: Mapping[str, object], names: Iterable[str]) -> int | None:
    found = [count for name in names if type(count := counts.get(name)) is int and count >= 0]
    return sum(found) if found else None
