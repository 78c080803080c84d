"""opencode as an agent: the `opencode run` command of a job, and the reply in its events.

It runs with the person's own login and settings, and as an agent of its own that may do what the job grants.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from agentd.agents.events import (
    UNKNOWN,
    Ending,
    Event,
    amount_of,
    classify,
    count_of,
    parse,
    text_of,
    unfinished,
    wait_asked,
)
from agentd.model.job import Command, Failure, Job, Reply
from agentd.model.usage import Usage
from agentd.patterns import regex

SERVED = "agentd_"
LOGS = ("--print-logs", "--log-level", "WARN")  # the only place that tells of a server that did not start
SECRETS = {"*": "allow", "*.env": "deny", "*.env.*": "deny", "*.env.example": "allow"}
DENIED = ("Model tried to call unavailable tool", "The user has specified a rule", "The user rejected permission")
NO_SERVER = regex(r'"server unavailable" key=agentd\b')
_LOGGED = regex(r'\berror="((?:[^"\\]|\\.)*)"')
_SECONDS = regex(r"[0-9]{1,6}")
_COLOUR = regex(r"\x1b\[[\d;]*m")


def command(job: Job) -> Command:
    argv = [*(job.program or ("opencode",)), "run", "--format", "json", *LOGS, "--agent", "agentd"]
    argv += ["--title", f"agentd {job.call}"]  # else a model is asked for one
    argv += ["--model", job.model] if job.model else []
    argv += ["--variant", job.effort] if job.effort else []
    argv += ["--session", job.session] if job.session else []
    argv += job.args
    return Command(tuple(argv), job.prompt, {"OPENCODE_CONFIG_CONTENT": json.dumps(_config(job))})


def _config(job: Job) -> Mapping[str, Any]:
    agent = {"mode": "primary", "permission": _permissions(job)}
    server = {"type": "local", "command": list(job.server), "enabled": True}
    return {
        "agent": {"agentd": {**agent, "prompt": job.instructions} if job.instructions else agent},
        "mcp": {"agentd": server} if job.server else {},
        "share": "disabled",
        "autoupdate": False,
        "snapshot": False,  # a copy of the work tree before each turn
    }


def _permissions(job: Job) -> Mapping[str, Any]:
    """The permissions: all denied except those listed. The last rule that matches counts."""
    return {
        "*": "deny",
        **dict.fromkeys(("grep", "glob", "list"), "allow"),
        "read": SECRETS,
        "external_directory": {"*": "deny", os.path.join(job.cwd, job.folder, "*"): "allow"},
        **({"edit": "allow"} if job.edits else {}),
        **({"bash": "allow"} if job.shell else {}),
        **{f"{SERVED}{tool}": "allow" for tool in job.tools if job.server},
    }


def read(lines: Iterable[str]) -> Reply:
    """Complete if the last event is the regular end of a turn; opencode has no result event."""
    events, ending = parse(lines)
    tools = [text_of(part.get("tool")) for event in events for part in _parts(event, "tool")]
    said = [text_of(part.get("text")) for event in events for part in _parts(event, "text")]
    reply = Reply(
        text=next(filter(None, reversed(said)), ""),
        refused=tuple(dict.fromkeys(filter(None, map(_refused, events)))),
        session=next(filter(None, (text_of(event.get("sessionID")) for event in events)), ""),
        usage=_usage([part for event in events for part in _parts(event, "step-finish")]),
    )
    match events[-1:]:
        case [{"type": "step_finish", "part": {"type": "step-finish", "reason": "stop"}}]:
            error, failure = _shortfall(reply, tools, ending)
        case [{"type": "step_finish", "part": {"reason": str(reason)}}] if reason != "tool-calls":
            error, failure = f"its last turn ended with {reason!r}", "failed"
        case [{"type": "error", "error": {"data": dict(data)}}]:
            error, failure = _trouble(data, ending)
        case _ if "[boolean]" in ending.said:  # its help
            error, failure = UNKNOWN, "failed"
        case _:
            error, failure = unfinished(replace(ending, errors=tuple(_COLOUR.sub("", line) for line in ending.errors)))
    wait = next(map(_wait, events[-1:]), 0.0) or wait_asked(error)
    return replace(reply, complete=not error, error=error, failure=failure, retry_after=wait)


def _shortfall(reply: Reply, tools: Sequence[str], ending: Ending) -> tuple[str, Failure | Literal[""]]:
    """What is missing although opencode reports success."""
    if NO_SERVER.search(ending.said) and not any(tool.startswith(SERVED) for tool in tools):
        return "the MCP server agentd did not start, so none of its tools was there", "failed"
    return ("", "") if reply.text or tools else ("the model gave an empty answer", "transient")


def _trouble(data: Mapping[str, Any], ending: Ending) -> tuple[str, Failure]:
    """What went wrong; some errors are only in the log."""
    said, status = text_of(data.get("message")), count_of(data.get("statusCode"))
    logged = _LOGGED.findall(ending.said)
    if logged and (not said or "Check server logs" in said):
        said = logged[-1]
    if status is None and (
        data.get("isRetryable") is True or "JSON" in said
    ):  # no answer of the service, or half of one
        return said or "the connection to the service broke", "transient"
    told = f"{said} {text_of(data.get('responseBody'))}" if status == 429 else said  # how a quota differs from a rate
    return said or "it failed without a word", classify(told, status)


def _parts(event: Event, kind: str) -> Iterator[Mapping[str, Any]]:
    match event:
        case {"part": dict(part)} if part.get("type") == kind:
            yield part


def _refused(event: Event) -> str:
    """The tool that was denied, or does not exist."""
    match event:
        case {"part": {"type": "tool", "tool": str(tool), "state": {"error": str(why)}}} if why.startswith(DENIED):
            return tool.removeprefix(SERVED)
    return ""


def _wait(event: Event) -> float:
    match event:
        case {"error": {"data": {"responseHeaders": {"retry-after": str(asked)}}}} if _SECONDS.fullmatch(asked):
            return float(asked)
    return 0.0


def _usage(turns: Sequence[Mapping[str, Any]]) -> Usage:
    """The sum of the turns. A cost of 0 means that opencode does not know it."""
    total = Counter[str]()
    cost = 0.0
    for turn in turns:
        cost += amount_of(turn.get("cost")) or 0.0
        match turn.get("tokens"):
            case {"cache": dict(cache), **tokens}:
                total.update({name: count_of(tokens.get(name)) or 0 for name in ("input", "output", "reasoning")})
                total.update({name: count_of(cache.get(name)) or 0 for name in ("read", "write")})
    if not total:
        return Usage(cost=cost or None)
    sent = total["input"] + total["read"] + total["write"]
    return Usage(sent, total["output"] + total["reasoning"], cost or None, cached_in=total["read"])
