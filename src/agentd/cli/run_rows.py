"""Runs as `list` and `status` show them: a row each."""

from collections.abc import Iterable, Mapping
from typing import Any

from agentd.runs.overview import Unreadable
from agentd.runs.report import Report


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


def line(row: Mapping[str, Any]) -> str:
    return f"{row['run']:<32} {row['phase']:<14} {row['doing']:<12} {row['note']}"
