"""The scripted agent: plays a YAML script instead of asking a model. The program that is started is `player.py`."""

import json
import os
import sys
from collections.abc import Iterable

from agentd.agents import protocol
from agentd.errors import BadConfig
from agentd.model.job import Command, Job, Reply


def command(job: Job) -> Command:
    """The player; its environment says which entry of the script to play."""
    script = job.settings.get("script", "")
    if not script:
        raise BadConfig(
            "The scripted agent has no script to play.", fix='[scripted] script = "…" in agentd/config.toml'
        )
    return Command(
        # -P: without it the `agentd` folder of the project in cwd could stand in for this package.
        argv=(sys.executable, "-P", "-m", "agentd.agents.player"),
        stdin=job.prompt,
        env={
            "AGENTD_SCRIPT": os.path.join(job.cwd, script),
            "AGENTD_FOLDER": os.path.join(job.cwd, job.folder),
            "AGENTD_STEP": job.step,
            "AGENTD_ROLE": job.role,
            "AGENTD_VISIT": str(job.visit),
            "AGENTD_ITEM": job.item,
            "AGENTD_MODEL": job.model,
            "AGENTD_EFFORT": job.effort,
            "AGENTD_SESSION": job.session,
            "AGENTD_SERVER": json.dumps(job.server) if job.server else "",
        },
    )


def read(lines: Iterable[str]) -> Reply:
    return protocol.read(lines, "The scripted agent")
