"""What an archive did, would do, or cannot do, in words and as data."""

import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from agentd.errors import AgentdError, MergeConflict
from agentd.families.change.archive import conflict_copies, merge, records
from agentd.families.change.archive.merge import Outlook
from agentd.families.change.archive.record import Touched
from agentd.library import snapshot
from agentd.model.merge import Conflict, Delta
from agentd.runs.work import Work

_CONTEXT = 10_000  # the whole part is shown, not only the lines around a difference


def deeds(specs: Mapping[str, Touched]) -> Iterator[str]:
    """What is done to each spec, a line each."""
    for name, one in specs.items():
        yield f"{snapshot.LIBRARY}/{name}: {in_words(one)}"


def in_words(one: Touched) -> str:
    if one.after == one.before:
        return "as the library has it already" if not one.settled else "stays as the library has it"
    if one.after is None:
        return "taken out of the library"
    words = list(_words(one.delta))
    if one.before is None:
        return "new" + (f", with {', '.join(one.delta.added)}" if one.delta.added else "")
    return "; ".join(words) or "other text changed"


def _words(delta: Delta) -> Iterator[str]:
    for verb, ids in (("added", delta.added), ("changed", delta.changed), ("removed", delta.removed)):
        if ids:
            yield f"{verb} {', '.join(ids)}"
    if delta.renamed:
        yield "renamed " + ", ".join(f"{old} to {new}" for old, new in delta.renamed)


def conflict(work: Work, outlook: Outlook) -> MergeConflict:
    """Why a change cannot be archived as it is, with both texts of everything it disagrees with the library about."""
    name = work.state.run.name
    found = [one for all_of_one in outlook.conflicts.values() for one in all_of_one]
    fix = f"agentd archive {name} --edit"
    if all(map(merge.can_settle, found)):
        fix += f"   # or --ours (the text of {name}), or --theirs (the library's)"
    for each, why in outlook.conflicts.items():
        copy = work.store.folder / conflict_copies.FOLDER / each
        if copy.is_file() and copy.stat().st_size and (each not in outlook.copies or merge.is_invalid(why[0])):
            fix = f"${{EDITOR:-vi}} {shlex.quote(str(copy))}   # settle it there, then: agentd archive {name}"
            break
    count = sum(map(len, outlook.conflicts.values()))
    what = "1 conflict" if count == 1 else f"{count} conflicts"
    return MergeConflict(
        f"'{name}' and the library disagree: {what}; nothing was archived.",
        fix,
        as_data(outlook),
        shown(work, outlook),
    )


def as_data(outlook: Outlook) -> list[dict[str, Any]]:
    return [{"spec": name, **asdict(one)} for name, found in outlook.conflicts.items() for one in found]


def shown(work: Work, outlook: Outlook) -> list[str]:
    """Every conflict as a person reads it."""
    return [line for part in _parts(work, outlook) for line in part]


def _parts(work: Work, outlook: Outlook) -> Iterator[list[str]]:
    last: dict[str, str] = {}
    with suppress(AgentdError):  # a record that cannot be read keeps nobody from the conflict
        last = {name: one.change for _, one in records.records(work.project.root) for name in one.specs}
    for name, found in outlook.conflicts.items():
        by = f" (last changed by {last[name]})" if name in last else ""
        theirs = f"theirs: {snapshot.LIBRARY}/{name}{by}"
        mine = conflict_copies.FOLDER if name in outlook.copies else "specs"
        ours = f"ours: {work.project.relative(work.store.folder)}/{mine}/{name}"
        for one in found:
            yield [
                "",
                f"{name.removesuffix('.md')}{f', {one.part}' if one.part else ''}: {one.why}",
                *diff(one, theirs, ours),
            ]


def diff(one: Conflict, theirs: str, ours: str) -> list[str]:
    """The library's text and the change's, each line of both."""
    from difflib import unified_diff

    old, new = ((text or "").replace("\r\n", "\n").split("\n") for text in (one.theirs, one.ours))
    gone = [f"({side} does not have it)" for side, text in (("theirs", one.theirs), ("ours", one.ours)) if text is None]
    return [*unified_diff(old, new, theirs, ours, lineterm="", n=_CONTEXT), *gone]
