"""`agentd run`: start a run of any workflow."""

import click

from agentd.cli.driving import Worded, driving, project_for
from agentd.cli.face import show
from agentd.runs import commands


@click.command(cls=Worded)
@click.argument("workflow")
@click.argument("description", default="")
@click.option("--name", "--session", "name", default="", help="The run's name; by default made from the description.")
@click.option("--mode", default="", help="One of the workflow's starts, for example lean.")
@click.option("--lean", "mode", flag_value="lean", help="Short for --mode lean.")
@click.option("--no-test", is_flag=True, help="Of a workflow in stages: without its test stage.")
@click.option("--from-stage", help="Of a workflow in stages: begin at this one, without those before it.")
@click.option("--plan", help="Of a workflow in stages: a plan that is there already; it begins with doing it.")
@driving
def command(
    workflow: str, description: str, name: str, mode: str, as_json: bool, answers: str | None, **options: object
) -> int:
    """Start a run of WORKFLOW, built in or in agentd/workflows/, to do what DESCRIPTION says."""
    given = {key: value for key, value in options.items() if value}
    return show(commands.run(project_for(as_json, answers), workflow, description, name, mode, given), as_json)
