"""`agentd step`: have one step of a change done by itself, whatever comes before it."""

import click

from agentd.app import changing
from agentd.cli.face import driving, project_for, show


@click.command()
@click.argument("name", type=click.Choice(list(changing.SINGLE)))
@click.argument("change")
@driving
def command(name: str, change: str, as_json: bool, answers: str | None) -> int:
    """Do the step NAME of CHANGE and stop; its gate holds as ever."""
    return show(changing.step(project_for(as_json, answers), name, change), as_json)
