"""The files that no agent may change: agentd's records of a run, its settings, and from the first task on the approved plan.

What an agent did to them is put back when its call ends, and told. Ticks on tasks stay where the code bears them out.
"""

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agentd.families.change import tasks as tasking
from agentd.model.change import Review, TaskStatus
from agentd.proof import record
from agentd.runs import checksums, state_guard
from agentd.state import durable

if TYPE_CHECKING:
    from agentd.runs.work import Work

RECORDS = ("baseline.json", "evidence.json", "REVIEW.md", "implementation.diff", "reviews/")
SETTINGS = ("config.toml", "prompts/", "workflows/")


_ASIDE = re.compile(r"\A\.|\.changed-\d+\Z")


@dataclass(frozen=True)
class Kept:
    """What a run had before an agent was called: the reviews of its plan, files by path, the status of each task."""

    reviews: tuple[Review, ...] = ()
    files: Mapping[Path, bytes] = field(default_factory=dict)
    tasks: Mapping[str, TaskStatus] = field(default_factory=dict)


def remember(work: "Work") -> Kept:
    """What the next call has to leave as it is."""
    if not work.is_change:
        return Kept()
    files = {path: path.read_bytes() for path in _guarded(work)}
    return Kept(state_guard.reviews(work), files, tasking.statuses(work) if record.base(work) else {})


def put_back(work: "Work", before: Kept, written: Sequence[str]) -> str:
    """Everything as it was, but for what the step itself writes. Why the call does not count: it touched plan or settings."""
    if not work.is_change:
        return ""
    places = [work.home / name for name in (*RECORDS, *checksums.PLAN) if _clear(work.home / name, name.endswith("/"))]
    spared = {work.home / name for name in (*written, *(["implementation.diff"] if "REVIEW.md" in written else []))}
    now = set(_guarded(work))
    changed = [path for path, data in before.files.items() if path not in spared and not _same(work, path, data, now)]
    aside = []
    for path in changed:
        aside += _copy_aside(work, path) if _is_shared(work, path) else []
        durable.make_folder(path.parent)
        durable.replace(path, before.files[path], "document")
    new = sorted(now - before.files.keys() - spared)
    for path in new:
        aside += _copy_aside(work, path) if _is_shared(work, path) else []
        durable.remove(path, "document")
    touched = sorted({*changed, *new, *places})
    kept = f" (what it was made is in {_named(work, aside)})" if aside else ""
    said = f"{_named(work, touched)} was changed while the agent worked and has been put back{kept}" if touched else ""
    if said:
        work.say(f"⚠ {said}")
    if before.tasks:
        record.hold_base(work)
        tasking.settle_ticks(work, before.tasks)
    return said if any(_is_shared(work, path) for path in touched) else ""


def _is_shared(work: "Work", path: Path) -> bool:
    """Whether a file may be a person's work: of plan and settings nobody can tell who changed them."""
    records = {work.home / name.removesuffix("/") for name in RECORDS}
    return not records & {path, *path.parents}


def _copy_aside(work: "Work", path: Path) -> list[Path]:
    """What a file was made, kept beside it; of a plan it is no part."""
    if not path.is_file():
        return []
    return [durable.copy_aside(path, work.home if path.is_relative_to(work.home) else None)]


def _named(work: "Work", paths: Sequence[Path]) -> str:
    return ", ".join(map(work.project.relative, paths))


def _guarded(work: "Work") -> Iterator[Path]:
    """Every file that is guarded and there. A plan that is being written is its writers'."""
    names = (*RECORDS, *checksums.PLAN) if record.base(work) else RECORDS
    for name in names:
        yield from (path for path in work.files(name) if not _ASIDE.search(path.name))
    if record.base(work):
        home = work.project.root / "agentd"
        for name in SETTINGS:
            found = (home / name).rglob("*") if name.endswith("/") else [home / name]
            yield from (path for path in sorted(found) if path.is_file() and not _ASIDE.search(path.name))


def _same(work: "Work", path: Path, data: bytes, now: set[Path]) -> bool:
    """Whether a file is what it was; of a plan only that counts which an approval is bound to."""
    if path not in now:
        return False
    there = path.read_bytes()
    if there == data:
        return True
    inner = path.relative_to(work.home).as_posix() if path.is_relative_to(work.home) else ""
    part: Callable[[bytes], bytes] | None = checksums.part(inner) if inner else None
    return part is not None and part(there) == part(data)


def _clear(path: Path, folder: bool) -> bool:
    """Take away what stands in the place of a file or of a folder and is none; whether anything did."""
    if folder and (path.is_symlink() or path.is_file()):
        path.unlink()
    elif not folder and path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        return False
    return True
