"""The scripted agent: plays a YAML script instead of asking a model. The program that is started is `scripted_agent.py`."""

import os
from collections.abc import Iterable

from agentd.agents import protocol
from agentd.agents.command import environment, own_program
from agentd.errors import BadConfig
from agentd.model.job import Command, Job, Reply


def command(job: Job) -> Command:
    """The program; its environment says which entry of the script to play."""
    script = job.settings.get("script", "")
    if not script:
        raise BadConfig(
            "The scripted agent has no script to play.",
            fix='${EDITOR:-vi} agentd/config.toml   # [scripted] script = "script.yaml"',
        )
    return Command(
        argv=own_program("agentd.agents.scripted_agent"),
        stdin=job.prompt,
        env={**environment(job), "AGENTD_NUDGES": str(job.nudges), "AGENTD_SCRIPT": os.path.join(job.cwd, script)},
    )


def read(lines: Iterable[str]) -> Reply:
    return protocol.read(lines, "The scripted agent")
