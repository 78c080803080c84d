"""`agentd archive`: bring a complete change's specs into the library."""

import click

from agentd.app import changing
from agentd.cli.face import driving, project_for, show


@click.command()
@click.argument("change")
@driving
def command(change: str, as_json: bool, answers: str | None) -> int:
    """Copy the specs of CHANGE to agentd/specs/ and move its folder to agentd/archive/."""
    return show(changing.archive(project_for(as_json, answers), change), as_json)
