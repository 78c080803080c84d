"""Runs as `list` and `status` show them: a row each, and the one command that comes next."""

from collections.abc import Iterable, Mapping
from typing import Any

from agentd.runs.overview import Unreadable
from agentd.runs.report import Report

LAST = ("agentd commit ", "agentd deliver ")  # what is left to do with a run that is finished
FIRST = 'agentd plan my-change "what should change"'


def is_open(entry: Report | Unreadable) -> bool:
    """Whether a run still needs a command of somebody."""
    return not isinstance(entry, Report) or entry.doing != "finished" or entry.phase == "rejected"


def next_command(entries: Iterable[Report | Unreadable]) -> str:
    """What a person types next in a project: what mends a run, else takes the latest one on, else commits or delivers it,
    else begins."""
    every = list(entries)
    wanting = list(filter(is_open, every))
    broken = next((entry for entry in wanting if not isinstance(entry, Report)), None)
    if broken:
        return broken.error.fix
    reports = (entry for entry in wanting if isinstance(entry, Report))
    latest = max(reports, key=lambda report: (bool(report.decisions), report.updated_at), default=None)
    if latest is None:
        ended = (entry for entry in every if isinstance(entry, Report) and entry.next.startswith(LAST))
        latest = max(ended, key=lambda report: report.updated_at, default=None)
    return latest.next if latest else FIRST


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
