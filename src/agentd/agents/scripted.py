"""The scripted agent: plays a YAML script instead of asking a model. The program that is started is `scripted_agent.py`."""

import os
import sys
from collections.abc import Iterable

from agentd.agents import protocol
from agentd.agents.command import environment
from agentd.errors import BadConfig
from agentd.model.job import Command, Job, Reply


def command(job: Job) -> Command:
    """The program; its environment says which entry of the script to play."""
    script = job.settings.get("script", "")
    if not script:
        raise BadConfig(
            "The scripted agent has no script to play.", fix='[scripted] script = "…" in agentd/config.toml'
        )
    return Command(
        # -P: without it the `agentd` folder of the project in cwd could stand in for this package.
        argv=(sys.executable, "-P", "-m", "agentd.agents.scripted_agent"),
        stdin=job.prompt,
        env={**environment(job), "AGENTD_SCRIPT": os.path.join(job.cwd, script)},
    )


def read(lines: Iterable[str]) -> Reply:
    return protocol.read(lines, "The scripted agent")
