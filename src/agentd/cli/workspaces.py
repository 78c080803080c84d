"""`agentd workspaces`: where tasks are worked on side by side."""

import click

from agentd.cli.driving import project_for
from agentd.cli.face import json_option, plain, project_here
from agentd.cli.output import tell
from agentd.landing import inventory

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


@click.command()
@click.option(
    "--prune",
    is_flag=True,
    help="Remove those whose run is over or whose work has landed, and what is installed for none.",
)
@json_option
def command(prune: bool, as_json: bool) -> int:
    """List the workspaces of tasks, with their size and age.

    What is removed stays in git: the work of a task below refs/agentd/RUN/tasks, its own commits below
    refs/agentd/RUN/commits.
    """
    if prune:
        gone, stay = inventory.prune(project_for(as_json))
        lines = [
            *(f"removed {plain(place)}" for place in gone),
            *(f"{name} stays: {why}" for name, why in stay.items()),
        ]
        data = {"removed": gone, "stay": stay}
        return tell(as_json, data, lines or ["There are no workspaces."])
    rows = list(inventory.rows(project_here(as_json)))
    found = [
        {
            "run": row.workspace.run,
            "task": row.workspace.task,
            "folder": row.workspace.place,
            "bytes": row.size,
            "age_seconds": round(row.age),
            "stays": row.stays,
        }
        for row in rows
    ]
    lines = [
        f"{row.workspace.run}/{row.workspace.task}  {size(row.size)}  {age(row.age)}  "
        f"{plain(row.workspace.place)}  {row.stays or 'may go: agentd workspaces --prune'}"
        for row in rows
    ]
    return tell(as_json, {"workspaces": found}, lines or ["There are no workspaces."])


def size(number: float) -> str:
    """A number of bytes for people."""
    for unit in _UNITS:
        if number < 1024 or unit == _UNITS[-1]:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1024
    raise AssertionError


def age(seconds: float) -> str:
    """A length of time for people, in its largest unit."""
    for length, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
