"""`agentd undo`: the library and the change as they were before an archive, as long as nothing later depends on it."""

import shlex
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from agentd.errors import AgentdError, NotReady, StillNeeded
from agentd.families.change import ACTIVE, ARCHIVE, NAME
from agentd.families.change.archive import pending, writes
from agentd.families.change.archive import record as records
from agentd.families.change.archive import records as archived
from agentd.families.change.archive.record import Record, Touched
from agentd.families.change.archive.spec_links import building
from agentd.library import snapshot
from agentd.proof import record as implementing
from agentd.runs.lifecycle import look
from agentd.runs.project import Project
from agentd.runs.report import Report
from agentd.runs.work import work_on
from agentd.state import journal, lock, reading
from agentd.state.journal import UNDONE
from agentd.state.layout import Place


def undo(project: Project, place: Place) -> Report:
    """Take an archived change out of the library again; the caller holds the library."""
    root, name = project.root, place.name
    record = _record(project, place)
    reasons = list(dependents(project, record))
    if reasons:
        words = "\n  ".join(reason for reason, _ in reasons)
        raise StillNeeded(
            f"'{name}' cannot be undone, because something later depends on it:\n  {words}", reasons[0][1]
        )
    writes.sweep(root, name)
    pending.decide(root, "undo", name)
    try:
        carry_out(project, record)
    except AgentdError:
        with suppress(AgentdError):
            if roll_back(root, record):
                pending.settle(root)
        raise
    pending.settle(root)
    for each in record.specs:
        project.say(f"{snapshot.LIBRARY}/{each}: as it was before {name}")
    back = Place(NAME, name, root / ACTIVE / name)
    return look(project, back)


def carry_out(project: Project, record: Record) -> None:
    """Specs, folder, state, and what others began with; every part may be repeated. The diary keeps what happened, and the
    record goes last."""
    root = project.root
    folder = writes.where(root, record.change)
    with ExitStack() as held:
        begun = list(_begun_with(root, record))
        for each in (folder, *begun):
            held.enter_context(lock.acquire(each, "undo"))
        writes.take_out(root, record, strict=folder.parent == root / ARCHIVE)
        folder = writes.move_to(folder, root / ACTIVE)
        writes.take_away_folders(root, record)
        tell_copy(project, writes.restore_state(folder, record))
        hold_base(project, folder)
        for each in begun:
            snapshot.follow(each, {name: (one.after, one.before) for name, one in record.specs.items()})
        if not _is_undone(folder):
            journal.append(folder, {"at": project.now(), "event": UNDONE, "by": project.who()})
        writes.forget(folder)


def roll_back(root: Path, record: Record) -> bool:
    """The undo was not to be: the library as the archive has it. Once the folder has moved there is no way back, and
    the next command finishes it."""
    moved = writes.where(root, record.change).parent != root / ARCHIVE
    if not moved:
        writes.bring_in(root, record, strict=False)
    return not moved


def dependents(project: Project, record: Record) -> Iterator[tuple[str, str]]:
    """What stands on an archive, each with the command that comes first."""
    root = project.root
    if (root / ACTIVE / record.change).exists() and (root / ARCHIVE / record.change).exists():
        taken = f"{ACTIVE}/{record.change}"
        yield f"{taken} is there again", f"mv {taken} {taken}-2"
    later = [(folder, one) for folder, one in archived.records(root) if one.at > record.at]
    active = [folder for folder in sorted((root / ACTIVE).glob("*/")) if folder.name != record.change]
    for name, touched in record.specs.items():
        shown = f"{snapshot.LIBRARY}/{name}"
        above = [folder.name for folder, one in later if name in one.specs]
        if above:
            yield f"{shown}: {', '.join(above)} was archived on top of it", f"agentd undo {above[-1]}"
        elif reading.raw(root / shown) not in (touched.after, touched.before):
            yield f"{shown} was changed by hand since", f"git diff -- {shown}"
        for folder in active:
            if _is_built_on_it(folder, name, touched):
                fix = f"agentd status {folder.name}   # when it is archived, undo it first, then this one"
                yield f"{shown}: the change {folder.name} began with it", fix
    gone = {name.removesuffix(".md") for name, touched in record.specs.items() if touched.before is None}
    archives = [folder for folder, _ in later]
    for folder in (*archives, *active) if gone else ():
        word = "undo" if folder in archives else "status"
        for name in sorted(building(folder)[1] & gone):
            yield f"{snapshot.LIBRARY}/{name}.md: {folder.name} builds on it", f"agentd {word} {folder.name}"


def _is_built_on_it(folder: Path, name: str, touched: Touched) -> bool:
    """Whether a change under way writes this spec, and began with what an archive made of it; one that was archived later
    and undone first is out of the way."""
    known = snapshot.read(folder) if touched.before != touched.after else None
    if known is None or not known.knows(name) or known.text(name) != touched.after or _is_undone(folder):
        return False
    return (folder / "specs" / name).exists() or name.removesuffix(".md") in building(folder)[0]


def _begun_with(root: Path, record: Record) -> Iterator[Path]:
    """The changes under way that began with what an archive made of a spec; none of them depends on it."""
    for folder in sorted((root / ACTIVE).glob("*/")):
        known = snapshot.read(folder) if folder.name != record.change else None
        if known and any(known.knows(name) and known.text(name) == one.after for name, one in record.specs.items()):
            yield folder


def _is_undone(folder: Path) -> bool:
    last = journal.tail(folder, 1)
    return bool(last) and last[0].get("event") == UNDONE


def _record(project: Project, place: Place) -> Record:
    record = records.read(place.folder)
    if place.folder.parent != project.root / ARCHIVE and (record is None or record.change != place.name):
        phase = project.store(place).load().run.phase
        raise NotReady(
            f"'{place.name}' is {phase}, not archived; there is nothing to undo.", f"agentd status {place.name}"
        )
    if record is not None and record.change != place.name:
        words = shlex.join(("mv", str(place.folder), str(place.folder.with_name(record.change))))
        raise NotReady(f"'{place.name}' was archived as '{record.change}', and is undone under that name.", words)
    if record is None:
        raise NotReady(
            f"'{place.name}' was archived without a record of what it changed, so it cannot be undone.",
            "git log -- agentd/specs   # and take it out by hand",
        )
    return record


def tell_copy(project: Project, copy: Path | None) -> None:
    if copy is not None:
        project.say(f"⚠ STATE.yaml is as it was; what was written there since is kept in {project.relative(copy)}")


def hold_base(project: Project, folder: Path) -> None:
    """Git keeps the files the implementation began with, as long as it still has them."""
    with suppress(AgentdError):
        quiet = replace(project, say=lambda _: None)
        work = work_on(quiet, Place(NAME, folder.name, folder))
        if implementing.base(work):
            implementing.hold_base(work)
