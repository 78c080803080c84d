"""The GitHub Copilot CLI as an agent: the `copilot` command of a job, and the reply in its events.

It runs with the person's own login and settings; tools that a job does not grant are not offered to the model.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from agentd.agents.events import Ending, Event, classify, count_of, failed, parse, text_of, unfinished
from agentd.model.job import EFFORT, Command, Failure, Job, Reply

READ = ("view", "grep", "glob")
EDIT = ("create", "edit", "apply_patch")
SHELL = ("bash", "read_bash", "stop_bash", "list_bash")
SERVED = "agentd-"
FLAGS = ("--output-format", "json", "--no-ask-user", "--no-auto-update", "--no-color", "--disable-builtin-mcps")
KINDS: Mapping[str, Failure] = {"authentication": "auth", "authorization": "auth", "quota": "quota"}
AGENT = "---\nname: agentd\ndescription: Works on one step of a workflow.\n---\n"
PLUGIN = '{"name": "agentd", "version": "1.0.0", "description": "The instructions of a step."}\n'
EMPTY = "No response was returned"
NO_SESSION = "No session, task, or name matched"


def command(job: Job) -> Command:
    argv = [*(job.program or ("copilot",)), *FLAGS]
    tools = [*READ, *(EDIT if job.edits else ()), *(SHELL if job.shell else ())]
    tools += [f"{SERVED}{tool}" for tool in job.tools if job.server]
    argv += ["--available-tools=" + ",".join(tools), *_grants(job)]
    folder = os.path.join(job.cwd, job.folder)
    argv += [] if folder.startswith(os.path.join(job.cwd, "")) else ["--add-dir", folder]
    if job.server:
        server = {"type": "local", "command": job.server[0], "args": list(job.server[1:]), "tools": list(job.tools)}
        argv += ["--additional-mcp-config", json.dumps({"mcpServers": {"agentd": server}})]
    files = {}
    if job.instructions:  # they come after its own: a plugin's agent is the only way to give any
        plugin = "copilot-" + hashlib.sha256(job.instructions.encode()).hexdigest()[:12]
        files = {f"{plugin}/plugin.json": PLUGIN, f"{plugin}/agents/agentd.agent.md": AGENT + job.instructions}
        argv += ["--plugin-dir", os.path.join(job.scratch, plugin), "--agent", "agentd:agentd"]
    argv += ["--model", job.model] if job.model else []
    argv += ["--reasoning-effort", EFFORT.get(job.effort, job.effort)] if job.effort else []
    argv += [f"--resume={job.session}"] if job.session else []
    argv += job.args
    return Command(tuple(argv), job.prompt, files=files)


def _grants(job: Job) -> list[str]:
    """Flags for what is allowed without asking. With `--allow-tool=shell` alone it may not even redirect into a file."""
    served = [f"--allow-tool=agentd({tool})" for tool in job.tools if job.server]
    if job.shell:
        return [*served, "--allow-all-tools" if job.edits else "--allow-tool=shell"]
    return [*served, "--disallow-temp-dir", *(["--allow-tool=write"] if job.edits else [])]


def read(lines: Iterable[str]) -> Reply:
    """Complete only with a result of exit code 0 and without an abort: a killed copilot reports 0 too."""
    events, ending = parse(lines)
    results = [event for event in events if event.get("type") == "result"]
    said = [answer for event in events for answer in _answers(event)]
    names = {call: name for event in events for call, name in _called(event)}
    refused = [names.get(_refused(event), "") for event in events]
    reply = Reply(
        text=next(filter(None, (text.strip() for text, _ in reversed(said))), ""),
        refused=tuple(dict.fromkeys(name.removeprefix(SERVED) for name in refused if name)),
        session=text_of(results[-1].get("sessionId")) if results else "",
        model=said[-1][1] if said else "",
    )
    aborted = any(event.get("type") == "abort" for event in events)
    code = results[-1].get("exitCode") if results and not aborted else None
    if type(code) is not int or code != 0:
        return failed(reply, *_trouble(events, ending))
    error = next(filter(None, map(_lacks_tools, events)), "")
    return replace(reply, complete=not error, error=error, failure="failed" if error else "")


def _trouble(events: Sequence[Event], ending: Ending) -> tuple[str, Failure]:
    """What went wrong. Errors before the first event are only on the standard error."""
    said, kind, status = next(filter(None, map(_failed, reversed(events))), ("", "", None))
    if kind in KINDS:
        return said, KINDS[kind]
    if said:
        cut = status is None and (EMPTY in said or "JSON" in said)
        return said, "transient" if cut else classify(said, status)
    error, failure = unfinished(replace(ending, errors=ending.errors[:3]))
    return error, "lost" if NO_SESSION in error else failure


def _failed(event: Event) -> tuple[str, str, int | None] | None:
    """The message of an error without its count of retries, its type, and its HTTP status."""
    match event:
        case {"type": "session.error", "data": {"message": str(message), **rest}} if message:
            said = message.split("Last error: ")[-1] or message
            return said, text_of(rest.get("errorType")), count_of(rest.get("statusCode"))
    return None


def _answers(event: Event) -> Iterator[tuple[str, str]]:
    """What the agent itself said, and its model; answers of its helpers are left out."""
    match event:
        case {"type": "assistant.message", "data": {"content": str(text), **rest}} if "agentId" not in event:
            yield text, text_of(rest.get("model"))


def _called(event: Event) -> Iterator[tuple[str, str]]:
    match event:
        case {"type": "tool.execution_start", "data": {"toolCallId": str(call), "toolName": str(name)}}:
            yield call, name


def _refused(event: Event) -> str:
    """The id of a call that was denied, or whose tool does not exist."""
    match event:
        case {"data": {"toolCallId": str(call), "error": {"code": code, "message": str(why)}}}:
            return call if code == "denied" or why.endswith(" does not exist.") else ""
    return ""


def _lacks_tools(event: Event) -> str:
    match event:
        case {"data": {"serverName": "agentd", "status": "failed", "error": str(why)}}:
            return f"the MCP server agentd did not start: {why}"
    return ""
