"""`agentd answer`: answer an open question of a run."""

import click

from agentd.cli.driving import project_for
from agentd.cli.face import json_option
from agentd.cli.output import tell
from agentd.runs import commands
from agentd.runs.report import decision_data


@click.command()
@click.argument("run")
@click.argument("decision")
@click.argument("value")
@click.option("--note", default="", help="Words to keep with the answer.")
@json_option
def command(run: str, decision: str, value: str, note: str, as_json: bool) -> int:
    """Answer DECISION of RUN with VALUE. The first valid answer counts; the process that works on the run takes it up."""
    asked, said, report = commands.answer(project_for(as_json), run, decision, value, note)
    data = {"decision": decision_data(asked), "answer": said.value, "by": said.by, "next": report.next}
    return tell(as_json, data, (f"Recorded: {asked.title}", f"  → {said.value}", f"Next: {report.next}"))
