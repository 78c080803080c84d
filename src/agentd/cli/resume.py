"""`agentd resume`: go on with a run where it stopped."""

import click

from agentd.cli.driving import driving, project_for
from agentd.cli.face import show
from agentd.errors import UsageError
from agentd.runs import commands


@click.command()
@click.argument("run")
@click.option("--steps", type=click.IntRange(1), help="Stop after this many steps.")
@click.option("--from-phase", help="Of a run in stages: go on from this phase; what came after it is done again.")
@click.option("--retry-failed", is_flag=True, help="Of a run in stages: try the tasks again that failed.")
@click.option("--restart-stage", is_flag=True, help="Of a run in stages: do the stage again from its beginning.")
@click.option("--restart-previous", is_flag=True, help="Of a run in stages: do the stage before it again.")
@driving
def command(run: str, steps: int | None, as_json: bool, answers: str | None, **options: object) -> int:
    """Go on with RUN (a name, or workflow/name) from wherever it stands."""
    given = {key: value for key, value in options.items() if value}
    if len(given) > 1:
        words = " and ".join(f"--{key.replace('_', '-')}" for key in given)
        raise UsageError(f"Use only one of {words}.", f"agentd resume {run}")
    return show(commands.resume(project_for(as_json, answers), run, steps, given), as_json)
