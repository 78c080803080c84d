"""`agentd abandon`: take an active change away and keep all of it in git, and bring it back.

A kill leaves the change where it was or where it goes, never in part: its files are in git before its folder is renamed,
and a folder that is brought back is whole before it has its name.
"""

import os
import re
import shlex
import shutil
from pathlib import Path

from agentd.errors import ChangeNotFound, NotReady, Refused
from agentd.families.change import ACTIVE, NAME, git_setup
from agentd.families.change.plan import is_archived
from agentd.git import trees
from agentd.library.exclusive import holding
from agentd.patterns import regex
from agentd.runs.lifecycle import look
from agentd.runs.project import Project
from agentd.runs.report import Report
from agentd.state import durable, journal, lock
from agentd.state.layout import Place

KEPT = "abandoned"
SHOWN = 3
_ASIDE = regex(rf"\.(.+)\.{KEPT}")


def abandon(project: Project, change: str) -> str:
    """Take an active change away; gives the ref that keeps it. Refused while a process works on it."""
    git_setup.refuse_without_git(project, "abandoning")
    with holding(project.root):
        if change in _clear(project) and not os.path.lexists(project.root / ACTIVE / change):
            return f"refs/agentd/{_refs(project, change)[-1]}"  # it was cut off when all was kept
        place = project.find(change, NAME)
        if is_archived(place):
            raise NotReady(
                f"'{place.name}' is archived; only an active change is abandoned.", f"agentd undo {place.name}"
            )
        with lock.acquire(place.folder, "abandon"):
            _refuse_lost(project, place.folder)
            journal.append(place.folder, {"at": project.now(), "event": KEPT, "by": project.who()})
            known = _refs(project, place.name)
            ref = f"{KEPT}/{place.name}/{_number(known[-1]) + 1 if known else 1}"
            trees.keep(project.root, ref, trees.store(place.folder, _files(place.folder)))
            os.sync()  # git does not wait for the disk
            away = _aside(place.folder)
            durable.move(place.folder, away, "move")
        _remove(away)
    return f"refs/agentd/{ref}"


def bring_back(project: Project, change: str) -> Report:
    """Undo the last abandonment of a change, byte for byte."""
    git_setup.refuse_without_git(project, "abandoning")
    place = project.new_place(NAME, change)
    folder = project.root / ACTIVE / place.name
    if _refs(project, place.name):
        durable.make_folder(folder.parent)
    with holding(project.root):
        known = _refs(project, place.name)
        if not known:
            raise _not_abandoned(project, change, os.path.lexists(folder))
        tree = trees.kept(project.root, known[-1])
        _clear(project)
        there = os.path.lexists(folder)
        if is_archived(place) or (there and trees.store(folder, _files(folder)) != tree):
            raise Refused(
                f"There is a change '{place.name}' already; nothing was brought back.", f"agentd status {place.name}"
            )
        if not there:  # else it was cut off when all was back
            aside = _aside(folder)
            trees.lay_out(project.root, tree, aside)
            os.sync()
            durable.move(aside, folder, "move")
        trees.forget(project.root, known[-1])
    return look(project, Place(NAME, place.name, folder))


def _not_abandoned(project: Project, change: str, there: bool) -> ChangeNotFound:
    if there:
        what = f"'{change}' is not abandoned: it has been brought back already, or never was taken away."
        return ChangeNotFound(what, f"agentd status {change}")
    others = sorted({ref.split("/")[1] for ref in trees.names(project.root, KEPT)})
    listed = f"; there are: {', '.join(others)}" if others else ""
    return ChangeNotFound(f"There is no abandoned change '{change}'{listed}.", "agentd list")


def _refs(project: Project, name: str) -> list[str]:
    """What keeps the changes of this name, the last one last; other refs are not agentd's."""
    own = re.compile(rf"{KEPT}/{re.escape(name)}/[1-9][0-9]{{0,8}}")
    return sorted(filter(own.fullmatch, trees.names(project.root, f"{KEPT}/{name}")), key=_number)


def _number(ref: str) -> int:
    return int(ref.rpartition("/")[2])


def _files(folder: Path) -> list[str]:
    """Every file and link of a change, without its lock."""
    found = (Path(parent, name) for parent, folders, names in os.walk(folder) for name in (*names, *folders))
    kept = (path for path in found if path.is_symlink() or path.is_file())
    return sorted(str(path.relative_to(folder)) for path in kept if path.name != lock.NAME)


def _refuse_lost(project: Project, folder: Path) -> None:
    """Refuse what git would not keep: another repository, a pipe. An empty folder holds nothing to lose."""
    lost = []
    for parent, folders, names in os.walk(folder):
        everything = [Path(parent, name) for name in (*folders, *names)]
        lost += [path for path in everything if path.name.lower() == ".git"]
        lost += [path for path in everything if not (path.is_symlink() or path.is_file() or path.is_dir())]
    if lost:
        shown = [project.relative(path) for path in lost[:SHOWN]]
        more = f" and {len(lost) - SHOWN} more" if len(lost) > SHOWN else ""
        raise Refused(
            f"git cannot keep {', '.join(shown)}{more} (another repository, or no file); nothing was taken away.",
            f"ls -ld {shlex.join(shown)}   # move or remove these, then run the same command again",
        )


def _aside(folder: Path) -> Path:
    """A place beside a change's folder that no command takes for a change, empty of what a kill left there."""
    place = folder.with_name(f".{folder.name}.{KEPT}")
    _remove(place)
    return place


def _clear(project: Project) -> list[str]:
    """Remove what killed processes left beside the changes, all of which is kept in git; gives the changes' names."""
    home = project.root / ACTIVE
    found = [mark[1] for path in home.iterdir() if (mark := _ASIDE.fullmatch(path.name))] if home.is_dir() else []
    cleared = [name for name in found if _refs(project, name)]
    for name in cleared:
        _aside(home / name)
    return cleared


def _remove(folder: Path) -> None:
    durable.refuse_links(folder, "removed")
    shutil.rmtree(folder, ignore_errors=True)
