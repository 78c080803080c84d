"""`agentd show`: the plan of a change."""

import click

from agentd.cli.face import json_option, project_here
from agentd.cli.output import tell
from agentd.families.change import NAME, plan_text
from agentd.runs import overview


@click.command()
@click.argument("change")
@json_option
def command(change: str, as_json: bool) -> int:
    """Print the proposal, the specs and the tasks of CHANGE, active or archived."""
    project = project_here(as_json)
    place = project.find(change, NAME)
    report = overview.status(project, f"{NAME}/{place.name}")
    found = dict(plan_text.documents(place.folder))
    data = {"change": place.name, "phase": report.phase, "documents": found, "next": report.next}
    head = f"{NAME}/{place.name}: phase {report.phase}, {report.doing}"
    shown = [*plan_text.lines(place.folder)] or ["No document of the plan is written yet.", ""]
    return tell(as_json, data, [head, "", *shown, f"Next: {report.next}"])
