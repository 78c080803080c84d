"""`agentd answer`: answer an open question of a run."""

import click

from agentd.cli.ending import print_json
from agentd.cli.face import json_option, project_for
from agentd.runs import commands
from agentd.runs.report import decision_data


@click.command()
@click.argument("run")
@click.argument("decision")
@click.argument("value")
@click.option("--note", default="", help="Words to keep with the answer.")
@json_option
def command(run: str, decision: str, value: str, note: str, as_json: bool) -> int:
    """Answer DECISION of RUN with VALUE. The first valid answer counts; whoever works on the run takes it up."""
    asked, said, report = commands.answer(project_for(as_json), run, decision, value, note)
    going_on = report.doing == "working"
    follow = f"agentd log {run}" if going_on else f"agentd resume {run}"
    if as_json:
        print_json(
            {
                "ok": True,
                "decision": decision_data(asked),
                "answer": said.value,
                "by": said.by,
                "next": follow,
                "exit": 0,
            }
        )
    else:
        click.echo(f"Recorded: {asked.question} {said.value}")
        click.echo(f"Next: {follow}")
    return 0
