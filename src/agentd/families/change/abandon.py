"""`agentd abandon`: take an active change away and keep all of it in git, and bring it back.

A kill leaves the change where it was or where it goes, never in part: its files are in git before its folder is renamed,
and a folder that is brought back is whole before it has its name.
"""

import os
import shutil
from pathlib import Path

from agentd.errors import ChangeNotFound, NotReady, Refused
from agentd.families.change import ACTIVE, NAME, git_setup
from agentd.families.change.plan import is_archived
from agentd.git import trees
from agentd.runs.lifecycle import look
from agentd.runs.project import Project
from agentd.runs.report import Report
from agentd.state import durable, journal, lock
from agentd.state.layout import Place

KEPT = "abandoned"


def abandon(project: Project, change: str) -> str:
    """Take an active change away; gives the ref that keeps it. Refused while a process works on it."""
    git_setup.refuse_without_git(project)
    place = project.find(change, NAME)
    if is_archived(place):
        raise NotReady(f"'{place.name}' is archived; only an active change is abandoned.", f"agentd undo {place.name}")
    with lock.acquire(place.folder, "abandon"):
        journal.append(place.folder, {"at": project.now(), "event": KEPT, "by": project.who()})
        known = _refs(project, place.name)
        ref = f"{KEPT}/{place.name}/{_number(known[-1]) + 1 if known else 1}"
        trees.keep(project.root, ref, trees.store(place.folder, _files(place.folder)))
        away = _aside(place.folder)
        durable.move(place.folder, away, "move")
    _remove(away)
    return f"refs/agentd/{ref}"


def bring_back(project: Project, change: str) -> Report:
    """Undo the last abandonment of a change, byte for byte."""
    place = project.new_place(NAME, change)
    known = _refs(project, place.name)
    if not known:
        others = sorted({ref.split("/")[1] for ref in trees.names(project.root, KEPT)})
        there = f"; there are: {', '.join(others)}" if others else ""
        raise ChangeNotFound(f"There is no abandoned change '{change}'{there}.", "agentd list")
    folder = project.root / ACTIVE / place.name
    if os.path.lexists(folder) or is_archived(place):
        raise Refused(
            f"There is a change '{place.name}' already; nothing was brought back.", f"agentd status {place.name}"
        )
    durable.make_folder(folder.parent)
    aside = _aside(folder)
    trees.lay_out(project.root, trees.kept(project.root, known[-1]), aside)
    durable.move(aside, folder, "move")
    trees.forget(project.root, known[-1])
    return look(project, Place(NAME, place.name, folder))


def _refs(project: Project, name: str) -> list[str]:
    """What keeps the changes of this name, the last one last."""
    return sorted(trees.names(project.root, f"{KEPT}/{name}"), key=_number)


def _number(ref: str) -> int:
    return int(ref.rpartition("/")[2])


def _files(folder: Path) -> list[str]:
    """Every file and link of a change, without its lock."""
    found = (Path(parent, name) for parent, folders, names in os.walk(folder) for name in (*names, *folders))
    kept = (path for path in found if path.is_symlink() or path.is_file())
    return sorted(str(path.relative_to(folder)) for path in kept if path.name != lock.NAME)


def _aside(folder: Path) -> Path:
    """A place beside a change's folder that no command takes for a change, empty of what a kill left there."""
    place = folder.with_name(f".{folder.name}.{KEPT}")
    _remove(place)
    return place


def _remove(folder: Path) -> None:
    durable.refuse_links(folder, "removed")
    shutil.rmtree(folder, ignore_errors=True)
