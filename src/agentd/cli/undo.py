"""`agentd undo`: take an archived change out of the library again."""

import click

from agentd.cli.driving import project_for
from agentd.cli.face import json_option, show
from agentd.families.change.archive import commands


@click.command()
@click.argument("change")
@json_option
def command(change: str, as_json: bool) -> int:
    """Put the specs and the folder of CHANGE back as they were before it was archived, byte for byte.

    Only its diary keeps what happened. An archive that something later depends on is not undone: what that is, is told.
    """
    return show(commands.undo(project_for(as_json), change), as_json)
