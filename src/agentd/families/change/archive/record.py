"""What an archive did, in `archive.json` of the change's folder: every spec before and after, and the state it came from.

It is written before anything is touched, so that an archive that was cut off can be finished, and one that is through
can be undone.
"""

import hashlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentd.errors import Corrupt
from agentd.model.merge import Delta
from agentd.state import durable

NAME = "archive.json"
VERSION = 1


@dataclass(frozen=True)
class Touched:
    """A spec of the library, None where there was or is none; `mode` has the permission bits it had; `settled` the side that
    was preferred, or `edit`, if there were conflicts."""

    before: str | None
    after: str | None
    delta: Delta = field(default_factory=Delta)
    settled: str = ""
    mode: int = 0


@dataclass(frozen=True)
class Record:
    """An archive. `specs` are named by their path in the library; `folders` are those it made, from the project's root."""

    change: str
    at: str
    by: str
    specs: Mapping[str, Touched] = field(default_factory=dict)
    state: str = ""
    folders: tuple[str, ...] = ()


def read(folder: Path) -> Record | None:
    """The record of a change; None if it was archived without one, or not at all."""
    path = folder / NAME
    try:
        data = json.loads(path.read_bytes())
        if data["version"] != VERSION:
            raise Corrupt(
                f"{path}: it is of version {data['version']}, and this agentd reads {VERSION}.",
                "pip install --upgrade agentd-workflows",
            )
        specs = {_inner(name): _touched(entry) for name, entry in data["specs"].items()}
        folders = tuple(map(_inner, data["folders"]))
        return Record(data["change"], data["at"], data["by"], specs, data["state"], folders)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise durable.trouble(path, error, "read") from error
    except (ValueError, TypeError, KeyError, AttributeError):
        name = shlex.quote(str(path))
        fix = (
            f"git checkout {name}   # or, if git does not have it: mv {name} {name}.old, and look through agentd/specs"
        )
        raise Corrupt(f"{path}: it is not the record of an archive.", fix) from None


def write(folder: Path, record: Record) -> None:
    data = {
        "version": VERSION,
        "change": record.change,
        "at": record.at,
        "by": record.by,
        "folders": list(record.folders),
        "specs": {name: _entry(touched) for name, touched in record.specs.items()},
        "state": record.state,
    }
    # Escapes keep the bytes of what is no UTF-8 text.
    durable.replace(folder / NAME, json.dumps(data, indent=1).encode() + b"\n", "record")


def checksum(text: str | None) -> str:
    """What tells one version of a spec from another; nothing where there is none."""
    return "" if text is None else hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def _inner(name: str) -> str:
    """A path that leads nowhere but down."""
    if not {"", ".", ".."}.isdisjoint(name.split("/")):
        raise ValueError
    return name


def _entry(touched: Touched) -> dict[str, Any]:
    delta = touched.delta
    return {
        "added": list(delta.added),
        "changed": list(delta.changed),
        "removed": list(delta.removed),
        "renamed": [list(pair) for pair in delta.renamed],
        "other": delta.other,
        "settled": touched.settled,
        "mode": touched.mode,
        "sha256": {"before": checksum(touched.before), "after": checksum(touched.after)},
        "before": touched.before,
        "after": touched.after,
    }


def _touched(entry: Mapping[str, Any]) -> Touched:
    before, after = entry["before"], entry["after"]
    if (checksum(before), checksum(after)) != (entry["sha256"]["before"], entry["sha256"]["after"]):
        raise ValueError
    renamed = tuple((str(old), str(new)) for old, new in entry["renamed"])
    added, changed, removed = (tuple(map(str, entry[key])) for key in ("added", "changed", "removed"))
    delta = Delta(added, changed, removed, renamed, entry["other"] is True)
    return Touched(before, after, delta, str(entry["settled"]), int(entry["mode"]))
