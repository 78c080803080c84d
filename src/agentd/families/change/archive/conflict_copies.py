"""Marked copies of conflicting specs, which a person edits: `conflicts/` in the change's folder.

`sides.json` beside them keeps the two texts that each copy was made from, so that a settled copy still counts when the
library or the change has changed since. A person's edits are never overwritten.
"""

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentd.families.change.archive.records import read_json
from agentd.library import spec
from agentd.model.merge import Merged, Prefer, Sides
from agentd.state import durable, reading

FOLDER = "conflicts"
NAME = "sides.json"
Kept = Mapping[str, str | None]


def settled(folder: Path, now: Sides, prefer: Prefer = "") -> Merged | None:
    """The settled copy, merged with what both sides changed since; None if there is no copy, or marks are left in it.

    Where both the copy and a side changed a part, there is a conflict again.
    """
    text = reading.raw(folder / FOLDER / now.name)
    then = _made_from(_kept(folder), now)
    if text is None or spec.first_marker(text, then.ours, then.theirs) or _is_lost(text, then):
        return None
    ours = spec.merge(then.ours, now.ours, text if text.strip() else None, prefer)
    if ours.conflicts and not prefer:
        return ours
    found = spec.merge(then.theirs, ours.text, now.theirs, prefer)
    return found if found.conflicts else Merged(found.text, spec.amiss(found.text, now.ours, now.theirs))


def write(folder: Path, now: Sides) -> Path:
    """Write the copy of a spec with its conflicts marked, or update a settled one; gives its path.

    A copy that a person has begun to edit is left alone while marks are in it.
    """
    path, kept = folder / FOLDER / now.name, _kept(folder)
    there, then = reading.raw(path), _made_from(kept, now)
    text = spec.merge(now.base, now.ours, now.theirs, "mark").text or ""
    if there is not None and spec.first_marker(there, then.ours, then.theirs):
        if there != spec.merge(now.base, then.ours, then.theirs, "mark").text:
            return path
    elif there is not None and not _is_lost(there, then):
        ours = spec.merge(then.ours, now.ours, there, "mark").text
        text = spec.merge(then.theirs, ours, now.theirs, "mark").text or ""
    durable.make_folder(path.parent)
    # A copy older than its sides would count as settled, so that the sides are written first only for a new copy.
    if there is None:
        _keep(folder, kept, now)
    if text != there:
        durable.replace(path, text.encode(errors="surrogateescape"), "draft")
    if there is not None:
        _keep(folder, kept, now)
    return path


def exists(folder: Path, name: str) -> bool:
    return (folder / FOLDER / name).is_file()


def first_mark(folder: Path, now: Sides) -> int:
    """The line of the first mark in a copy, or 0."""
    then = _made_from(_kept(folder), now)
    return spec.first_marker(reading.raw(folder / FOLDER / now.name) or "", then.ours, then.theirs)


def _is_lost(text: str, then: Sides) -> bool:
    """Whether a copy is empty although neither side removed the spec: an accident in the editor."""
    return not text.strip() and None not in (then.ours, then.theirs)


def _made_from(kept: Mapping[str, Kept], now: Sides) -> Sides:
    """The texts that a copy was made from; the base of the change if that is not recorded."""
    sides = kept.get(now.name, {"ours": now.base, "theirs": now.base})
    return replace(now, ours=sides["ours"], theirs=sides["theirs"])


def _keep(folder: Path, kept: Mapping[str, Kept], now: Sides) -> None:
    sides = {"ours": now.ours, "theirs": now.theirs}
    if kept.get(now.name) != sides:
        text = json.dumps({**kept, now.name: sides}, indent=1)
        durable.replace(folder / FOLDER / NAME, text.encode() + b"\n", "draft")


def _kept(folder: Path) -> Mapping[str, Kept]:
    home = folder / FOLDER
    fix = shlex.join(("mv", str(home), f"{home}.old"))
    return read_json(home / NAME, _checked, "does not say what the copies were made from", fix) or {}


def _checked(data: Any) -> Mapping[str, Kept]:
    for sides in data.values():
        if sides.keys() != {"ours", "theirs"} or not all(isinstance(text, str | None) for text in sides.values()):
            raise ValueError
    return dict(data)
