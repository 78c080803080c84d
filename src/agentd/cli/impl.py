"""`agentd impl`: implement a change whose plan was approved."""

import click

from agentd.app import changing
from agentd.cli.face import driving, project_for, show


@click.command()
@click.argument("change")
@driving
def command(change: str, as_json: bool, answers: str | None) -> int:
    """Implement CHANGE, run its tests, have it reviewed."""
    report = changing.impl(project_for(as_json, answers), change)
    if not as_json and report.phase == "complete":
        click.echo("✅ Implementation complete")
    return show(report, as_json)
