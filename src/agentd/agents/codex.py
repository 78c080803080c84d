"""Codex as an agent: the `codex exec` command of a job, and the reply in its events.

It runs with the person's own login and settings. Its shell is how it reads, so it always has one: in a sandbox that lets
it write nowhere, or below its folders only. MCP servers of the person's own cannot be left out.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import replace

from agentd.agents.events import Ending, Event, classify, count_of, failed, load, parse, text_of, unfinished
from agentd.model.job import EFFORT, Command, Failure, Job, Reply
from agentd.model.usage import Usage
from agentd.patterns import regex

INSTRUCTIONS = "codex-instructions.md"
# What would be in every request, or on the net, and no job needs; a name that a version does not know is passed over.
FEATURES = ("plugins", "apps", "goals", "view_image", "sleep_tool", "tool_suggest", "skill_search", "image_generation")
OFF = {
    **{f"features.{name}": False for name in FEATURES},
    "agents.enabled": False,
    "skills.include_instructions": False,
    "tools.experimental_request_user_input.enabled": False,
    "web_search": "disabled",
    "analytics.enabled": False,
    "check_for_update_on_startup": False,
}
PASSED = ("AGENTD_RUN", "AGENTD_DESK", "AGENTD_CALL", "AGENTD_PROCESS", "PYTHONPATH")
TOOLS = {"command_execution": "exec_command", "file_change": "apply_patch"}
SERVER = regex(r"required MCP servers failed to initialize: (?:agentd: )?(.+?)(?: \(code -\d+\))?$")
READ_ONLY = regex(r"Read-only file system|Operation not permitted")


def command(job: Job) -> Command:
    argv = [*(job.program or ("codex",)), "exec", "--json", "--skip-git-repo-check"]
    argv += ["--model", job.model] if job.model else []
    for key, value in {**OFF, **_sandbox(job), **_words(job), **(_server(job) if job.server else {})}.items():
        argv += ["-c", f"{key}={json.dumps(value, ensure_ascii=False)}"]  # of these values, JSON is TOML
    if job.edits:  # else codex notes for good that the person trusts this project, and takes the project's own settings
        argv += ["-c", f'projects={{{json.dumps(job.cwd, ensure_ascii=False)}={{trust_level="untrusted"}}}}']
    argv += job.args
    argv += ["resume", job.session, "-"] if job.session else ["-"]
    return Command(tuple(argv), job.prompt, files={INSTRUCTIONS: job.instructions} if job.instructions else {})


def _sandbox(job: Job) -> dict[str, object]:
    if not job.edits:
        return {"approval_policy": "never", "sandbox_mode": "read-only"}
    place = "sandbox_workspace_write"
    return {
        "approval_policy": "never",
        "sandbox_mode": "workspace-write",
        f"{place}.writable_roots": [os.path.join(job.cwd, job.folder)],
        f"{place}.exclude_slash_tmp": not job.shell,
        f"{place}.exclude_tmpdir_env_var": not job.shell,
    }


def _words(job: Job) -> dict[str, object]:
    effort = {"model_reasoning_effort": EFFORT.get(job.effort, job.effort)} if job.effort else {}
    file = {"model_instructions_file": os.path.join(job.scratch, INSTRUCTIONS)} if job.instructions else {}
    return {**effort, **file}


def _server(job: Job) -> dict[str, object]:
    """Settings for the MCP server: codex waits for it, never asks for approval, and passes only the variables listed here."""
    place = "mcp_servers.agentd"
    return {
        f"{place}.command": job.server[0],
        f"{place}.args": list(job.server[1:]),
        f"{place}.env_vars": sorted({*PASSED, *job.env}),
        f"{place}.required": True,
        f"{place}.enabled_tools": list(job.tools),
        f"{place}.default_tools_approval_mode": "approve",
    }


def read(lines: Iterable[str]) -> Reply:
    """Complete only if the turn was completed and the sandbox worked. Which model answered is only in codex's own files."""
    events, ending = parse(lines)
    items: list[Event] = [
        each
        for event in events
        if isinstance(each := event.get("item"), dict) and event.get("type") == "item.completed"
    ]
    ends = [event for event in events if event.get("type") in ("turn.completed", "turn.failed")]
    reply = Reply(
        text=next((text_of(item.get("text")) for item in reversed(items) if item.get("type") == "agent_message"), ""),
        refused=tuple(filter(None, map(_refused, items)))
        + (("apply_patch",) if "patch rejected" in ending.said else ()),
        session=next((text_of(each.get("thread_id")) for each in events if each.get("type") == "thread.started"), ""),
        usage=_usage(ends),
        cumulative=True,
    )
    if not ends or ends[-1].get("type") == "turn.failed":
        return failed(reply, *_trouble(events, ending))
    why = _no_sandbox(items, ending)
    return replace(reply, complete=not why, error=why, failure="failed" if why else "")


def _trouble(events: list[Event], ending: Ending) -> tuple[str, Failure]:
    """Why a turn was not completed. Errors before the first event are only on the standard error."""
    said = next(filter(None, map(_said, reversed(events))), "")
    if not said:
        missing = next(filter(None, map(SERVER.search, ending.errors)), None)
        if missing:
            return f"the MCP server agentd did not start: {missing[1]}", "failed"
        return unfinished(replace(ending, errors=()) if events else ending)
    match load(said):  # a refused request's answer comes as it is
        case {"error": {"message": str(inner)}}:
            return inner, classify(inner, 400)
    return said, "auth" if said.startswith("Missing environment variable") else classify(said)


def _said(event: Event) -> str:
    match event:
        case {"type": "turn.failed", "error": {"message": str(message)}}:
            return message
        case {"type": "error", "message": str(message)} if not message.startswith("Reconnecting"):
            return message
    return ""


def _refused(item: Event) -> str:
    """The tool in an item that was not allowed."""
    match item:
        case {"type": "mcp_tool_call", "status": "failed", "tool": str(tool), "error": {"message": str(why)}}:
            return tool if "approval" in why else ""
        case {"type": "command_execution" | "file_change" as kind, "status": "declined"}:
            return TOOLS[kind]
        case {"type": "command_execution", "status": "failed", "aggregated_output": str(output)}:
            return "exec_command" if READ_ONLY.search(output) else ""
    return ""


def _no_sandbox(items: list[Event], ending: Ending) -> str:
    """Why the sandbox let nothing be run or changed; codex completes such a turn without an error."""
    own = [item for item in items if text_of(item.get("type")) in TOOLS]
    if any(item.get("status") == "completed" for item in own):
        return ""
    for item in own:
        if text_of(item.get("aggregated_output")).startswith("bwrap:"):
            return f"its sandbox does not work here, so it could neither read nor write: {item['aggregated_output'].strip()}"
    served = any(item.get("type") == "mcp_tool_call" and item.get("status") == "completed" for item in items)
    if "could not create PATH aliases" in ending.said and (own or not served):
        return "its sandbox does not work with CODEX_HOME below the temporary folder: set TMPDIR to a folder elsewhere"
    return ""


def _usage(ends: list[Event]) -> Usage:
    """The usage of the whole conversation, as codex counts it; `input_tokens` includes the cached ones."""
    told = next((usage for event in reversed(ends) if isinstance(usage := event.get("usage"), dict)), {})
    taken, given, cached = (count_of(told.get(f"{name}_tokens")) for name in ("input", "output", "cached_input"))
    return Usage(taken, given, cached_in=cached)
