"""The diary of a run: one JSON object a line in `journal.jsonl`, only ever added to, never replayed."""

import json
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from agentd import files
from agentd.state import durable, reading

NAME = "journal.jsonl"
UNDONE = "undone"
_CHUNK = 64 * 1024
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Reading(NamedTuple):
    """The events of a journal, and how many lines a crash had cut off."""

    events: list[dict[str, Any]]
    torn: int


def append(folder: Path, *events: Mapping[str, Any], known: int | None = None) -> None:
    """Add events; they are on the disk when this returns. `known` is the folder, if `durable.folder_of` has opened it."""
    lines = "".join(f"{_compact(dict(event))}\n" for event in events)
    data = lines.encode("utf-8", "backslashreplace")  # a lone surrogate becomes its JSON escape
    durable.append(folder / NAME, data, "journal", known)


def read(folder: Path) -> list[dict[str, Any]]:
    """Every event, oldest first."""
    return scan(folder).events


def scan(folder: Path) -> Reading:
    """Every event, and the number of torn lines between them."""
    try:
        data = reading.own(folder / NAME)
    except FileNotFoundError:
        return Reading([], 0)
    except OSError as error:
        raise durable.trouble(folder / NAME, error, "read") from error
    return _events(data.split(b"\n"))


def tail(folder: Path, n: int) -> list[dict[str, Any]]:
    """The last n events, oldest first, read from the end of the file; fewer if they are longer than events are."""
    if n <= 0:
        return []
    size = _CHUNK
    try:
        while True:
            data, whole = reading.ending(f"{folder}/{NAME}", size)
            lines = data.split(b"\n")
            found = _last(lines if whole else lines[1:], n)
            if len(found) >= n or whole or size > files.LARGE:
                return found
            size *= 2
    except FileNotFoundError:
        return []
    except OSError as error:
        raise durable.trouble(folder / NAME, error, "read") from error


def _last(lines: list[bytes], n: int) -> list[dict[str, Any]]:
    events = (event for event in map(_event, filter(None, reversed(lines))) if event is not None)
    return list(islice(events, n))[::-1]


def _events(lines: Iterable[bytes]) -> Reading:
    found = [_event(line) for line in filter(None, lines)]
    events = [event for event in found if event is not None]
    return Reading(events, len(found) - len(events))


def _event(line: bytes) -> dict[str, Any] | None:
    """The event on a line; None if a crash cut it off."""
    try:
        event = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None
