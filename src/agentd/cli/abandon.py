"""`agentd abandon`: end a run for good, or take a change away and bring it back."""

import click

from agentd.cli.driving import project_for
from agentd.cli.face import json_option, show
from agentd.cli.output import tell
from agentd.cli.run_rows import next_command
from agentd.runs import commands, overview


@click.command()
@click.argument("run")
@click.option("--undo", is_flag=True, help="Bring the change RUN back as it was.")
@json_option
def command(run: str, undo: bool, as_json: bool) -> int:
    """End RUN wherever it stands. The project's own files and its branches stay as they are.

    An active change is taken away; all of it is kept in git, and --undo brings it back. A run of another workflow stays in
    its folder as abandoned, without its workspaces, and every line that was written in them is kept in git.
    """
    project = project_for(as_json)
    if undo:
        return show(commands.bring_back(project, run), as_json)
    done = commands.abandon(project, run)
    follow = next_command(overview.overview(project))
    if done.ref:
        again = f"agentd abandon {done.run} --undo"
        told = f"{done.run} is taken away and kept under {done.ref}; the project's own files stay as they are."
        data = {"change": done.run, "ref": done.ref, "undo": again, "next": follow}
        return tell(as_json, data, [told, f"Undo: {again}", f"Next: {follow}"])
    told = f"{done.run} is abandoned; its documents stay in {done.folder}, and the project's own files as they are."
    return tell(as_json, {"run": done.run, "folder": done.folder, "next": follow}, [told, f"Next: {follow}"])
