"""The built-in agent, for an API key or a server such as Ollama. The program that is started is `builtin_agent.py`.

A model is a name with its provider (`anthropic:claude-sonnet-4-5`), or one that the server at `base_url` knows; such a
server is asked for chat completions, or with `openai-responses:` before the name in the newer way. The key is in
the variable that `api_key_env` names, or in the provider's usual one; it is never in a command line or a file.
"""

import json
import os
from collections.abc import Iterable

from agentd.agents import protocol
from agentd.agents.command import limits, own_program
from agentd.model.job import Command, Job, Reply


def command(job: Job) -> Command:
    told = {
        **limits(job),
        "base_url": job.settings.get("base_url", ""),
        "api_key_env": job.settings.get("api_key_env", ""),
        "calls": os.path.join(job.cwd, job.folder, "calls"),
    }
    return Command(
        argv=own_program("agentd.agents.builtin_agent"),
        stdin=json.dumps({"prompt": job.prompt, "instructions": job.instructions}),
        env={"AGENTD_BUILTIN": json.dumps(told)},
    )


def read(lines: Iterable[str]) -> Reply:
    return protocol.read(lines, "The built-in agent")
