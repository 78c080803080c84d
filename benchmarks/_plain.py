"""The agents with their plain defaults, as somebody would call them who only wants their tools to work: adapters to compare with."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from agentd.agents import claude as built_in_claude
from agentd.agents import codex as built_in_codex
from agentd.agents import gemini as built_in_gemini
from agentd.model.job import Command, Job, Reply


def plain_claude(job: Job) -> Command:
    server = {"command": job.server[0], "args": list(job.server[1:])}
    words = ("claude", "-p", "--output-format", "stream-json", "--verbose", "--model", job.model)
    config = ("--mcp-config", json.dumps({"mcpServers": {"agentd": server}}), "--allowedTools", "mcp__agentd")
    return Command((*words, *config), job.prompt)


def plain_codex(job: Job) -> Command:
    server = {
        "command": json.dumps(job.server[0]),
        "args": json.dumps(job.server[1:]),
        "required": "true",
        "env_vars": '["PYTHONPATH"]',
        "default_tools_approval_mode": '"approve"',
    }
    settings = [word for key, value in server.items() for word in ("-c", f"mcp_servers.agentd.{key}={value}")]
    return Command(("codex", "exec", "--json", "--skip-git-repo-check", "-m", job.model, *settings, "-"), job.prompt)


def plain_gemini(job: Job) -> Command:
    words = ("gemini", "--output-format", "stream-json", "--approval-mode", "yolo", "--model", job.model)
    trust = {"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_CLI_NO_RELAUNCH": "true"}
    return Command(words, job.prompt, trust, merges=built_in_gemini.command(job).merges)


@dataclass(frozen=True)
class Plain:
    """An adapter as other packages bring one."""

    command: Callable[[Job], Command]
    read: Callable[[Iterable[str]], Reply]


claude = Plain(plain_claude, built_in_claude.read)
codex = Plain(plain_codex, built_in_codex.read)
gemini = Plain(plain_gemini, built_in_gemini.read)
ENTRY_POINTS = "[agentd.agents]\n" + "".join(
    f"plain-{name} = _plain:{name}\n" for name in ("claude", "codex", "gemini")
)
