"""An archive or an undo writes everything or nothing, even if the process is killed in between.

A note says which command is in progress, so that the next command finishes it. A file that was edited meanwhile is never
overwritten; the other files are then restored.
"""

import os
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from agentd.errors import AgentdError, DiskTrouble, Meddled, Refused
from agentd.families.change import ACTIVE, ARCHIVE, LAYOUT, NAME, NO_REVIEW
from agentd.families.change.archive import conflict_copies, messages, records
from agentd.families.change.archive.records import Command, Record, Touched
from agentd.families.change.archive.spec_merge import merge_specs
from agentd.library import snapshot
from agentd.model.merge import Prefer
from agentd.model.run import Outcome
from agentd.patterns import regex
from agentd.proof import record as proof
from agentd.runs import uncommitted, unfinished
from agentd.runs.project import Project
from agentd.runs.unfinished import Unfinished
from agentd.runs.work import Work, work_on
from agentd.state import durable, reading
from agentd.state.layout import Place

BROUGHT = "agentd/.archiving.json"
_OWN_WORDS = regex(r"(?:^|\s)#.*|^[\w.-]+:", re.MULTILINE)


def begin(root: Path, command: Command, change: str) -> None:
    """Note the command in progress. Once the change has a record, this process or the next one that writes finishes it."""
    unfinished.begin(root, Unfinished(NAME, command, change))


def refuse_brought(root: Path) -> None:
    """Refuse the note of an earlier release, which a repository can bring: nobody can tell who made it."""
    path = root / BROUGHT
    if os.path.lexists(path):
        what = f"{path} names an archive in progress, but it is part of the project and may be anybody's; it is not followed."
        raise Refused(what, f"rm {shlex.quote(str(path))}   # then run the same command again")


def prepare(work: Work, prefer: Prefer = "") -> None:
    """Merge the specs and record what the archive will do; a conflict is an error, and nothing is written."""
    root, folder, name = work.project.root, work.store.folder, work.state.run.name
    result = merge_specs(work, prefer)
    if result.conflicts:
        raise messages.conflict_error(work, result)
    for spec, touched in result.specs.items():
        if touched.settled != "edit" and conflict_copies.exists(folder, spec):
            path = f"{work.project.relative(folder)}/{conflict_copies.FOLDER}/{spec}"
            work.say(f"⚠ {path} was ignored; nothing in it is archived")
    state = reading.raw(work.store.path) or ""
    folders = _missing_folders(root, result.specs)
    begin(root, "archive", name)
    approved = proof.record(work).approved
    unreviewed = approved.by if approved and approved.override == NO_REVIEW else ""
    at, by = work.project.now(), work.project.who()
    records.write(folder, Record(name, at, by, result.specs, state, folders, unreviewed))


def merge(work: Work) -> Outcome:
    """Write the specs into the library and move the change's folder, as recorded; may be repeated."""
    root, folder, name = work.project.root, work.store.folder, work.state.run.name
    record = records.read(folder)
    if record is None or unfinished.read(root) != Unfinished(NAME, "archive", name):
        raise AgentdError(f"Only the archive command merges '{name}' into the library.", f"agentd archive {name}")
    write_specs(root, record, "archive", strict=folder.parent != root / ARCHIVE)
    for line in messages.effects(record.specs):
        work.say(line)
    proof.let_go(work)
    uncommitted.mark(root, name)
    work.store.move(_move(folder, root / ARCHIVE))
    settled = [f"conflicts in {name} settled: {one.settled}" for name, one in record.specs.items() if one.settled]
    return Outcome("done", "; ".join((f"moved to {work.project.relative(work.store.folder)}", *settled)))


def write_specs(root: Path, record: Record, command: Command, strict: bool = True) -> None:
    """Give each spec the text it has after the command; may be repeated.

    A spec with neither the old nor the new text was edited meanwhile and stays as it is; if `strict`, that is an error.
    All specs are checked before the first is written, and each again just before its own write.
    """

    def is_due(name: str) -> bool:
        path, (old, new) = root / snapshot.LIBRARY / name, record.specs[name].texts(command)
        now = reading.raw(path)
        if strict and now not in (old, new):
            done = "archived" if command == "archive" else "undone"
            what = f"{path} was changed meanwhile; it is left as it is, and nothing was {done}."
            raise Meddled(what, f"agentd {command} {record.change}")
        return now == old != new

    for name in list(filter(is_due, record.specs)):
        if is_due(name):
            one = record.specs[name]
            _write(root / snapshot.LIBRARY / name, one.texts(command)[1], one.mode)


def _write(path: Path, text: str | None, mode: int) -> None:
    if text is None:
        durable.remove(path, "spec")
        return
    durable.make_folder(path.parent)
    durable.replace(path, text.encode(errors="surrogateescape"), "spec", mode or None)


def revert(project: Project, record: Record, strict: bool) -> Path:
    """Restore the specs, the change's folder and its state file as they were before the archive; gives the folder.

    It may be repeated as long as there is a record, which the caller removes last.
    """
    root = project.root
    write_specs(root, record, "undo", strict)
    folder = _move(where(root, record.change), root / ACTIVE)
    for name in sorted(record.folders, key=len, reverse=True):
        with suppress(OSError, DiskTrouble):  # other files are in it
            durable.refuse_links(root / name, "removed")
            os.rmdir(root / name)
    copy = restore_state(folder, record)
    if copy is not None:
        project.say(f"⚠ STATE.yaml was restored; what was written there since is kept in {project.relative(copy)}")
    _hold_base(project, folder)
    return folder


def restore_state(folder: Path, record: Record) -> Path | None:
    """Restore the state file from the record; if a person has edited it since, keep a copy and give its path."""
    path, now = folder / "STATE.yaml", reading.raw(folder / "STATE.yaml")
    copy = durable.copy_aside(path) if now and _own_words(now) - _own_words(record.state) else None
    if now != record.state:
        durable.replace(path, record.state.encode(errors="surrogateescape"), "state")
    return copy


def _own_words(text: str) -> set[str]:
    """What only a person adds to a state file: comments and other keys."""
    return {found.strip() for found in _OWN_WORDS.findall(text)}


def _hold_base(project: Project, folder: Path) -> None:
    """Keep the files that the implementation began with in git again, if git still has them."""
    with suppress(AgentdError):
        work = work_on(replace(project, say=lambda _: None), Place(NAME, folder.name, folder))
        if proof.base(work):
            proof.hold_base(work)


def where(root: Path, change: str) -> Path:
    """The folder of a change, active or archived; if both exist, the one with a record."""
    folders = (root / home / change for home in (ACTIVE, ARCHIVE))
    found = next((folder for folder in folders if (folder / records.NAME).exists()), None)
    return found or LAYOUT.place(root, change).folder


def sweep(root: Path, change: str) -> None:
    """Remove the temporary files of a killed process."""
    for folder in (where(root, change), root / snapshot.LIBRARY):
        durable.sweep(folder)


def refuse_existing(target: Path) -> None:
    if os.path.lexists(target):
        fix = shlex.join(("mv", str(target), f"{target}-old"))
        raise AgentdError(f"{target} already exists; nothing was moved.", fix)


def _missing_folders(root: Path, specs: Mapping[str, Touched]) -> tuple[str, ...]:
    """The folders that the archive has to create, relative to the root."""
    written = (root / snapshot.LIBRARY / name for name, one in specs.items() if one.after is not None)
    wanted = {root / ARCHIVE, *(path.parent for path in written)}
    missing = {folder for path in wanted for folder in (path, *path.parents) if not folder.is_dir()}
    return tuple(sorted(folder.relative_to(root).as_posix() for folder in missing))


def _move(folder: Path, home: Path) -> Path:
    """Move a change's folder to the other home, unless it is there already; gives the new path."""
    target = home / folder.name
    if folder != target:
        refuse_existing(target)
        durable.make_folder(home)
        durable.move(folder, target, "move")
    return target
