"""What runs have cost, for every face, and the project's ledger on disk. An unknown cost is counted, never taken for zero."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agentd.errors import AgentdError
from agentd.runs.overview import Unreadable
from agentd.runs.project import Project
from agentd.state import durable, reading
from agentd.usage import ledger
from agentd.usage.calls import Call, count, dollars_of, kind, total
from agentd.usage.ledger import Entry
from agentd.usage.prices import dollars as dollars
from agentd.usage.recorded_calls import calls_in
from agentd.values import dataclass


@dataclass(frozen=True)
class Row:
    """What some calls came to; a figure that none of them tells is None. `unknown` counts those of unknown cost."""

    name: str
    calls: int
    tokens_in: int | None
    cached_in: int | None
    tokens_out: int | None
    bytes_in: int | None
    bytes_out: int | None
    cost: float | None
    unknown: int


@dataclass(frozen=True)
class Costs:
    """The rows of a table and their total; runs that cannot be read are listed apart and in no sum."""

    by: str
    rows: tuple[Row, ...]
    total: Row
    unreadable: tuple[Unreadable, ...] = ()

    def to_data(self) -> dict[str, Any]:
        first = self.by or "run"
        return {
            "by": first,
            "rows": [{first if key == "name" else key: value for key, value in vars(row).items()} for row in self.rows],
            "total": {key: value for key, value in vars(self.total).items() if key != "name"},
            "unreadable": [{"run": entry.name, "message": entry.error.message} for entry in self.unreadable],
        }


def costs(project: Project, name: str = "", by: str = "") -> Costs:
    """What one run has cost, or every run of the project; `by` is "", "step" or "model"."""
    found: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    unreadable = []
    for place in [project.find(name)] if name else project.places():
        try:
            fields = project.store(place).peek().fields
        except AgentdError as error:
            if name:
                raise
            unreadable.append(Unreadable(project.label(place), error))
            continue
        if not by:
            found[f"{project.workflow_of(place)}/{place.name}"] += calls_in(fields)
            continue
        for entry in calls_in(fields):
            key = str(entry.get(by) or "")
            found[key if name or by == "model" else kind(key, project.kinds())].append(entry)
    rows = tuple(_row(key, entries) for key, entries in found.items())
    return Costs(by, rows, _row("total", [entry for entries in found.values() for entry in entries]), tuple(unreadable))


def append_to_ledger(project: Project, run: str, call: Call) -> None:
    """Add a call to the project's ledger; it is on the disk when this returns."""
    path = ledger_file(project)
    durable.make_folder(path.parent)
    durable.append(path, ledger.line(run, call), "ledger")


def read_ledger(project: Project) -> list[Entry]:
    """Every call of the project that was ever recorded."""
    path = ledger_file(project)
    try:
        return ledger.parse(reading.own(path))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise durable.trouble(path, error, "read") from error


def day_cost(entries: Iterable[Entry], date: str) -> float:
    """What the calls of a day (`2026-01-19`, UTC) have cost as far as it is known."""
    return total(entry.cost for entry in entries if entry.timestamp.startswith(date)) or 0.0


def ledger_file(project: Project) -> Path:
    return project.root / "agentd" / "ledger.jsonl"


def _row(name: str, entries: list[Mapping[str, Any]]) -> Row:
    known = [dollars_of(entry.get("cost")) for entry in entries]

    def tokens(key: str) -> int | None:
        found = total(count(entry.get(key)) for entry in entries)
        return None if found is None else int(found)

    return Row(
        name,
        calls=len(entries),
        tokens_in=tokens("tokens_in"),
        cached_in=tokens("cached_in"),
        tokens_out=tokens("tokens_out"),
        bytes_in=tokens("bytes_in"),
        bytes_out=tokens("bytes_out"),
        cost=total(known) if known else 0.0,
        unknown=known.count(None),
    )
