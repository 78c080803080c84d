"""`agentd undo`: restore the library and the change as they were before an archive, unless something depends on it."""

import shlex
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from agentd.errors import AgentdError, NotReady, StillNeeded
from agentd.families.change import ACTIVE, ARCHIVE, NAME
from agentd.families.change.archive import records, transaction
from agentd.families.change.archive.records import Record
from agentd.families.change.archive.spec_merge import dependencies
from agentd.library import snapshot
from agentd.runs import unfinished
from agentd.runs.lifecycle import look
from agentd.runs.project import Project
from agentd.runs.report import Report
from agentd.state import journal, lock, reading
from agentd.state.journal import UNDONE
from agentd.state.layout import Place


def undo_archive(project: Project, place: Place) -> Report:
    """Undo the archive of a change; the caller holds the lock of the library."""
    root, name = project.root, place.name
    record = _record(project, place)
    reasons = list(dependents(project, record))
    if reasons:
        words = "\n  ".join(reason for reason, _ in reasons)
        what = f"'{name}' cannot be undone, because something later depends on it:\n  {words}"
        raise StillNeeded(what, reasons[0][1])
    transaction.sweep(root, name)
    transaction.begin(root, "undo", name)
    try:
        carry_out(project, record)
    except AgentdError:
        with suppress(AgentdError):
            if roll_back(root, record):
                unfinished.end(root)
        raise
    unfinished.end(root)
    for each in record.specs:
        project.say(f"{snapshot.LIBRARY}/{each}: as it was before {name}")
    return look(project, Place(NAME, name, root / ACTIVE / name))


def carry_out(project: Project, record: Record) -> None:
    """Revert the archive, also in the snapshots of other changes, and note it in the journal; may be repeated."""
    root = project.root
    folder = transaction.where(root, record.change)
    based = [other for other in _other_changes(root, record) if _based_on(other, record)]
    with ExitStack() as held:
        for each in (folder, *based):
            held.enter_context(lock.acquire(each, "undo"))
        folder = transaction.revert(project, record, strict=folder.parent == root / ARCHIVE)
        for each in based:
            snapshot.follow(each, {name: (one.after, one.before) for name, one in record.specs.items()})
        if not _is_undone(folder):
            journal.append(folder, {"at": project.now(), "event": UNDONE, "by": project.who()})
        records.remove(folder)


def roll_back(root: Path, record: Record) -> bool:
    """Give the library the archived specs again. False if the folder has moved: then only finishing the undo is left."""
    if transaction.where(root, record.change).parent != root / ARCHIVE:
        return False
    transaction.write_specs(root, record, "archive", strict=False)
    return True


def dependents(project: Project, record: Record) -> Iterator[tuple[str, str]]:
    """What depends on an archive, each with the command to run first."""
    root = project.root
    if (root / ACTIVE / record.change).exists() and (root / ARCHIVE / record.change).exists():
        taken = f"{ACTIVE}/{record.change}"
        yield f"{taken} exists again", f"mv {taken} {taken}-2"
    later = [(folder, one) for folder, one in records.by_time(project) if one.at > record.at]
    active = {folder: _based_on(folder, record) for folder in _other_changes(root, record)}
    for name, touched in record.specs.items():
        shown = f"{snapshot.LIBRARY}/{name}"
        above = [folder.name for folder, one in later if name in one.specs]
        if above:
            were = "was" if len(above) == 1 else "were"
            yield f"{shown}: {', '.join(above)} {were} archived on top of it", f"agentd undo {above[-1]}"
        elif reading.raw(root / shown) not in (touched.after, touched.before):
            yield f"{shown} was changed by hand since", f"git diff -- {shown}"
        for folder, based in active.items():
            if touched.what != "same" and name in based and not _is_undone(folder) and _touches(folder, name):
                fix = f"agentd status {folder.name}   # when it is archived, undo it first, then this one"
                yield f"{shown}: the change {folder.name} is based on it", fix
    gone = {name.removesuffix(".md") for name, touched in record.specs.items() if touched.before is None}
    archives = [folder for folder, _ in later]
    for folder in (*archives, *active) if gone else ():
        command = "undo" if folder in archives else "status"
        for name in sorted(dependencies(folder)[1] & gone):
            yield f"{snapshot.LIBRARY}/{name}.md: {folder.name} depends on it", f"agentd {command} {folder.name}"


def _other_changes(root: Path, record: Record) -> list[Path]:
    """The folders of the other active changes."""
    return [folder for folder in sorted((root / ACTIVE).glob("*/")) if folder.name != record.change]


def _based_on(folder: Path, record: Record) -> set[str]:
    """The specs that a change began with in the version that an archive wrote."""
    base = snapshot.read(folder) or snapshot.Base()
    return {name for name, one in record.specs.items() if base.knows(name) and base.text(name) == one.after}


def _touches(folder: Path, name: str) -> bool:
    """Whether a change writes or removes a spec."""
    return (folder / "specs" / name).exists() or name.removesuffix(".md") in dependencies(folder)[0]


def _is_undone(folder: Path) -> bool:
    last = journal.tail(folder, 1)
    return bool(last) and last[0].get("event") == UNDONE


def _record(project: Project, place: Place) -> Record:
    record = records.read(place.folder)
    name, own = place.name, record is not None and record.change == place.name
    if not own and place.folder.parent != project.root / ARCHIVE:
        phase = project.store(place).load().run.phase
        raise NotReady(f"'{name}' is {phase}, not archived; there is nothing to undo.", f"agentd status {name}")
    if record is None:
        what = f"'{name}' was archived without a record of what it changed, so it cannot be undone."
        raise NotReady(what, "git log -- agentd/specs   # and revert it by hand")
    if not own:
        fix = shlex.join(("mv", str(place.folder), str(place.folder.with_name(record.change))))
        raise NotReady(f"'{name}' was archived as '{record.change}' and can only be undone under that name.", fix)
    return record
