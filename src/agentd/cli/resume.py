"""`agentd resume`: go on with a run where it stopped."""

import click

from agentd.cli.driving import driving, project_for
from agentd.cli.face import show
from agentd.runs import commands


@click.command()
@click.argument("run")
@click.option("--steps", type=click.IntRange(1), help="Stop after this many steps.")
@driving
def command(run: str, steps: int | None, as_json: bool, answers: str | None) -> int:
    """Go on with RUN (a name, or workflow/name) from wherever it stands."""
    return show(commands.resume(project_for(as_json, answers), run, steps), as_json)
