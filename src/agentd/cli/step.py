"""`agentd step`: have one step of a change done by itself, whatever comes before it."""

import click

from agentd.cli.driving import driving, project_for
from agentd.cli.face import show
from agentd.families.change import single_step


@click.command()
@click.argument("name", type=click.Choice(list(single_step.SINGLE)))
@click.argument("change")
@driving
def command(name: str, change: str, as_json: bool, answers: str | None) -> int:
    """Do the step NAME of CHANGE and stop; its gate holds as ever."""
    return show(single_step.step(project_for(as_json, answers), name, change), as_json)
