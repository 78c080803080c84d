"""`agentd abandon`: take an active change away, and bring it back."""

import click

from agentd.cli.driving import project_for
from agentd.cli.face import json_option, show
from agentd.cli.output import tell
from agentd.cli.run_rows import next_command
from agentd.families.change.abandon import abandon, bring_back
from agentd.runs import overview


@click.command()
@click.argument("change")
@click.option("--undo", is_flag=True, help="Bring CHANGE back as it was.")
@json_option
def command(change: str, undo: bool, as_json: bool) -> int:
    """Take the active CHANGE away. All of it is kept in git, and --undo brings it back.

    The project's own files, its branches and its worktrees stay as they are.
    """
    project = project_for(as_json)
    if undo:
        return show(bring_back(project, change), as_json)
    ref, again = abandon(project, change), f"agentd abandon {change} --undo"
    follow = next_command(overview.overview(project))
    told = f"{change} is taken away and kept under {ref}; the project's own files stay as they are."
    data = {"change": change, "ref": ref, "undo": again, "next": follow}
    return tell(as_json, data, [told, f"Undo: {again}", f"Next: {follow}"])
