"""The commands `agentd archive` and `agentd undo`, and what finishes one of them that was interrupted."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from agentd.errors import AgentdError, ChangeNotComplete, Meddled
from agentd.families.change import ACTIVE, ARCHIVE, NAME, approval
from agentd.families.change.archive import conflict_copies, messages, records, spec_merge, transaction
from agentd.families.change.archive import undo as undoing
from agentd.families.change.archive.records import Record
from agentd.families.change.archive.spec_merge import Result
from agentd.library.exclusive import holding
from agentd.model.merge import Prefer
from agentd.runs import state_guard, unfinished
from agentd.runs.lifecycle import go_on, look
from agentd.runs.project import Project
from agentd.runs.report import Report
from agentd.runs.unfinished import Unfinished
from agentd.runs.work import work_on
from agentd.state import lock
from agentd.state.layout import Place


def archive(project: Project, change: str, prefer: Prefer = "") -> Report:
    """Merge the specs of a complete change into the library and move its folder to the archive."""
    transaction.refuse_brought(project.root)
    with holding(project.root):
        finished = (finish(project), *project.finished)
        place = project.find(change, NAME)
        if place.name in finished and _phase(project, place) == "archived":
            return replace(look(project, place), drove=True)
        return archive_one(project, place, prefer)


def archive_one(project: Project, place: Place, prefer: Prefer = "") -> Report:
    """Archive one complete change, or roll back on an error; the caller holds the lock of the library."""
    _refuse_incomplete(project, place)
    target = project.root / ARCHIVE / place.name
    if place.folder != target:
        transaction.refuse_existing(target)
    left = records.read(place.folder)
    if left is not None and left.change == place.name:  # an archive was interrupted, and its note is lost
        transaction.sweep(project.root, place.name)
        _roll_back(project, left)
        place = project.find(place.name, NAME)
    approval.warn(project, place)
    try:
        told = go_on(project, place, "archive", first=lambda work: transaction.prepare(work, prefer))
    except AgentdError:
        _cancel(project, place.name)
        raise
    if told.phase == "archived":
        unfinished.end(project.root)
    else:
        _cancel(project, place.name)
    return told


def undo(project: Project, change: str) -> Report:
    """Restore the library and a change as they were before it was archived."""
    transaction.refuse_brought(project.root)
    with holding(project.root):
        finished = (finish(project), *project.finished)
        place = project.find(change, NAME, over=True)
        if place.name in finished and place.folder.parent == project.root / ACTIVE:
            return look(project, place)
        return undoing.undo_archive(project, place)


def preview(project: Project, change: str) -> tuple[Result, list[str]]:
    """What archiving a change would do now, and its conflicts as lines of text."""
    place = project.find(change, NAME)
    _refuse_incomplete(project, place)
    work = work_on(project, place)
    result = spec_merge.merge_specs(work)
    return result, messages.shown(work, result)


def draft(project: Project, change: str) -> list[Path]:
    """Write or update the marked copy of each spec that has conflicts, or has had them; gives their paths."""
    place = project.find(change, NAME)
    _refuse_incomplete(project, place)
    with lock.acquire(place.folder, "archive"):
        work = work_on(project, place)
        conflicts = spec_merge.merge_specs(work).conflicts
        return [
            conflict_copies.write(place.folder, one)
            for one in spec_merge.sides(work)
            if one.name in conflicts or conflict_copies.exists(place.folder, one.name)
        ]


def still_open(project: Project, change: str) -> list[tuple[Path, int]]:
    """The marked copies that still have marks, each with the line of the first one."""
    place = project.find(change, NAME)
    marks = (
        (one.name, conflict_copies.first_mark(place.folder, one)) for one in spec_merge.sides(work_on(project, place))
    )
    return [(place.folder / conflict_copies.FOLDER / name, line) for name, line in marks if line]


def recover(project: Project) -> Project:
    """Finish or roll back what was interrupted, before a command that writes reads the project."""
    with holding(project.root):
        name = finish(project)
    return replace(project, finished=(*project.finished, name)) if name else project


def finish(project: Project) -> str:
    """Finish an interrupted archive or undo, or roll it back if its files were edited meanwhile.

    Gives the name of the change if the command is finished, else nothing. The caller holds the lock of the library.
    """
    root = project.root
    found = unfinished.read(root)
    if found is None or found.family != NAME:
        return ""
    transaction.sweep(root, found.run)
    folder = transaction.where(root, found.run)
    record = records.read(folder)
    what = f"the {found.command} of {found.run} was interrupted"
    if record is None and not folder.exists():
        project.say(f"⚠ {what} and its folder is gone; the library may have only some of its specs")
    if record is not None and not (folder / "STATE.yaml").exists():
        transaction.restore_state(folder, record)
    done = record is not None or found.command == "undo"  # an undo removes the record last
    if record is not None:
        try:
            _finish(project, found, record)
            project.say(f"⚠ {what}; it is finished now")
        except Meddled as error:
            done = False
            if found.command == "archive":
                _roll_back(project, record)
            else:
                undoing.roll_back(root, record)
            project.say(f"⚠ {what} and has been rolled back: {error.message}")
    unfinished.end(root)
    return found.run if done else ""


def _finish(project: Project, found: Unfinished, record: Record) -> None:
    if found.command == "undo":
        undoing.carry_out(project, record)
        return
    quiet = replace(project, say=lambda _: None, attended=False)
    told = go_on(quiet, Place(NAME, found.run, transaction.where(project.root, found.run)), "archive")
    if told.phase != "archived":
        what = f"its phase was set to {told.phase} meanwhile; set it again if you want that."
        raise Meddled(what, f"agentd status {found.run}")


def _cancel(project: Project, change: str) -> None:
    """Roll back an archive that failed; if that fails too, the next command finishes the archive."""
    root = project.root
    with suppress(AgentdError):
        if unfinished.read(root) == Unfinished(NAME, "archive", change):
            record = records.read(transaction.where(root, change))
            if record is not None:
                _roll_back(project, record)
            unfinished.end(root)


def _roll_back(project: Project, record: Record) -> None:
    with lock.acquire(transaction.where(project.root, record.change), "archive"):
        records.remove(transaction.revert(project, record, strict=False))


def _refuse_incomplete(project: Project, place: Place) -> None:
    phase, name = _phase(project, place), place.name
    if phase != "complete":
        fix = f"agentd status {name}" if phase in ("archived", "rejected") else f"agentd impl {name}"
        raise ChangeNotComplete(f"'{name}' is {phase}, not complete; nothing was moved.", fix)


def _phase(project: Project, place: Place) -> str:
    return state_guard.standing(project.workflow(NAME), project.store(place).load().run).phase
