"""The built-in agent, for an API key or a server such as Ollama. The program that is started is `builtin_agent.py`.

A model is a name with its provider (`anthropic:claude-sonnet-4-5`), or one that the server at `base_url` knows; such a
server is asked for chat completions, or with `openai-responses:` before the name in the newer way. The key is in
the variable that `api_key_env` names, or in the provider's usual one; it is never in a command line or a file.
"""

import json
import os
import sys
from collections.abc import Iterable

from agentd.agents import protocol
from agentd.model.job import Command, Job, Reply

TURNS = 50


def command(job: Job) -> Command:
    told = {
        "model": job.model,
        "base_url": job.settings.get("base_url", ""),
        "api_key_env": job.settings.get("api_key_env", ""),
        "effort": job.effort,
        "cwd": job.cwd,
        "calls": os.path.join(job.cwd, job.folder, "calls"),
        "session": job.session,
        "server": job.server,
        "tools": job.tools,
        "edits": job.edits,
        "shell": job.shell,
        "max_turns": job.max_turns or TURNS,
        "max_cost": job.max_cost,
    }
    return Command(
        # -P: without it the `agentd` folder of the project in cwd could stand in for this package.
        argv=(sys.executable, "-P", "-m", "agentd.agents.builtin_agent"),
        stdin=json.dumps({"prompt": job.prompt, "instructions": job.instructions}),
        env={"AGENTD_BUILTIN": json.dumps(told)},
    )


def read(lines: Iterable[str]) -> Reply:
    return protocol.read(lines, "The built-in agent")
