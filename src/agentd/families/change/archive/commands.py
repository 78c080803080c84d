"""`agentd archive`: a complete change merged into the library; and the end of an archive or undo that was cut off."""

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from agentd.errors import AgentdError, ChangeNotComplete, Meddled
from agentd.families.change import ACTIVE, ARCHIVE, NAME, approval
from agentd.families.change.archive import conflict_copies, merge, pending, prepare, wording, writes
from agentd.families.change.archive import record as records
from agentd.families.change.archive import undo as undoing
from agentd.families.change.archive.merge import Outlook
from agentd.families.change.archive.pending import Pending
from agentd.library import spec
from agentd.library.exclusive import holding
from agentd.model.merge import Prefer
from agentd.runs import state_guard
from agentd.runs.lifecycle import go_on, look
from agentd.runs.project import Project
from agentd.runs.report import Report
from agentd.runs.work import Work, work_on
from agentd.state import lock
from agentd.state.layout import Place


def archive(project: Project, change: str, prefer: Prefer = "") -> Report:
    """Bring the specs of a complete change into the library and move its folder to the archive."""
    with holding(project.root):
        finished = (finish(project), *project.finished)
        place = project.find(change, NAME)
        if place.name in finished and _phase(project, place) == "archived":
            return replace(look(project, place), drove=True)
        return bring(project, place, prefer)


def bring(project: Project, place: Place, prefer: Prefer = "") -> Report:
    """Archive one complete change; the caller holds the library. Trouble on the way takes everything back."""
    refuse_incomplete(project, place)
    target = project.root / ARCHIVE / place.name
    if place.folder != target and os.path.lexists(target):
        raise writes.in_the_way(target)
    left = records.read(place.folder)
    if left is not None and left.change == place.name:  # an archive was cut off, and nothing else tells of it any more
        writes.sweep(project.root, place.name)
        _roll_back(project, left)
        place = project.find(place.name, NAME)
    approval.warn(project, place)
    try:
        told = go_on(project, place, "archive", first=lambda work: prepare.prepare(work, prefer))
    except AgentdError:
        _take_back(project, place.name)
        raise
    if told.phase == "archived":
        pending.settle(project.root)
    else:
        _take_back(project, place.name)
    return told


def undo(project: Project, change: str) -> Report:
    """The library and the change as they were before it was archived."""
    with holding(project.root):
        finished = (finish(project), *project.finished)
        place = project.find(change, NAME, over=True)
        if place.name in finished and place.folder.parent == project.root / ACTIVE:
            return look(project, place)
        return undoing.undo(project, place)


def preview(project: Project, change: str) -> tuple[Outlook, list[str]]:
    """What archiving a change would do now, and every conflict as a person reads it."""
    place = project.find(change, NAME)
    refuse_incomplete(project, place)
    work = _work(project, place)
    outlook = merge.look(work)
    return outlook, wording.shown(work, outlook)


def draft(project: Project, change: str) -> list[Path]:
    """Copies of the specs a change disagrees with the library about, marked for a person to settle, and those that were
    settled before; none if it does not."""
    place = project.find(change, NAME)
    refuse_incomplete(project, place)
    with lock.acquire(place.folder, "archive"):
        work = _work(project, place)
        conflicts = merge.look(work).conflicts
        found = []
        for one in merge.sides(work):
            if one.name in conflicts or conflict_copies.is_there(place.folder, one.name):
                marked = spec.merge(one.base, one.ours, one.theirs, "mark").text or ""
                found.append(conflict_copies.write(place.folder, one, marked))
        return found


def still_open(project: Project, change: str) -> list[tuple[Path, int]]:
    """The copies of a change's specs that are not settled yet, each with the line of its first mark."""
    place = project.find(change, NAME)
    found = ((one.name, conflict_copies.first_open(place.folder, one)) for one in merge.sides(_work(project, place)))
    return [(place.folder / conflict_copies.FOLDER / name, line) for name, line in found if line]


def refuse_incomplete(project: Project, place: Place) -> None:
    phase = _phase(project, place)
    if phase != "complete":
        name = place.name
        fix = f"agentd status {name}" if phase in ("archived", "rejected") else f"agentd impl {name}"
        raise ChangeNotComplete(f"'{name}' is {phase}, not complete; nothing was moved.", fix)


def recover(project: Project) -> Project:
    """The project once nothing in it is half done: what was cut off is finished, or taken back, before anything is read."""
    with holding(project.root):
        name = finish(project)
    return replace(project, finished=(*project.finished, name)) if name else project


def finish(project: Project) -> str:
    """The change whose archive or undo was cut off and is through now, or nothing; the caller holds the library."""
    root = project.root
    found = pending.read(root)
    if found is None:
        return ""
    writes.sweep(root, found.change)
    folder = writes.where(root, found.change)
    record = records.read(folder)
    if record is None and not folder.exists():
        project.say(
            f"⚠ {found.change} was cut off in its {found.deed} and is gone; its specs may be half in the library"
        )
    if record is not None and not (folder / "STATE.yaml").exists():
        writes.restore_state(folder, record)
    through = record is not None or found.deed == "undo"  # an undo forgets the record when all else is done
    if record is not None:
        try:
            _finish(project, found, record)
            project.say(f"⚠ the {found.deed} of {found.change} was cut off; it is finished now")
        except Meddled as error:
            through = False
            if found.deed == "archive":
                _roll_back(project, record)
            else:
                undoing.roll_back(root, record)
            project.say(f"⚠ the {found.deed} of {found.change} was cut off and is taken back: {error.message}")
    pending.settle(root)
    return found.change if through else ""


def _finish(project: Project, found: Pending, record: records.Record) -> None:
    if found.deed == "undo":
        undoing.carry_out(project, record)
        return
    quiet = replace(project, say=lambda _: None, attended=False)
    told = go_on(quiet, Place(NAME, found.change, writes.where(project.root, found.change)), "archive")
    if told.phase != "archived":
        again = f"agentd status {found.change}"
        raise Meddled(f"its phase was set to {told.phase} meanwhile; if you want that, set it again.", again)


def _take_back(project: Project, change: str) -> None:
    """Nothing was archived: everything as before. If even that cannot be written, the next command finishes the archive."""
    root = project.root
    with suppress(AgentdError):
        if pending.read(root) == Pending("archive", change):
            record = records.read(writes.where(root, change))
            if record is not None:
                _roll_back(project, record)
            pending.settle(root)


def _roll_back(project: Project, record: records.Record) -> None:
    """The files the implementation began with are held again first: it is repeated as long as there is a record."""
    folder = writes.where(project.root, record.change)
    with lock.acquire(folder, "archive"):
        undoing.hold_base(project, folder)
        undoing.tell_copy(project, writes.roll_back(project.root, record))


def _work(project: Project, place: Place) -> Work:
    return work_on(project, place)


def _phase(project: Project, place: Place) -> str:
    return state_guard.standing(project.workflow(NAME), project.store(place).load().run).phase
