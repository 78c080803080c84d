"""`agentd plan`: start a change, or go on planning it."""

import click

from agentd.cli.driving import Worded, driving, project_for
from agentd.cli.face import show
from agentd.families.change.plan import Wishes, plan

BEYOND = {
    "challenged": "✅ Planning complete",
    "implementing": "ℹ️ Beyond planning phase",
    "complete": "ℹ️ Beyond planning phase",
    "archived": "ℹ️ Beyond planning phase",
}


@click.command(cls=Worded)
@click.argument("change")
@click.argument("description", default="")
@click.option("--auto", is_flag=True, help="Revise and rechallenge without asking, up to planning_iterations.")
@click.option("--skip-clarify", is_flag=True, help="Begin without clarifying questions.")
@click.option("--one-shot", is_flag=True, help="Have all documents written in one conversation.")
@click.option(
    "--git", type=click.Choice(["branch", "worktree", "in-place"]), help="Where a new change is worked on, unasked."
)
@driving
def command(
    change: str,
    description: str,
    auto: bool,
    skip_clarify: bool,
    one_shot: bool,
    git: str | None,
    as_json: bool,
    answers: str | None,
) -> int:
    """Start CHANGE from DESCRIPTION, or go on planning it.

    A new change needs a description, in words or as @FILE; for an existing one it is ignored. A short description is
    clarified first: the planner asks three to five questions.
    """
    project = project_for(as_json, answers, human_in_loop=False if auto else None)
    wishes = Wishes(skip_clarify, one_shot, (git or "").replace("-", "_"))
    report = plan(project, change, description, wishes)
    if not as_json and report.phase in BEYOND:
        click.echo(BEYOND[report.phase])
    return show(report, as_json)
