"""`agentd deliver`: bring what has landed in a run to a person's own branch."""

import click

from agentd.cli.driving import project_for
from agentd.cli.face import json_option, project_here
from agentd.cli.output import tell
from agentd.errors import UsageError
from agentd.landing import delivery
from agentd.runs import commands


@click.command()
@click.argument("run")
@click.option("--pr", is_flag=True, help="Push the branch and open a pull request with gh instead.")
@click.option("--dry-run", is_flag=True, help="Show the summary, and do nothing.")
@click.option("--into-library", is_flag=True, help="Make a change of what RUN has specified, for agentd archive.")
@json_option
def command(run: str, pr: bool, dry_run: bool, into_library: bool, as_json: bool) -> int:
    """Merge the branch of RUN into the branch that is checked out, if that is a fast-forward and nothing is uncommitted.

    Otherwise nothing is done, and the command to type is named.
    """
    if pr + dry_run + into_library > 1:
        raise UsageError("Use only one of --pr, --dry-run and --into-library.", f"agentd deliver {run} --dry-run")
    if into_library:
        return _adopt(run, as_json)
    project = project_here(as_json) if dry_run else project_for(as_json)
    found = delivery.prepare(project, run)
    data = {"run": found.branch.key, "branch": found.branch.name, "commit": found.tip, "summary": found.summary}
    lines = [found.summary, ""]
    if dry_run:
        return tell(as_json, data, [*lines, f"Next: agentd deliver {run}"])
    if pr:
        address = delivery.open_request(project, found)
        return tell(as_json, {**data, "pull_request": address}, [*lines, f"✓ pull request: {address}"])
    into = delivery.merge(project, found)
    done = f"✓ {into} is at {found.tip[:12]}, the tip of {found.branch.name}"
    return tell(as_json, {**data, "into": into}, [*lines, done])


def _adopt(run: str, as_json: bool) -> int:
    """Make a complete change of the specification of a run that is done."""
    project = project_for(as_json)
    source, place = commands.adopt(project, run)
    data = {"change": place.name, "folder": project.relative(place.folder), "next": f"agentd archive {place.name}"}
    lines = [f"✓ {data['folder']} has the specification of {source}", f"Next: {data['next']}"]
    return tell(as_json, data, lines)
