"""`agentd stop`: ask a working run to stop."""

import os
import signal
from contextlib import suppress

import click

from agentd.cli.driving import project_for
from agentd.cli.face import json_option
from agentd.cli.output import tell
from agentd.errors import AgentdError
from agentd.runs import commands, overview


@click.command()
@click.argument("run")
@click.option("--now", is_flag=True, help="End the step under way too; the next resume takes it up again.")
@json_option
def command(run: str, now: bool, as_json: bool) -> int:
    """Ask whoever works on RUN to stop after the step under way."""
    project = project_for(as_json)
    holder = overview.holder(project, run) if now else None
    working = commands.request_stop(project, run)
    if holder:
        if holder.get("host") != os.uname().nodename:
            raise AgentdError(
                f"The run is worked on by {holder.get('host')}, not by this machine.", f"agentd stop {run}"
            )
        with suppress(ProcessLookupError):
            os.kill(int(holder["pid"]), signal.SIGTERM)
    words = "It stops now." if holder else "It stops after its step." if working else "Nobody works on it."
    follow = overview.status(project, run).next
    return tell(as_json, {"working": working, "message": words, "next": follow}, (words, f"Next: {follow}"))
