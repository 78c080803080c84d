"""`agentd status`: where runs stand, and what to type next."""

import click

from agentd.cli.ending import print_json
from agentd.cli.face import json_option, project_for, show
from agentd.cli.run_rows import rows
from agentd.runs import overview
from agentd.runs.report import Report

FIRST = 'agentd plan my-change "what should change"'


@click.command()
@click.argument("run", default="")
@json_option
def command(run: str, as_json: bool) -> int:
    """Where RUN stands, or every run that is not finished."""
    project = project_for(as_json)
    if run:
        return show(overview.status(project, run), as_json)
    found = list(overview.overview(project))
    reports = [
        entry
        for entry in found
        if isinstance(entry, Report) and (entry.doing != "finished" or entry.phase == "rejected")
    ]
    broken = [entry for entry in found if not isinstance(entry, Report)]
    latest = max(reports, key=lambda report: (bool(report.decisions), report.updated_at), default=None)
    follow = broken[0].error.fix if broken else latest.next if latest else FIRST
    code = 1 if broken else 0
    if as_json:
        print_json({"ok": not broken, "runs": rows([*reports, *broken]), "next": follow, "exit": code})
        return code
    for row in rows([*reports, *broken]):
        click.echo(f"{row['run']:<32} {row['phase']:<14} {row['doing']:<12} {row['note']}")
    if not found:
        click.echo(f"No runs in {project.root}.")
    elif not reports and not broken:
        click.echo("Every run is finished.")
    click.echo(f"Next: {follow}")
    return code
