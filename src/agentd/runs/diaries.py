"""What happened in a run, told by its diary and those of its children. It follows no link."""

from collections.abc import Iterator
from heapq import merge
from pathlib import Path
from typing import Any

from agentd.runs.project import Project
from agentd.state import journal, layout

DEEPEST = 8
Event = dict[str, Any]


def log(project: Project, name: str) -> tuple[Path, list[Event]]:
    """The folder of a run, and the entries of its diary and of its children's, which name the child, the oldest first."""
    folder = project.find(name).folder
    below = [[{"child": child, **event} for event in saves(journal.read(place))] for child, place in children(folder)]
    earlier = {str(event): event for event in journal.read(folder / "children")}.values()  # a kill writes them twice
    return folder, list(merge(saves(journal.read(folder)), *below, sorted(earlier, key=_at), key=_at))


def saves(events: list[Event]) -> list[Event]:
    """The entries of a diary, each save once: a save that was cut off and made again counts as its last telling.

    An archive that was undone is told although its saves are counted again from there.
    """
    found: dict[Any, Event] = {}
    undone = 0
    for number, event in enumerate(events):
        undone += event.get("event") == journal.UNDONE
        key: Any = (undone, event.get("n")) if type(event.get("n")) is int else f"line {number}"
        if found.pop(key, None):
            found.pop((undone, event["n"] + 1), None)  # the save that was cut off may have told of two events
        found[key] = event
    return list(found.values())


def keep(folder: Path, gone: Path) -> None:
    """Keep the diaries of children that are about to be removed with those of the run that they belong to."""
    home = folder / "children"
    for path in sorted(gone.rglob(journal.NAME)):
        child = path.parent.relative_to(home).as_posix().replace("/children/", "/")
        journal.append(home, *({"child": child, **event} for event in journal.read(path.parent)))


def children(folder: Path, depth: int = 0, above: str = "") -> Iterator[tuple[str, Path]]:
    """Every child of the run in a folder, `STEP/ITEM`, with its own folder; below it, its own children."""
    for step, item, place in own_children(folder):
        name = f"{above}{step}/{item}"
        yield name, place
        if depth < DEEPEST:
            yield from children(place, depth + 1, f"{name}/")


def own_children(folder: Path) -> Iterator[tuple[str, str, Path]]:
    """The children of the run in a folder: step, item and folder of each."""
    for step in _folders(folder / "children"):
        for item in _folders(folder / "children" / step):
            yield step, item, folder / "children" / step / item


def _folders(folder: Path) -> list[str]:
    if folder.is_symlink() or not folder.is_dir():
        return []
    return [name for name in layout.folders_in(folder) if not (folder / name).is_symlink()]


def _at(event: Event) -> str:
    return str(event.get("at", ""))
