"""`agentd deliver`: bring what has landed in a run to a person's own branch."""

import click

from agentd.cli.driving import project_for
from agentd.cli.face import json_option, project_here
from agentd.cli.output import tell
from agentd.errors import UsageError
from agentd.landing import delivery


@click.command()
@click.argument("run")
@click.option("--pr", is_flag=True, help="Push the branch and open a pull request with gh instead.")
@click.option("--dry-run", is_flag=True, help="Show the summary, and do nothing.")
@json_option
def command(run: str, pr: bool, dry_run: bool, as_json: bool) -> int:
    """Merge the branch of RUN into the branch that is checked out, if that is a fast-forward and nothing is uncommitted.

    Otherwise nothing is done, and the command to type is named.
    """
    if pr and dry_run:
        raise UsageError("--pr and --dry-run cannot be combined.", f"agentd deliver {run} --dry-run")
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
