"""The files that a workspace was given and that git does not ignore: as long as they are as they were, they are no work."""

import hashlib
import json
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from agentd import files
from agentd.state import durable, reading

NAME = "given.json"


def note(folder: Path, place: Path, names: Iterable[str]) -> None:
    """Note in the record of a workspace which files it was given."""
    marks = {name: _mark(place / name) for name in names}
    durable.replace(folder / NAME, json.dumps(marks).encode() + b"\n", "workspace")


def unchanged(folder: Path, place: Path) -> list[str]:
    """Return the files that a workspace was given and that are still as they were."""
    try:
        marks = json.loads(reading.own(folder / NAME))
        return [name for name, mark in marks.items() if mark and _mark(place / name) == mark]
    except (OSError, ValueError, AttributeError):
        return []


def _mark(path: Path) -> str:
    """What tells a file or a link from another one; nothing if it is neither."""
    try:
        if path.is_symlink():
            return f"link {os.readlink(path)}"
        data = files.read(path, files.LARGE, os.O_NOFOLLOW)
        return f"{os.stat(path).st_mode & stat.S_IXUSR:o} {hashlib.sha256(data).hexdigest()}"
    except OSError:
        return ""
