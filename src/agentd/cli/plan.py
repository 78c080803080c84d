"""`agentd plan`: start a change, or go on planning it."""

import click

from agentd.app import commands
from agentd.cli.face import driving, project_for, show

BEYOND = {
    "challenged": "✅ Planning complete",
    "implementing": "ℹ️ Beyond planning phase",
    "complete": "ℹ️ Beyond planning phase",
    "archived": "ℹ️ Beyond planning phase",
}


@click.command()
@click.argument("change")
@click.argument("description", default="")
@driving
def command(change: str, description: str, as_json: bool, answers: str | None) -> int:
    """Start CHANGE from DESCRIPTION, or go on planning it.

    A new change needs a description; for an existing one it is ignored.
    """
    project = project_for(as_json, answers)
    report = commands.plan(project, change, description)
    if not as_json and report.phase in BEYOND:
        click.echo(BEYOND[report.phase])
    return show(report, as_json)
