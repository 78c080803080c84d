"""Claude Code as an agent: the `claude -p` command of a job, and the reply in its events.

It runs with the person's own login and settings; tools that a job does not grant are not offered, or denied without asking.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import replace

from agentd.agents.events import Event, amount_of, classify, count_of, failed, parse, text_of, unfinished
from agentd.model.job import EFFORT, Command, Failure, Job, Reply
from agentd.model.usage import Usage
from agentd.patterns import regex

ENV = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_MAX_RETRIES": "3",  # else ten, for over 100 s, also of a key that is refused
    "CLAUDE_CODE_SIMPLE_SYSTEM_PROMPT": "1",  # with older models too, a fifth of the words about itself and its tools
    "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS": "1",  # agentd commits
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",  # notes outside the project
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",  # an @ in a prompt would pull in a file
    "ENABLE_TOOL_SEARCH": "false",  # else it has to search for the tools of its step
}
EDITS = ("Edit", "Write")
SPECIAL, ESCAPED = regex(r"[]\\[*?!#{}]"), r"\\\g<0>"
# What it calls a failure, where that says more than its message.
KINDS: dict[str, Failure] = {
    "authentication_failed": "auth",
    "oauth_org_not_allowed": "auth",
    "account_on_hold": "auth",
    "verification_required": "auth",
    "cloud_credential_error": "auth",
    "billing_error": "quota",
    "overloaded": "transient",
    "server_error": "transient",
    "invalid_request": "failed",
    "model_not_found": "failed",
    "max_output_tokens": "failed",
}
# The settings that end a call in the middle, by what the program says then.
CAPS = {"error_max_turns": "[calls] max_turns", "error_max_budget_usd": "[calls] max_cost"}
OVER = regex(r"(?i)(?:hit|reached) your|out of .{0,10}usage|limit (?:reached|is set to)|\bresets\b|quota")
SINCE = "model_usage_since_last_result"
FRESH = ("inputTokens", "cacheCreationInputTokens", "input_tokens", "cache_creation_input_tokens")
CACHED = ("cacheReadInputTokens", "cache_read_input_tokens")
OUT = ("outputTokens", "output_tokens")


def command(job: Job) -> Command:
    argv = [*(job.program or ("claude",)), "-p", "--output-format", "stream-json", "--verbose"]
    argv += ["--permission-mode", "dontAsk", "--disable-slash-commands", "--strict-mcp-config"]
    if job.server:
        server = {"command": job.server[0], "args": list(job.server[1:])}
        argv += ["--mcp-config", json.dumps({"mcpServers": {"agentd": server}})]
    own = ["Read", *(["Bash"] if job.shell else ["Grep", "Glob"])]  # a shell finds files by itself
    argv += ["--tools", ",".join([*own, *(EDITS if job.edits else ())])]
    argv += ["--allowedTools", *own, *(f"mcp__agentd__{tool}" for tool in job.tools), *_edits(job)]
    argv += ["--system-prompt", job.instructions] if job.instructions else []
    argv += ["--model", job.model] if job.model else []
    argv += ["--effort", EFFORT.get(job.effort, job.effort)] if job.effort else []
    argv += ["--max-turns", str(job.max_turns)] if job.max_turns else []
    argv += ["--max-budget-usd", f"{job.max_cost:g}"] if job.max_cost else []
    argv += ["--resume", job.session] if job.session else []
    argv += job.args
    prompt = f"\n{job.prompt}" if job.prompt.startswith("/") else job.prompt  # else it is taken for a command
    return Command(tuple(argv), prompt, ENV)


def _edits(job: Job) -> list[str]:
    """Rules for where files may be changed. A rule for `Edit` also covers `Write`, and paths with links or `..`."""
    folder = os.path.join(job.cwd, job.folder)
    apart = not folder.startswith(os.path.join(job.cwd, ""))
    # With one slash a path would begin at the settings' folder, with two it begins at the root of the disk.
    rules = ["Edit(./**)", *([f"Edit(/{SPECIAL.sub(ESCAPED, folder)}/**)"] if apart else [])]
    return rules if job.edits else []


def read(lines: Iterable[str]) -> Reply:
    """Complete only if the last result says success and agentd's tools were there from the start."""
    events, ending = parse(lines)
    results = [event for event in events if event.get("type") == "result"]
    reply = Reply(
        text=text_of(results[-1].get("result")) if results else "",
        refused=tuple(name for result in results for name in _refused(result)),
        session=next(filter(None, (text_of(event.get("session_id")) for event in reversed(events))), ""),
        model=next(filter(None, map(_model, reversed(events))), ""),
        usage=_usage(results),
    )
    failure: Failure
    if not results:
        error, failure = unfinished(ending)
    elif results[-1].get("subtype") != "success" or results[-1].get("is_error") is not False:
        word = text_of(results[-1].get("subtype"))
        error = reply.text or _errors(results[-1]) or f"it ended with {results[-1].get('subtype')!r}"
        error = f"it was ended in the middle by {CAPS[word]}: {error}" if word in CAPS else error
        failure = _failure(events, results[-1], error)
    elif any(map(_lacks_tools, events)):
        error, failure = "the MCP server agentd did not start, so none of its tools was there", "failed"
    else:
        return replace(reply, complete=True)
    return failed(reply, error, failure)


def _failure(events: list[Event], result: Event, error: str) -> Failure:
    answers = [event for event in events if event.get("type") == "assistant"]
    word = text_of(answers[-1].get("error")) if answers else ""
    if text_of(result.get("subtype")).startswith("error_max"):
        return "failed"
    if word == "rate_limit":
        return "quota" if OVER.search(error) else "transient"
    if word in KINDS:
        return KINDS[word]
    if "malformed response" in error:
        return "transient"
    return "lost" if "--resume requires" in error else classify(error, count_of(result.get("api_error_status")))


def _errors(result: Event) -> str:
    match result:
        case {"errors": [*errors]}:
            return "; ".join(filter(None, map(text_of, errors)))
    return ""


def _model(event: Event) -> str:
    """The model of an answer; a name in angle brackets marks an answer of the program itself."""
    match event:
        case {"type": "assistant", "message": {"model": str(name)}} if not name.startswith("<"):
            return name
    return ""


def _refused(result: Event) -> list[str]:
    match result:
        case {"permission_denials": [*denials]}:
            return [name for each in denials if isinstance(each, dict) and (name := text_of(each.get("tool_name")))]
    return []


def _lacks_tools(event: Event) -> bool:
    match event:
        case {"subtype": "init", "mcp_servers": [*servers]}:
            known = [(each.get("name"), each.get("status")) for each in servers if isinstance(each, dict)]
            return any(name == "agentd" and status not in ("connected", "pending") for name, status in known)
    return False


def _usage(results: list[Event]) -> Usage:
    """What this call used: `total_cost_usd` counts the whole conversation, and `usage` leaves out what a cap cut off."""
    told = [each for result in results if isinstance(each := result.get(SINCE, result.get("usage")), dict)]
    if not told:
        return Usage()
    nested = (each.values() if "input_tokens" not in each else [each] for each in told)
    parts = [part for each in nested for part in each if isinstance(part, dict)]
    fresh, cached, out = (
        sum(count_of(part.get(name)) or 0 for part in parts for name in names) for names in (FRESH, CACHED, OUT)
    )
    costs = [cost for part in parts if (cost := amount_of(part.get("costUSD"))) is not None]
    return Usage(fresh + cached, out, sum(costs, 0.0) if costs or not parts else None, cached_in=cached)
