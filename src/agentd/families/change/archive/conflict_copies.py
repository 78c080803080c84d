"""Conflicts that a person settles in an editor: marked copies of specs in `conflicts/` of the change's folder.

`sides.json` beside them keeps the two texts each was made from, so that a copy still counts when the library or the
change has moved on. What a person wrote into one is never written over.
"""

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from agentd.errors import Corrupt
from agentd.library import spec
from agentd.model.merge import Merged, Prefer, Sides
from agentd.state import durable, reading

FOLDER = "conflicts"
NAME = "sides.json"


def settled(folder: Path, now: Sides, prefer: Prefer = "") -> Merged | None:
    """What a person made of a conflict, with what both sides have got since; None if there is nothing, or not all is settled.

    Where it contradicts the change or the library now, that is a conflict again.
    """
    text = reading.raw(folder / FOLDER / now.name)
    then = _then(_sides(folder), now)
    if text is None or spec.first_marker(text, then.ours, then.theirs) or _is_lost(text, then):
        return None
    ours = spec.merge(then.ours, now.ours, text if text.strip() else None, prefer)
    if ours.conflicts and not prefer:
        return ours
    found = spec.merge(then.theirs, ours.text, now.theirs, prefer)
    return found if found.conflicts else Merged(found.text, spec.amiss(found.text, now.ours, now.theirs))


def write(folder: Path, now: Sides, marked: str) -> Path:
    """Make the copy of a spec with its conflicts marked, or bring the one that is there up to date; gives its path.

    One that a person has begun to settle is left as it is until it is settled: what they wrote stands between marks.
    """
    path, known = folder / FOLDER / now.name, _sides(folder)
    there, then = reading.raw(path), _then(known, now)
    text = marked
    if there is not None and spec.first_marker(there, then.ours, then.theirs):
        if there != spec.merge(now.base, then.ours, then.theirs, "mark").text:
            return path
    elif there is not None and not _is_lost(there, then):
        ours = spec.merge(then.ours, now.ours, there, "mark").text
        text = spec.merge(then.theirs, ours, now.theirs, "mark").text or ""
    durable.make_folder(path.parent)
    # A copy that is older than what is kept beside it would pass for settled: what is kept is first only for a new one.
    if there is None:
        _keep(folder, known, now)
    if text != there:
        durable.replace(path, text.encode(errors="surrogateescape"), "draft")
    if there is not None:
        _keep(folder, known, now)
    return path


def is_there(folder: Path, name: str) -> bool:
    return (folder / FOLDER / name).is_file()


def first_open(folder: Path, now: Sides) -> int:
    """The line of the first mark in a copy that is not settled yet, or 0."""
    then = _then(_sides(folder), now)
    return spec.first_marker(reading.raw(folder / FOLDER / now.name) or "", then.ours, then.theirs)


def _is_lost(text: str, then: Sides) -> bool:
    """Whether a copy is empty although nobody wants the spec to go: an editor's accident."""
    return not text.strip() and None not in (then.ours, then.theirs)


def _then(known: Mapping[str, Mapping[str, str | None]], now: Sides) -> Sides:
    """The texts that a copy was made from; where nothing tells, it counts as made from those the change began with."""
    kept = known.get(now.name, {"ours": now.base, "theirs": now.base})
    return replace(now, ours=kept["ours"], theirs=kept["theirs"])


def _keep(folder: Path, known: Mapping[str, Mapping[str, str | None]], now: Sides) -> None:
    kept = {"ours": now.ours, "theirs": now.theirs}
    if known.get(now.name) != kept:
        text = json.dumps({**known, now.name: kept}, indent=1)
        durable.replace(folder / FOLDER / NAME, text.encode() + b"\n", "draft")


def _sides(folder: Path) -> dict[str, dict[str, str | None]]:
    path = folder / FOLDER / NAME
    text = reading.raw(path)
    try:
        found = json.loads(text) if text is not None else {}
        sound = all(_are_sides(entry) for entry in found.values())
    except (ValueError, AttributeError):
        sound = False
    if not sound:
        fix = shlex.join(("mv", str(path.parent), f"{path.parent}.old"))
        raise Corrupt(f"{path}: it does not say what the conflicts came from.", fix)
    return dict(found)


def _are_sides(entry: object) -> bool:
    return (
        isinstance(entry, dict)
        and entry.keys() == {"ours", "theirs"}
        and all(text is None or isinstance(text, str) for text in entry.values())
    )
