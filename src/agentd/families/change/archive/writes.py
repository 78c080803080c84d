"""The writes of an archive and of an undo: all of them or none, whatever ends the process in between.

A file that somebody else changed meanwhile is never overwritten; then all the rest is put back.
"""

import os
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from agentd.errors import AgentdError, Meddled
from agentd.families.change import ACTIVE, ARCHIVE, LAYOUT
from agentd.families.change.archive import record as records
from agentd.families.change.archive.record import Record, Touched
from agentd.library import snapshot
from agentd.state import durable, reading

_OWN_WORDS = re.compile(r"(?:^|\s)#.*|^[\w.-]+:", re.MULTILINE)


def sweep(root: Path, change: str) -> None:
    """Take away the temp files that a process left which was cut off."""
    for folder in (where(root, change), root / snapshot.LIBRARY):
        durable.sweep(folder)


def bring_in(root: Path, record: Record, strict: bool = True) -> None:
    """The specs as the archive has them; again does no harm."""
    _set(root, record, {name: (one.before, one.after) for name, one in record.specs.items()}, "archive" * strict)


def take_out(root: Path, record: Record, strict: bool = True) -> None:
    """The specs as they were before the archive; again does no harm."""
    _set(root, record, {name: (one.after, one.before) for name, one in record.specs.items()}, "undo" * strict)


def take_away_folders(root: Path, record: Record) -> None:
    """The folders that the archive made, as far as nothing else is in them."""
    for name in sorted(record.folders, key=len, reverse=True):
        with suppress(OSError):
            os.rmdir(root / name)


def folders_to_make(root: Path, specs: Mapping[str, Touched]) -> tuple[str, ...]:
    """The folders that are not there yet, from the root."""
    wanted = {
        root / ARCHIVE,
        *((root / snapshot.LIBRARY / name).parent for name, one in specs.items() if one.after is not None),
    }
    missing = {folder for path in wanted for folder in (path, *path.parents) if not folder.is_dir()}
    return tuple(sorted(folder.relative_to(root).as_posix() for folder in missing))


def move_to(folder: Path, home: Path) -> Path:
    """The change's folder in its other home; where it is already, nothing is moved."""
    target = home / folder.name
    if folder != target:
        if os.path.lexists(target):
            raise in_the_way(target)
        durable.make_folder(home)
        durable.move(folder, target, "move")
    return target


def in_the_way(target: Path) -> AgentdError:
    words = shlex.join(("mv", str(target), f"{target}-old"))
    return AgentdError(f"{target} is in the way; nothing was moved.", words)


def where(root: Path, change: str) -> Path:
    """The folder of a change, in whichever of its homes it is; the one with the record of an archive comes first."""
    folders = (root / home / change for home in (ACTIVE, ARCHIVE))
    found = next((folder for folder in folders if (folder / records.NAME).exists()), None)
    return found or LAYOUT.place(root, change).folder


def roll_back(root: Path, record: Record) -> Path | None:
    """Everything as it was before the archive, but for what others changed; the record goes last, so that this too can
    be cut off and repeated. Gives the copy of the state file that has what a person wrote there."""
    take_out(root, record, strict=False)
    folder = move_to(where(root, record.change), root / ACTIVE)
    take_away_folders(root, record)
    copy = restore_state(folder, record)
    forget(folder)
    return copy


def forget(folder: Path) -> None:
    """The change has not been archived."""
    durable.remove(folder / records.NAME, "record")


def restore_state(folder: Path, record: Record) -> Path | None:
    """The state file as it was before the archive; gives the copy of it that has what a person wrote there since."""
    path, now = folder / "STATE.yaml", reading.raw(folder / "STATE.yaml")
    copy = durable.copy_aside(path) if now and _own_words(now) - _own_words(record.state) else None
    if now != record.state:
        durable.replace(path, record.state.encode(errors="surrogateescape"), "state")
    return copy


def _own_words(text: str) -> set[str]:
    """What only a person adds to a state file: comments, and keys of their own."""
    return {found.strip() for found in _OWN_WORDS.findall(text)}


def _set(root: Path, record: Record, wanted: dict[str, tuple[str | None, str | None]], strictly: str) -> None:
    """Each spec from one text to another. One that is neither text is somebody else's, which stops what is done strictly,
    and is left alone otherwise. All are looked at before any is written, and each once more just before that."""
    library = root / snapshot.LIBRARY

    def is_due(name: str) -> bool:
        old, new = wanted[name]
        now = reading.raw(library / name)
        if strictly and now not in (old, new):
            done = "archived" if strictly == "archive" else "undone"
            raise Meddled(
                f"{library / name} was changed meanwhile; it is left as it is, and nothing was {done}.",
                f"agentd {strictly} {record.change}",
            )
        return now == old != new

    for name in list(filter(is_due, wanted)):
        if is_due(name):
            _put(library / name, wanted[name][1], record.specs[name].mode)


def _put(path: Path, text: str | None, mode: int) -> None:
    if text is None:
        durable.remove(path, "spec")
        return
    durable.make_folder(path.parent)
    durable.replace(path, text.encode(errors="surrogateescape"), "spec", mode or None)
