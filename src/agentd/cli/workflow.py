"""`agentd workflow`: list, show and check workflows."""

from pathlib import Path

import click

from agentd.cli.face import json_option, project_here
from agentd.cli.output import tell
from agentd.model.workflow import Edge, Workflow
from agentd.workflows.diagram import draw


@click.group()
def command() -> None:
    """List, show and check workflows."""


@command.command("list")
@json_option
def list_(as_json: bool) -> int:
    """The built-in workflows and the project's own in agentd/workflows/."""
    project = project_here(as_json)
    tables = [project.workflow(name) for name in project.tables.names()]
    data = {"workflows": [{"name": t.name, "about": t.about, "source": t.source} for t in tables]}
    return tell(as_json, data, (f"{table.name:<18} {table.about}" for table in tables))


@command.command("show")
@click.argument("name")
@click.option("--diagram", is_flag=True, help="As a Mermaid state diagram.")
@json_option
def show(name: str, diagram: bool, as_json: bool) -> int:
    """The table of workflow NAME, or its diagram."""
    project = project_here(as_json)
    table = project.workflow(name)
    drawing = draw(table)
    return tell(as_json, {**to_data(table), "diagram": drawing}, (drawing if diagram else text(table)).splitlines())


@command.command("check")
@click.argument("file", type=click.Path())
@json_option
def check(file: str, as_json: bool) -> int:
    """Prove that the workflow in FILE is sound; every problem is named with its line and step."""
    table = project_here(as_json).tables.check_file(Path(file))
    words = f"{file} is sound: {len(table.steps)} steps in {len(table.phases)} phases."
    return tell(as_json, {"name": table.name, "message": words}, [words])


def to_data(table: Workflow) -> dict[str, object]:
    """The table as plain data."""
    steps = {
        step.name: {
            "phase": step.phase,
            step.kind: step.what,
            "needs": step.needs,
            "when": step.when,
            "produces": step.produces,
            "next": {word: target(edge) for word, edge in step.next.items()},
        }
        for step in table.steps.values()
    }
    return {"name": table.name, "about": table.about, "source": table.source, "phases": table.phases, "steps": steps}


def text(table: Workflow) -> str:
    """The table for reading, phase by phase."""
    lines = [f"{table.name}: {table.about}"]
    for phase in table.phases:
        lines.append(f"\n{phase}")
        for step in table.steps.values():
            if step.phase == phase:
                ways = ", ".join(f"{word} → {target(edge)}" for word, edge in step.next.items())
                lines.append(f"  {step.name:<20} {step.kind} {step.what}" + (f"  [{ways}]" if ways else ""))
                if step.needs:
                    lines.append(f"  {'':<20} needs {', '.join(step.needs)}")
    return "\n".join(lines) + "\n"


def target(edge: Edge) -> str:
    """Where an edge leads, with its limit."""
    return edge.to + (f" (at most {edge.at_most}, then {edge.then})" if edge.then else "")
