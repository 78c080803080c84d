"""The Gemini CLI as an agent: the `gemini` command of a job, and the reply in its events.

It runs with the person's own login and settings; tools that a job does not grant are not offered to the model.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentd.agents.events import UNKNOWN, Ending, Event, classify, count_of, failed, load, parse, text_of, unfinished
from agentd.model.job import Command, Failure, Job, Reply
from agentd.model.usage import Usage
from agentd.patterns import regex

READ = ("read_file", "read_many_files", "list_directory", "glob", "grep_search")
EDIT = ("write_file", "replace")
SHELL = ("run_shell_command",)
OWN_POLICIES = "~/.gemini/policies"  # gemini finds its home; it forgets the person's rules when it is given others
SERVED = "mcp_agentd_"
SETTINGS = ".gemini/settings.json"
ENV = {
    "GEMINI_CLI_TRUST_WORKSPACE": "true",  # else it starts no MCP server, or does not start at all
    "GEMINI_CLI_NO_RELAUNCH": "true",
    "GEMINI_TELEMETRY_ENABLED": "false",
}
CODES: Mapping[int, tuple[Failure, str]] = {
    41: ("auth", "it has no login that works"),
    53: ("failed", "it stopped at its own turn cap, model.maxSessionTurns in its settings"),
    55: ("failed", "it does not trust the folder it was started in"),
}
DENIED = ("policy_violation", "tool_not_registered")
LIMITED = (429, 499, 503)
_MENTION = regex(r"(?<!\\)@(?=[^\s,;!?()\[\]{}.])")
_NOISE = regex(r"\x1b\[[\d;]*m|^Warning: .*|^Ripgrep .*|^YOLO mode .*|^MCP issues .*|^ +at .*|^Error executing tool .*")
_QUOTA = regex(r"\b(Terminal|Retryable)QuotaError\b")
_ADVICE = regex(r"\nPlease wait and try again later\. .*")
_API_ERROR = regex(r"(?s)^\[API Error: (.*)\]")


def command(job: Job) -> Command:
    argv = [*(job.program or ("gemini",)), "--output-format", "stream-json"]
    argv += ["--approval-mode", "yolo" if job.shell else "auto_edit" if job.edits else "default"]
    policy, files = _file(job, "gemini-{}.toml", _policy(job))
    argv += ["--policy", policy, "--policy", OWN_POLICIES]
    argv += ["--allowed-mcp-server-names", "agentd" if job.server else "none"]
    folder = os.path.join(job.cwd, job.folder)
    argv += [] if folder.startswith(os.path.join(job.cwd, "")) else ["--include-directories", folder]
    argv += ["--model", job.model] if job.model else []
    argv += ["--resume", job.session] if job.session else []
    argv += job.args
    env = ENV
    if job.instructions:
        system, more = _file(job, "gemini-{}.md", job.instructions)
        env, files = {**ENV, "GEMINI_SYSTEM_MD": system}, {**files, **more}
    return Command(
        tuple(argv),
        stdin=_MENTION.sub(
            r"\\@", job.prompt + _full_names(job)
        ),  # an @ would pull in any file that has the next word in its name
        env=env,
        files=files,
        merges={SETTINGS: _registration(job)} if job.server else {},
    )


def _full_names(job: Job) -> str:
    """What agentd's tools are called here: gemini has tools of its own with some of their names. Said once a conversation."""
    if not job.server or not job.tools or job.session:
        return ""
    names = ", ".join(f"{SERVED}{tool}" for tool in job.tools)
    return f"\n\nThe tools of the MCP server agentd have these full names here: {names}\n"


def _file(job: Job, name: str, text: str) -> tuple[str, Mapping[str, str]]:
    """The path of a scratch file, and the file. Its name has the hash of the text, as calls may share a folder."""
    named = name.format(hashlib.sha256(text.encode()).hexdigest()[:12])
    return os.path.join(job.scratch, named), {named: text}


def _policy(job: Job) -> str:
    """The policy: allowed tools with a priority below the user's own rules, denied ones with a priority above them."""
    allowed = (*READ, *(EDIT if job.edits else ()), *(SHELL if job.shell else ()))
    denied = tuple(tool for tool in (*EDIT, *SHELL) if tool not in allowed)
    rules = [_rule("deny", 0, ("*",)), _rule("allow", 1, allowed, allowRedirection=True)]
    rules += [_rule("deny", 998, ("mcp_*",)), *([_rule("deny", 999, denied)] if denied else [])]
    rules += [_rule("allow", 999, job.tools, mcpName="agentd")] if job.server and job.tools else []
    return "\n".join(rules)


def _rule(decision: str, priority: int, tools: Sequence[str], **more: Any) -> str:
    fields = {"toolName": tools, "decision": decision, "priority": priority, **more}
    return "\n".join(["[[rule]]", *(f"{name} = {json.dumps(value)}" for name, value in fields.items()), ""])


def _registration(job: Job) -> Mapping[str, Any]:
    """The entry of the MCP server. It is the same for every call; the environment says which call is served."""
    end = job.server.index("mcp") + 1 if "mcp" in job.server else len(job.server)
    env = {name: f"${name}" for name in ("AGENTD_DESK", "AGENTD_CALL", "AGENTD_SOCKET")}
    server = {"command": job.server[0], "args": list(job.server[1:end]), "env": env, "trust": True}
    return {"mcpServers": {"agentd": server}}


def read(lines: Iterable[str]) -> Reply:
    """Complete only with a result event that says success: a killed gemini exits with 0 and without one."""
    events, ending = parse(lines)
    results = [event for event in events if event.get("type") == "result"]
    names = {call: name for event in events for call, name in _called(event)}
    done = [names.get(text_of(event.get("tool_id")), "") for event in events if event.get("status") == "success"]
    refused = [names.get(_refused(event), "") for event in events]
    reply = Reply(
        text=_last_text(events),
        refused=tuple(dict.fromkeys(name.removeprefix(SERVED) for name in refused if name)),
        session=next(filter(None, (text_of(event.get("session_id")) for event in events)), ""),
        model=next(filter(None, map(_model, reversed(events))), ""),
        usage=_usage(results[-1]) if results else Usage(),
    )
    if not results or results[-1].get("status") != "success":
        return failed(reply, *_trouble(events, ending))
    if "MCP issues detected" in ending.said and not any(name.startswith(SERVED) for name in done):
        return failed(reply, "the MCP server agentd did not start, so none of its tools was there", "failed")
    return replace(reply, complete=True)


def _trouble(events: Sequence[Event], ending: Ending) -> tuple[str, Failure]:
    """What went wrong. Errors before the first event are only on the standard error."""
    said = _ADVICE.sub("", next(filter(None, map(_said, reversed(events))), ""))
    printed = tuple(filter(None, (_NOISE.sub("", line).strip() for line in ending.errors)))
    if ending.code in CODES:
        failure, sentence = CODES[ending.code]
        return f"{sentence}: {said or ' '.join(printed[:3])}", failure
    if not said and "[boolean]" in ending.said:  # its help
        return UNKNOWN, "failed"
    if not said:
        error, failure = unfinished(replace(ending, errors=printed[:3]))
        return error, "lost" if "resuming session" in error else failure
    status = ending.code + 256 if 144 <= ending.code <= 255 else None  # the service's, cut to a byte
    if found := _API_ERROR.match(said):
        said = found[1]
        match load(said):
            case {"error": {"message": str(inner), "code": int(code)}} if inner:
                said, status = inner, code
    if status in LIMITED and (kind := _QUOTA.search(ending.said)):  # gemini knows what the message may not say
        return said, "quota" if kind[1] == "Terminal" else "transient"
    failure = classify(said, status)
    broken = found and status is None and "not found" not in said  # no answer of the service, but half of one or none
    return said, "transient" if broken and failure == "failed" else failure


def _said(event: Event) -> str:
    match event:
        case {"type": "result", "error": {"message": str(message)}} | {"type": "error", "message": str(message)}:
            return message
    return ""


def _called(event: Event) -> Iterator[tuple[str, str]]:
    match event:
        case {"type": "tool_use", "tool_id": str(call), "tool_name": str(name)}:
            yield call, name


def _refused(event: Event) -> str:
    """The id of a call that was denied, or whose tool does not exist."""
    match event:
        case {"type": "tool_result", "tool_id": str(call), "error": {"type": str(kind), "message": str(why)}}:
            return call if kind in DENIED or why.startswith("Path not in workspace") else ""
    return ""


def _last_text(events: Sequence[Event]) -> str:
    """What the agent said after its last tool call; if nothing, what it said before that."""
    texts = [""]
    for event in events:
        match event:
            case {"type": "tool_use"} if texts[-1]:
                texts.append("")
            case {"type": "message", "role": "assistant", "content": str(piece)}:
                texts[-1] += piece
    return texts[-1] or texts[max(0, len(texts) - 2)]


def _usage(result: Event) -> Usage:
    match result:
        case {"stats": {"input_tokens": sent, "output_tokens": out, **rest}}:
            sent, out, total = count_of(sent), count_of(out), count_of(rest.get("total_tokens"))
            if sent is not None and out is not None and total is not None:
                out = max(out, total - sent)  # what it thought is in the total alone
            return Usage(
                sent, out, duration_ms=count_of(rest.get("duration_ms")), cached_in=count_of(rest.get("cached"))
            )
    return Usage()


def _model(event: Event) -> str:
    """The model with the most tokens: gemini may use others than the one it was told to."""
    match event:
        case {"type": "result", "stats": {"models": dict(models)}}:
            used = {name: count_of(each.get("total_tokens")) for name, each in models.items() if isinstance(each, dict)}
            return max(used, key=lambda name: used[name] or 0) if any(used.values()) else ""
        case {"type": "init", "model": str(name)}:
            return name
    return ""
