"""Any agent that speaks the Agent Client Protocol. The program that is started is `acp_client.py`, which talks to it."""

import json
import os
from collections.abc import Iterable

from agentd.agents import protocol
from agentd.agents.command import limits, own_program, whole_prompt
from agentd.model.job import Command, Job, Reply


def command(job: Job) -> Command:
    """The client; its environment says which agent to start and what to allow."""
    told = {**limits(job), "argv": (*job.program, *job.args), "folder": os.path.join(job.cwd, job.folder)}
    return Command(
        argv=own_program("agentd.agents.acp_client"),
        stdin=whole_prompt(job),
        env={"AGENTD_ACP": json.dumps(told), **_told_besides(job)},
    )


def _told_besides(job: Job) -> dict[str, str]:
    """Environment variables that some agents need besides."""
    names = [os.path.basename(word) for word in job.program]  # `env` may come before them
    if "gemini" in names:  # in a folder that nobody has trusted yet it starts no MCP server, and says so nowhere
        return {"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_CLI_NO_RELAUNCH": "true"}
    if "opencode" in names:  # it asks for nothing by itself, and what is refused ends its turn
        wanted = {"edit": job.edits, "bash": job.shell, "webfetch": job.shell}
        asks = {tool: "ask" if allowed else "deny" for tool, allowed in wanted.items()}
        return {"OPENCODE_CONFIG_CONTENT": json.dumps({"permission": asks})}
    return {}


def read(lines: Iterable[str]) -> Reply:
    """The reply in the client's result event, which is one of `protocol.py`."""
    return protocol.read(lines, "The ACP agent")
