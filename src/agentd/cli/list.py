"""`agentd list`: every run, one line each."""

from collections.abc import Iterable
from typing import Any

import click

from agentd.app import looking
from agentd.app.looking import Unreadable
from agentd.app.report import Report
from agentd.cli.ending import print_json
from agentd.cli.face import json_option, project_for


@click.command()
@click.option("--all", "everything", is_flag=True, help="Finished and archived runs too.")
@json_option
def command(everything: bool, as_json: bool) -> int:
    """Every run of this project that is not finished."""
    found = looking.overview(project_for(as_json), archived=everything)
    listed = rows(entry for entry in found if everything or not isinstance(entry, Report) or entry.doing != "finished")
    if as_json:
        print_json({"ok": True, "runs": listed, "exit": 0})
    else:
        for row in listed:
            click.echo(f"{row['run']:<32} {row['phase']:<14} {row['doing']:<12} {row['note']}")
    return 0


def rows(entries: Iterable[Report | Unreadable]) -> list[dict[str, Any]]:
    """One row a run, as `list` and `status` show it; a run that cannot be read has its error as a note."""
    found = []
    for entry in entries:
        if isinstance(entry, Report):
            found.append(
                {
                    "run": f"{entry.workflow}/{entry.name}",
                    "phase": entry.phase,
                    "doing": entry.doing,
                    "note": entry.note,
                    "updated_at": entry.updated_at,
                    "next": entry.next,
                }
            )
        else:
            note, fix = entry.error.message, entry.error.fix
            found.append({"run": entry.name, "phase": "?", "doing": "unreadable", "note": note, "next": fix})
    return found
