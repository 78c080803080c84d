"""`agentd status`: where runs stand, and what to type next."""

import click

from agentd.cli.face import json_option, project_here, show
from agentd.cli.output import say, tell
from agentd.cli.run_rows import is_open, line, next_command, rows
from agentd.runs import overview
from agentd.runs.overview import Unreadable


@click.command()
@click.argument("run", default="")
@click.option("--verbose", is_flag=True, help="With RUN: also its schedule, where its workflow has one.")
@json_option
def command(run: str, verbose: bool, as_json: bool) -> int:
    """Where RUN stands, or every run that is not finished."""
    project = project_here(as_json)
    if run:
        for text in overview.details(project, run) if verbose and not as_json else ():
            say(text)
        return show(overview.status(project, run), as_json)
    found = list(overview.overview(project))
    listed, follow = rows(filter(is_open, found)), next_command(found)
    none = "Every run is finished." if found else f"No runs in {project.root}."
    code = 1 if any(isinstance(entry, Unreadable) for entry in found) else 0
    return tell(as_json, {"runs": listed, "next": follow}, [*([*map(line, listed)] or [none]), f"Next: {follow}"], code)
