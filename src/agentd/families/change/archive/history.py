"""Which change brought which requirement of a spec, read from the records in the archive. It writes nothing."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from agentd.errors import AgentdError, Corrupt, NotFound
from agentd.families.change.archive import record
from agentd.families.change.archive.listing import in_archive
from agentd.families.change.archive.stories import Event as Event
from agentd.families.change.archive.stories import History as History
from agentd.families.change.archive.stories import Step, told
from agentd.families.change.archive.stories import Story as Story
from agentd.library import snapshot, spec
from agentd.model.merge import Delta
from agentd.runs.overview import Unreadable
from agentd.runs.project import Project
from agentd.state import reading
from agentd.state.layout import Place


def history(project: Project, name: str) -> History:
    """The history of a spec, named by its path in the library, also of one that was removed from there."""
    name = name.removeprefix("./").removeprefix(f"{snapshot.LIBRARY}/").removesuffix(".md")
    file = f"{name}.md"
    unreadable: list[Unreadable] = []
    steps: list[Step] = []
    for place in in_archive(project):
        try:
            steps += _step(project, place, file)
        except AgentdError as error:
            unreadable.append(Unreadable(project.label(place), error))
    now = _text(project.root / snapshot.LIBRARY, file)
    if now is None and not steps:
        raise _unknown(project, name, unreadable)
    return replace(told(name, steps, now), unreadable=tuple(unreadable))


def _step(project: Project, place: Place, file: str) -> Iterator[Step]:
    """What a change in the archive did to the spec, if anything."""
    kept = record.read(place.folder)
    if kept is not None:
        touched = kept.specs.get(file)
        if touched is not None:
            yield Step(place.name, str(kept.at), touched.before, touched.after, touched.delta)
        return
    after = _text(place.folder, f"specs/{file}")
    if after is not None:
        state = project.store(place).peek()
        at, was = str(state.fields.get(project.store(place).codec.updated_key, "")), snapshot.read(place.folder)
        if was is None or not was.knows(file):
            yield Step(place.name, at, None, after, Delta(), known=False)
        else:
            yield Step(place.name, at, was.text(file), after, spec.delta(was.text(file), after))


def _text(home: Path, file: str) -> str | None:
    """A spec whatever its bytes; None if there is none, or none by that name could be in its home."""
    if not {"", ".", ".."}.isdisjoint(file.split("/")) or "\0" in file:
        return None
    page = reading.page(str(home), file)
    if page is not None and page.problem and not page.data:
        raise Corrupt(f"{home / file}: {page.problem}.", f"ls -l {home / file}")
    return None if page is None else page.raw


def _unknown(project: Project, name: str, unreadable: list[Unreadable]) -> NotFound:
    from difflib import get_close_matches

    names = {file for file, problem in reading.listing(str(project.root / snapshot.LIBRARY)) if not problem}
    for place in in_archive(project):
        try:
            kept = record.read(place.folder)
        except AgentdError:
            continue
        listed = reading.listing(str(place.folder), "specs")
        names.update(kept.specs if kept else (file.removeprefix("specs/") for file, problem in listed if not problem))
    if unreadable:
        what = f"There is no spec '{name}', as far as the archive can be read: {unreadable[0].error.message}"
        return NotFound(what, unreadable[0].error.fix)
    near = get_close_matches(name, sorted(file.removesuffix(".md") for file in names), 1)
    fix = f"agentd history {near[0]}" if near else "agentd list --archived"
    return NotFound(f"There is no spec '{name}' in the library, and no archived change had one.", fix)
