"""`agentd commit`: the files of a change in a commit of their own."""

import click

from agentd.cli.commit_offer import as_data, lines
from agentd.cli.driving import project_for
from agentd.cli.face import json_option
from agentd.cli.output import tell
from agentd.families.change.commit import commit


@click.command()
@click.argument("change")
@json_option
def command(change: str, as_json: bool) -> int:
    """Commit exactly the files that CHANGE changed, and its documents, with a message from its proposal.

    Your hooks run as with any commit. What else is staged or changed stays so. Files that somebody edited after they were
    approved are refused. Run again, it finds the commit there is.
    """
    made = commit(project_for(as_json), change)
    return tell(as_json, {"change": change, "commits": as_data(made)}, lines(made))
