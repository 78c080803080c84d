"""`agentd list`: every run, one line each."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

import click

from agentd.cli.face import json_option, project_here
from agentd.cli.output import tell
from agentd.cli.run_rows import is_open, line, next_command, rows
from agentd.families.change.archive.records import Archived, Touched, archived, when
from agentd.model.merge import Delta
from agentd.runs import overview
from agentd.runs.overview import Unreadable

SHOWN = 8


@click.command()
@click.option("--all", "everything", is_flag=True, help="Finished and archived runs too.")
@click.option("--archived", "only_archived", is_flag=True, help="Archived changes alone, the newest first.")
@json_option
def command(everything: bool, only_archived: bool, as_json: bool) -> int:
    """Every run of this project that is not finished; or every archived change, and what it did to the library."""
    project = project_here(as_json)
    found = list(overview.overview(project, archived=everything))
    follow = next_command(found)
    if only_archived:
        listed = archived_rows(archived(project))
        lines = [*map(archived_line, listed)] or ["Nothing is archived.", f"Next: {follow}"]
    else:
        listed = rows(entry for entry in found if everything or is_open(entry))
        none = "Every run is finished." if found else f"No runs in {project.root}."
        lines = [*([*map(line, listed)] or [none]), f"Next: {follow}"]
    return tell(as_json, {"runs": listed, "next": follow}, lines)


def archived_line(row: Mapping[str, Any]) -> str:
    return f"{row.get('at', '?')[:10]:<10}  {row['run'].removeprefix('change/'):<32} {row['note']}"


def archived_rows(entries: Iterable[Archived | Unreadable]) -> list[dict[str, Any]]:
    """One row for each archived change, the newest first, then those that cannot be read."""
    found: list[dict[str, Any]] = []
    unreadable: list[dict[str, Any]] = []
    for entry in entries:
        if isinstance(entry, Unreadable):
            unreadable += rows([entry])
            continue
        specs = {name.removesuffix(".md"): touched for name, touched in entry.specs.items()}
        found.append(
            {
                "run": f"change/{entry.name}",
                "phase": "archived",
                "doing": "finished",
                "note": ", ".join(in_words(name, touched) for name, touched in specs.items()) or "no spec",
                "at": entry.at,
                "specs": [_as_data(name, touched) for name, touched in specs.items()],
                "next": f"agentd log {entry.name}",
            }
        )
    return [*sorted(found, key=lambda row: (when(row["at"]), row["run"]), reverse=True), *unreadable]


def in_words(name: str, touched: Touched | None) -> str:
    """What a change did to a spec, as in `report: +R4 ~R1 -R2`; a long list is cut short."""
    if touched is None:
        return f"{name} (no record of what it did)"
    if touched.what == "removed":
        return f"{name} removed"
    if touched.what == "same":
        return f"{name} unchanged"
    signs = list(_signs(touched.delta))
    more = [f"and {len(signs) - SHOWN} more"] if len(signs) > SHOWN else []
    about = " ".join((*signs[:SHOWN], *more)) or ("other text" if touched.delta.other else "")
    new = f"{name} new" if touched.what == "added" else name
    return f"{new}: {about}" if about else new


def _signs(delta: Delta) -> Iterator[str]:
    yield from (f"+{each}" for each in delta.added)
    yield from (f"~{each}" for each in delta.changed)
    yield from (f"{old}→{new}" for old, new in delta.renamed)
    yield from (f"-{each}" for each in delta.removed)


def _as_data(name: str, touched: Touched | None) -> dict[str, Any]:
    if touched is None:
        return {"spec": name, "what": "unknown"}
    return {"spec": name, "what": touched.what, **asdict(touched.delta)}
