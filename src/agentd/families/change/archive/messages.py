"""What an archive did, would do, or cannot do, as text and as data."""

import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from agentd.errors import AgentdError, MergeConflict
from agentd.families.change.archive import conflict_copies, records, spec_merge
from agentd.families.change.archive.records import Touched
from agentd.families.change.archive.spec_merge import Result
from agentd.library import snapshot
from agentd.model.merge import Conflict
from agentd.runs.work import Work

_CONTEXT = 10_000  # a diff shows the whole part


def effects(specs: Mapping[str, Touched]) -> Iterator[str]:
    """What an archive does to each spec, one line each."""
    for name, one in specs.items():
        yield f"{snapshot.LIBRARY}/{name}: {_effect(one)}"


def _effect(one: Touched) -> str:
    delta = one.delta
    if one.what == "same":
        return "keeps the library's text" if one.settled else "already in the library"
    if one.what == "removed":
        return "removed from the library"
    if one.what == "added":
        return "new" + (f", with {', '.join(delta.added)}" if delta.added else "")
    renamed = [f"{old} to {new}" for old, new in delta.renamed]
    verbs = {"added": delta.added, "changed": delta.changed, "removed": delta.removed, "renamed": renamed}
    return "; ".join(f"{verb} {', '.join(ids)}" for verb, ids in verbs.items() if ids) or "other text changed"


def conflict_error(work: Work, result: Result) -> MergeConflict:
    """Why a change cannot be archived, with both texts of every conflict."""
    name = work.state.run.name
    found = [one for conflicts in result.conflicts.values() for one in conflicts]
    fix = f"agentd archive {name} --edit"
    if all(map(spec_merge.can_settle, found)):
        fix += f"   # or --ours (the text of {name}), or --theirs (the library's)"
    for each, conflicts in result.conflicts.items():
        copy = work.store.folder / conflict_copies.FOLDER / each
        if (
            copy.is_file()
            and copy.stat().st_size
            and (each not in result.copies or spec_merge.is_invalid(conflicts[0]))
        ):
            fix = f"${{EDITOR:-vi}} {shlex.quote(str(copy))}   # settle it there, then: agentd archive {name}"
            break
    what = "1 conflict" if len(found) == 1 else f"{len(found)} conflicts"
    text = f"'{name}' and the library disagree: {what}; nothing was archived."
    return MergeConflict(text, fix, as_data(result), shown(work, result))


def as_data(result: Result) -> list[dict[str, Any]]:
    return [{"spec": name, **asdict(one)} for name, found in result.conflicts.items() for one in found]


def shown(work: Work, result: Result) -> list[str]:
    """Every conflict, as a diff of the library's text and the change's."""
    last: dict[str, str] = {}
    with suppress(AgentdError):  # the conflict is shown also if a record cannot be read
        last = {name: one.change for _, one in records.by_time(work.project) for name in one.specs}
    lines: list[str] = []
    for name, found in result.conflicts.items():
        by = f" (last changed by {last[name]})" if name in last else ""
        folder = conflict_copies.FOLDER if name in result.copies else "specs"
        ours = f"ours: {work.project.relative(work.store.folder)}/{folder}/{name}"
        for one in found:
            part = f", {one.part}" if one.part else ""
            lines += ("", f"{name.removesuffix('.md')}{part}: {one.why}")
            lines += _diff(one, f"theirs: {snapshot.LIBRARY}/{name}{by}", ours)
    return lines


def _diff(one: Conflict, theirs: str, ours: str) -> list[str]:
    from difflib import unified_diff  # most archives have no conflict

    old, new = ((text or "").replace("\r\n", "\n").split("\n") for text in (one.theirs, one.ours))
    gone = [f"({side} does not have it)" for side, text in (("theirs", one.theirs), ("ours", one.ours)) if text is None]
    return [*unified_diff(old, new, theirs, ours, lineterm="", n=_CONTEXT), *gone]
