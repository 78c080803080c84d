"""`agentd status`: where runs stand, and what to type next."""

import click

from agentd.cli.face import json_option, project_here, show
from agentd.cli.output import tell
from agentd.cli.run_rows import line, rows
from agentd.runs import overview
from agentd.runs.report import Report

FIRST = 'agentd plan my-change "what should change"'


@click.command()
@click.argument("run", default="")
@json_option
def command(run: str, as_json: bool) -> int:
    """Where RUN stands, or every run that is not finished."""
    project = project_here(as_json)
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
    listed = rows([*reports, *broken])
    none = "Every run is finished." if found else f"No runs in {project.root}."
    lines = [*map(line, listed)] or [none]
    return tell(as_json, {"runs": listed, "next": follow}, [*lines, f"Next: {follow}"], 1 if broken else 0)
