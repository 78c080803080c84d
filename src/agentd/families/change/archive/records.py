"""The record of an archive, `archive.json` in the change's folder: each spec before and after, and the old state file.

It is written before anything else changes, so that an interrupted archive can be finished and a finished one undone.
"""

import hashlib
import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

from agentd.errors import AgentdError, Corrupt
from agentd.families.change import ARCHIVE, LAYOUT
from agentd.model.merge import Delta
from agentd.runs.overview import Unreadable
from agentd.runs.project import Project
from agentd.state import durable, reading
from agentd.state.layout import Place
from agentd.values import dataclass

NAME = "archive.json"
VERSION = 1
_EARLIEST = datetime.min.replace(tzinfo=UTC)
T = TypeVar("T")
Command = Literal["archive", "undo"]


@dataclass(frozen=True)
class Touched:
    """A spec of the library before and after an archive; None where it does not exist.

    `settled` is the side that was preferred in a conflict, or `edit`; `mode` has the permission bits before.
    """

    before: str | None
    after: str | None
    delta: Delta = field(default_factory=Delta)
    settled: str = ""
    mode: int = 0

    @property
    def what(self) -> Literal["added", "changed", "removed", "same"]:
        if self.after == self.before:
            return "same"
        return "removed" if self.after is None else "added" if self.before is None else "changed"

    def texts(self, command: Command) -> tuple[str | None, str | None]:
        """The texts before and after a command; an undo goes from the later to the earlier one."""
        return (self.before, self.after) if command == "archive" else (self.after, self.before)


@dataclass(frozen=True)
class Record:
    """An archive. `specs` has paths in the library; `folders` has the folders it creates, relative to the root.

    `unreviewed` is who chose that nobody reviews the change.
    """

    change: str
    at: str
    by: str
    specs: Mapping[str, Touched] = field(default_factory=dict)
    state: str = ""
    folders: tuple[str, ...] = ()
    unreviewed: str = ""


@dataclass(frozen=True)
class Archived:
    """A change in the archive and its specs; a spec is None if no record says what the change did to it."""

    name: str
    at: str
    specs: Mapping[str, Touched | None] = field(default_factory=dict)


def archived(project: Project) -> Iterator[Archived | Unreadable]:
    """Every change in the archive, sorted by name; one that cannot be read comes as its error."""
    for place in _places(project):
        try:
            yield _archived(project, place)
        except AgentdError as error:
            yield Unreadable(project.label(place), error)


def by_time(project: Project) -> list[tuple[Path, Record]]:
    """Every record in the archive with its folder, the oldest first; one that cannot be read raises its error."""
    found = ((place.folder, read(place.folder)) for place in _places(project))
    return sorted(((folder, one) for folder, one in found if one is not None), key=lambda pair: pair[1].at)


def read(folder: Path) -> Record | None:
    """The record of a change; None if it is not archived, or was archived without a record."""
    path = folder / NAME
    name = shlex.quote(str(path))
    fix = f"git checkout {name}   # if git does not have it: mv {name} {name}.old, and check agentd/specs"
    return read_json(path, lambda data: _record(path, data), "is not the record of an archive", fix)


def write(folder: Path, record: Record) -> None:
    specs = {name: _entry(touched) for name, touched in record.specs.items()}
    data = {"version": VERSION, **vars(record), "specs": specs}
    # JSON escapes keep the bytes of a spec that is not UTF-8.
    durable.replace(folder / NAME, json.dumps(data, indent=1).encode() + b"\n", "record")


def remove(folder: Path) -> None:
    durable.remove(folder / NAME, "record")


def read_json(path: Path, build: Callable[[Any], T], problem: str, fix: str) -> T | None:
    """Build a value from a JSON file; None if there is no file, Corrupt with this problem if it has another form."""
    try:
        return build(json.loads(reading.own(path)))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise durable.trouble(path, error, "read") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise Corrupt(f"{path} {problem}.", fix) from None


def when(at: str) -> datetime:
    """The time that a file gives; text that is not a time sorts before every time."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return _EARLIEST
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def is_below(name: str) -> bool:
    """Whether a relative path stays below the folder it starts in."""
    return {"", ".", ".."}.isdisjoint(name.split("/")) and "\0" not in name


def _places(project: Project) -> Iterator[Place]:
    home = project.root / ARCHIVE
    for place in LAYOUT.places(project.root):
        if place.folder.parent == home and (project.store(place).exists() or (place.folder / NAME).exists()):
            yield place


def _archived(project: Project, place: Place) -> Archived:
    record = read(place.folder)
    if record is not None:
        return Archived(place.name, record.at, record.specs)
    store = project.store(place)
    at = str(store.peek().fields.get(store.codec.updated_key, ""))
    listed = reading.listing(str(place.folder), "specs")
    return Archived(place.name, at, {name.removeprefix("specs/"): None for name, problem in listed if not problem})


def _record(path: Path, data: Mapping[str, Any]) -> Record:
    if data["version"] != VERSION:
        what = f"{path} has version {data['version']}, and this agentd reads version {VERSION}."
        raise Corrupt(what, "pip install --upgrade agentd-workflows")
    specs = {name: _touched(entry) for name, entry in data["specs"].items()}
    folders = tuple(data["folders"])
    if not all(map(is_below, (*specs, *folders))):
        raise ValueError
    return Record(
        data["change"], str(data["at"]), data["by"], specs, data["state"], folders, str(data.get("unreviewed", ""))
    )


def _entry(touched: Touched) -> dict[str, Any]:
    return {
        **asdict(touched.delta),
        "settled": touched.settled,
        "mode": touched.mode,
        "sha256": _checksums(touched.before, touched.after),
        "before": touched.before,
        "after": touched.after,
    }


def _touched(entry: Mapping[str, Any]) -> Touched:
    before, after = entry["before"], entry["after"]
    if _checksums(before, after) != entry["sha256"]:
        raise ValueError
    renamed = tuple((str(old), str(new)) for old, new in entry["renamed"])
    added, changed, removed = (tuple(map(str, entry[key])) for key in ("added", "changed", "removed"))
    delta = Delta(added, changed, removed, renamed, entry["other"] is True)
    return Touched(before, after, delta, str(entry["settled"]), int(entry["mode"]))


def _checksums(before: str | None, after: str | None) -> dict[str, str]:
    """SHA-256 of both texts; empty where there is none."""
    texts = {"before": before, "after": after}
    return {
        key: "" if text is None else hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()
        for key, text in texts.items()
    }
