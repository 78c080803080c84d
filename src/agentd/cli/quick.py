"""`agentd quick`: a small change in one command."""

import click

from agentd.cli.commit_offer import offer
from agentd.cli.driving import Worded, driving, project_for
from agentd.cli.face import show
from agentd.families.change.archive.commands import archive
from agentd.families.change.quick import quick


@click.command(cls=Worded)
@click.argument("description")
@click.option("--id", "change", default="", help="The change's id; by default made from the description.")
@click.option("--yes", is_flag=True, help="Say yes to the plan in advance; recorded as your decision.")
@click.option("--no-review", is_flag=True, help="Do without the review; recorded as your decision.")
@click.option("--archive", "archives", is_flag=True, help="Archive the change once it is complete.")
@driving
def command(
    description: str, change: str, yes: bool, no_review: bool, archives: bool, as_json: bool, answers: str | None
) -> int:
    """Do the small change that DESCRIPTION asks for, in words or as @FILE.

    One call plans it, you see the whole plan and say yes or no, one call implements it, agentd runs the project's tests,
    and another agent reviews it. Given again, it goes on. A change that turns out larger goes on with `agentd plan`.
    """
    project = project_for(as_json, answers)
    report = quick(project, description, change, yes, not no_review)
    if archives and report.phase == "complete" and not report.exit_code:
        report = offer(project, archive(project, report.name))
    return show(report, as_json)
