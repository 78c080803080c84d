"""`agentd impl`: implement a change whose plan was approved."""

import click

from agentd.cli.driving import driving, project_for
from agentd.cli.face import show
from agentd.errors import UsageError
from agentd.families.change.impl import impl


@click.command()
@click.argument("change")
@click.option("--tasks", help="Only these tasks, all in one call: logic.1,logic.2")
@click.option("--re-review", is_flag=True, help="Test and review a complete change again.")
@click.option("--resolve", is_flag=True, help="Reopen a complete change and have its review resolved.")
@click.option(
    "--auto", is_flag=True, help="Repair harm to the tests without asking first, up to implementation_iterations."
)
@driving
def command(
    change: str,
    tasks: str | None,
    re_review: bool,
    resolve: bool,
    auto: bool,
    as_json: bool,
    answers: str | None,
) -> int:
    """Implement CHANGE task by task, run its tests, have it reviewed and repaired.

    What was interrupted goes on at the first unfinished task. Only green tests and a review of exactly these files
    make a change complete.
    """
    project = project_for(as_json, answers, human_in_loop=False if auto else None)
    ids = [name.strip() for name in (tasks or "").split(",") if name.strip()]
    if tasks is not None and not ids:
        raise UsageError("--tasks names no task.", f"agentd impl {change}   # for all of them")
    report = impl(project, change, ids, re_review, resolve)
    if not as_json and report.phase == "complete" and not report.exit_code:
        click.echo("✅ Implementation complete")
    return show(report, as_json)
