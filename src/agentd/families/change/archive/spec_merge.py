"""The merge of a change's specs with the library. It computes what an archive would write, and writes nothing."""

import os
import shlex
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from agentd.errors import AgentdError, Corrupt
from agentd.families.change.archive import conflict_copies
from agentd.families.change.archive.records import Touched
from agentd.families.change.documents import proposal
from agentd.families.change.specs import removed_in
from agentd.library import snapshot, spec
from agentd.model.merge import Conflict, Merged, Prefer, Sides
from agentd.model.rules import Rules
from agentd.patterns import regex
from agentd.runs.work import Work
from agentd.state import reading
from agentd.text import frontmatter
from agentd.values import dataclass

INVALID = "the merged spec would not be valid: "
MARGIN = 1024  # bytes for the date of the archive in the front matter
_LINE = regex(r"line \d+")


@dataclass(frozen=True)
class Result:
    """The specs that an archive would write, and the conflicts of those that it cannot write.

    `copies` names the specs whose settled copy is the side that conflicts with the library.
    """

    specs: Mapping[str, Touched]
    conflicts: Mapping[str, tuple[Conflict, ...]]
    copies: frozenset[str] = frozenset()


def merge_specs(work: Work, prefer: Prefer = "") -> Result:
    """Merge every spec of the change, with conflicts settled in favour of one side, or left open."""
    specs: dict[str, Touched] = {}
    conflicts: dict[str, tuple[Conflict, ...]] = {}
    copies: set[str] = set()
    rules, today = work.project.config.rules(), work.project.now()[:10]
    library = work.project.root / snapshot.LIBRARY
    for one in sides(work):
        copy = None if prefer == "theirs" else conflict_copies.settled(work.store.folder, one, prefer)
        merged = copy or spec.merge(one.base, one.ours, one.theirs, prefer)
        still = _unsettled(one, merged, bool(prefer), rules)
        if still:
            conflicts[one.name] = still
            copies |= {one.name} if copy else set()
        elif merged.text != one.theirs or one.ours != one.base:
            path = library / one.name
            _refuse_unsafe(path, library, merged.text)
            settled = "edit" if copy else prefer if merged.conflicts else ""
            after = one.theirs if merged.text == one.theirs else _dated(one.name, merged.text, today)
            specs[one.name] = Touched(one.theirs, after, spec.delta(one.theirs, merged.text), settled, _mode(path))
    return Result(specs, conflicts, frozenset(copies))


def losses(work: Work) -> Iterator[str]:
    """The requirements that the change removes from the library, by spec: an agent may have left one out by mistake."""
    for one in sides(work):
        gone = spec.delta(one.base, one.ours).removed if one.base is not None and one.ours is not None else ()
        if one.ours is None or gone:
            yield f"{one.name.removesuffix('.md')} ({', '.join(gone) or 'all of it'})"


def dependencies(folder: Path) -> tuple[frozenset[str], frozenset[str]]:
    """The specs that a change writes or removes, and the other specs that those depend on, as its proposal says."""
    page = reading.page(str(folder), "proposal.md")
    found = proposal.read(page.text)[0] if page else None
    listed = found.impact.affected_specs if found else ()
    written = frozenset(one.id for one in listed)
    return written, frozenset(name for one in listed for name in one.depends) - written


def sides(work: Work) -> Iterator[Sides]:
    """The three texts of every spec that the change writes or removes, sorted by name.

    The base of a spec that it removes without having known it is empty, so that the removal is a conflict.
    """
    folder, library = work.store.folder, work.project.root / snapshot.LIBRARY
    known = snapshot.read(folder)
    ours: dict[str, str | None] = {f"{name}.md": None for name in removed_in(folder)}
    for file, problem in reading.listing(str(folder), "specs"):
        page = reading.Page(file, problem=problem) if problem else reading.page(str(folder), file)
        if page is not None:
            ours[file.removeprefix("specs/")] = _text(folder, page, file)
    for name, text in sorted(ours.items()):
        found = reading.page(str(library), name)
        theirs = None if found is None else _text(library, found, name)
        base = known.text(name) if known else None
        ours_now = text if text is None else spec.inherited(text, base, theirs)
        base = base if base is None else spec.inherited(base, theirs)
        yield Sides(name, "" if text is None and base is None else base, ours_now, theirs)


def is_invalid(conflict: Conflict) -> bool:
    """Whether both sides agree, and the result breaks a rule."""
    return conflict.why.startswith(INVALID)


def can_settle(conflict: Conflict) -> bool:
    """Whether preferring one side settles the conflict."""
    return spec.can_settle(conflict) and not is_invalid(conflict)


def _text(home: Path, page: reading.Page, name: str) -> str:
    """The text of a spec, whatever its encoding."""
    problem = "" if page.name == name else "its name has characters that cannot be printed"
    if problem or (page.problem and not page.data):
        path = home / page.name
        raise AgentdError(
            f"{path}: {problem or page.problem}; nothing was archived.", f"ls -lb {shlex.quote(str(path.parent))}"
        )
    return page.raw


def _refuse_unsafe(path: Path, library: Path, text: str | None) -> None:
    """Refuse to write a spec that could not be restored or read again."""
    why = ""
    if text is None and path.is_symlink():
        why = "is a symbolic link, which an undo could not restore"
    elif not Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(library)):
        why = "is outside the library, because one of its folders is a symbolic link"
    elif text is not None and len(text.encode(errors="surrogateescape")) > reading.LARGEST - MARGIN:
        why = f"would have more than {reading.LARGEST - MARGIN} bytes, the most that agentd reads"
    if why:
        raise AgentdError(f"{path} {why}; nothing was archived.", f"ls -l {shlex.quote(str(path))}")


def _unsettled(one: Sides, merged: Merged, chosen: bool, rules: Rules) -> tuple[Conflict, ...]:
    """What keeps a spec from being written: open conflicts, and serious findings that the library does not have."""
    still = tuple(conflict for conflict in merged.conflicts if not (chosen and spec.can_settle(conflict)))
    if still or merged.text is None or merged.text == one.theirs:
        return still
    known = _serious(one.theirs, rules)
    new = [message for rule, message in _serious(merged.text, rules).items() if rule not in known]
    return (Conflict("", INVALID + "; ".join(new), one.base, one.ours, one.theirs),) if new else ()


def _serious(text: str | None, rules: Rules) -> dict[str, str]:
    """The serious findings about a spec, by rule and message without line numbers."""
    found = spec.read(text, rules)[1] if text is not None else ()
    serious = (finding for finding in found if finding.severity == "High")
    return {f"{one.rule} {_LINE.sub('', one.message)}": f"line {one.line}: {one.message}" for one in serious}


def _dated(name: str, text: str | None, today: str) -> str | None:
    """The spec with the date of its archive in the front matter, and no requirement a draft."""
    if text is None:
        return None
    try:
        return frontmatter.update(spec.implemented(text), {"archived_at": today})
    except Corrupt as error:
        raise AgentdError(f"{name}: {error.message} Nothing was archived.", "agentd validate") from None


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return 0
