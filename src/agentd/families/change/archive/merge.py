"""What an archive would do: the three sides of every spec of a change, and what comes of them. It writes nothing."""

import os
import re
import shlex
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agentd.errors import AgentdError, Corrupt
from agentd.families.change.archive import conflict_copies
from agentd.families.change.archive.record import Touched
from agentd.library import snapshot, spec
from agentd.model.merge import Conflict, Merged, Prefer, Sides
from agentd.model.rules import Rules
from agentd.runs.work import Work
from agentd.state import reading
from agentd.text import frontmatter

INVALID = "together it would not be valid: "
MARGIN = 1024  # for the day of the archive at its head
_LINE = re.compile(r"line \d+")


@dataclass(frozen=True)
class Outlook:
    """The specs that would be written, and those that cannot be without a person, with what they disagree about; of
    `copies` the copy that a person settled is what disagrees with the library now."""

    specs: Mapping[str, Touched]
    conflicts: Mapping[str, tuple[Conflict, ...]]
    copies: frozenset[str] = frozenset()


def look(work: Work, prefer: Prefer = "") -> Outlook:
    """What archiving the change would come to, with the conflicts settled for one side or left open."""
    specs: dict[str, Touched] = {}
    conflicts: dict[str, tuple[Conflict, ...]] = {}
    copies: set[str] = set()
    rules, today = work.project.config.rules(), work.project.now()[:10]
    for one in sides(work):
        drafted = None if prefer == "theirs" else conflict_copies.settled(work.store.folder, one, prefer)
        merged = drafted or spec.merge(one.base, one.ours, one.theirs, prefer)
        still = _unsettled(one, merged, bool(prefer), rules)
        if still:
            conflicts[one.name] = still
            copies |= {one.name} if drafted else set()
        elif merged.text != one.theirs or one.ours != one.base:
            path = library(work) / one.name
            _refuse_odd(path, library(work), merged.text)
            settled = "edit" if drafted else prefer if merged.conflicts else ""
            after = one.theirs if merged.text == one.theirs else _dated(one.name, merged.text, today)
            specs[one.name] = Touched(one.theirs, after, spec.delta(one.theirs, merged.text), settled, _mode(path))
    return Outlook(specs, conflicts, frozenset(copies))


def losses(work: Work) -> Iterator[str]:
    """What the change takes out of the library, a spec each: an agent that forgets a requirement takes it out, too."""
    for one in sides(work):
        gone = spec.delta(one.base, one.ours).removed if one.base is not None and one.ours is not None else ()
        if one.ours is None or gone:
            yield f"{one.name.removesuffix('.md')} ({', '.join(gone) or 'all of it'})"


def library(work: Work) -> Path:
    return work.project.root / snapshot.LIBRARY


def sides(work: Work) -> Iterator[Sides]:
    """Every spec the change writes or removes, in order.

    One that it removes without having known it counts as empty then: that it goes after all is for a person to say.
    """
    folder, known = work.store.folder, snapshot.read(work.store.folder)
    ours: dict[str, str | None] = {f"{name}.md": None for name in _removed(work)}
    for file, problem in reading.listing(str(folder), "specs"):
        page = reading.Page(file, problem=problem) if problem else reading.page(str(folder), file)
        if page is not None:
            ours[file.removeprefix("specs/")] = _text(folder, page, file)
    for name, text in sorted(ours.items()):
        found = reading.page(str(library(work)), name)
        theirs = None if found is None else _text(library(work), found, name)
        was = known.text(name) if known and known.knows(name) else None
        yield Sides(name, "" if text is None and was is None else was, text, theirs)


def _removed(work: Work) -> tuple[str, ...]:
    """The specs that the proposal has removed; it is read closely only if it may name one."""
    page = reading.page(str(work.store.folder), "proposal.md")
    if page is None or b"removed" not in page.data.lower():
        return ()
    from agentd.families.change import specs as specifying

    return specifying.removed(work)


def _text(home: Path, page: reading.Page, name: str) -> str:
    """A spec as it is, whatever its bytes."""
    problem = "" if page.name == name else "its name has characters that cannot be printed"
    if problem or (page.problem and not page.data):
        path = home / page.name
        raise AgentdError(f"{path}: {problem or page.problem}; nothing was archived.", f"ls -lb {path.parent}")
    return page.raw


def _refuse_odd(path: Path, home: Path, text: str | None) -> None:
    """A spec that could not be undone, or read again, is not written."""
    why = ""
    if text is None and path.is_symlink():
        why = "is a link, which an undo could not bring back"
    elif not Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(home)):
        why = "lies elsewhere: a folder on the way to it is a link"
    elif text is not None and len(text.encode(errors="surrogateescape")) > reading.LARGEST - MARGIN:
        why = f"would have more than {reading.LARGEST - MARGIN} bytes, the most that agentd reads"
    if why:
        raise AgentdError(f"{path} {why}; nothing was archived.", f"ls -l {shlex.quote(str(path))}")


def _unsettled(one: Sides, merged: Merged, chosen: bool, rules: Rules) -> tuple[Conflict, ...]:
    """What keeps a spec from being written: open conflicts, and what is wrong with it that is not wrong in the library."""
    still = tuple(conflict for conflict in merged.conflicts if not (chosen and spec.can_settle(conflict)))
    if still or merged.text is None or merged.text == one.theirs:
        return still
    known = _serious(one.theirs, rules)
    new = [message for rule, message in _serious(merged.text, rules).items() if rule not in known]
    return (Conflict("", INVALID + "; ".join(new), one.base, one.ours, one.theirs),) if new else ()


def is_invalid(conflict: Conflict) -> bool:
    """Whether the two sides agree, and what they come to is wrong."""
    return conflict.why.startswith(INVALID)


def can_settle(conflict: Conflict) -> bool:
    """Whether a side can be preferred."""
    return spec.can_settle(conflict) and not is_invalid(conflict)


def _serious(text: str | None, rules: Rules) -> dict[str, str]:
    """What is wrong with a spec, by rule and words without the lines they name."""
    found = spec.read(text, rules)[1] if text is not None else ()
    serious = (finding for finding in found if finding.severity == "High")
    return {f"{one.rule} {_LINE.sub('', one.message)}": f"line {one.line}: {one.message}" for one in serious}


def _dated(name: str, text: str | None, today: str) -> str | None:
    """The spec with the day of its archive at its head."""
    if text is None:
        return None
    try:
        return frontmatter.update(text, {"archived_at": today})
    except Corrupt as error:
        raise AgentdError(f"{name}: {error.message} Nothing was archived.", "agentd validate") from None


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return 0
