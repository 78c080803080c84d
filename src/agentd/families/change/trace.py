"""`agentd trace`: what proves each requirement of a change, from its documents, its state and its files. Writes nothing."""

from collections.abc import Mapping
from pathlib import Path

from agentd.errors import AgentdError, Corrupt
from agentd.families.change import ARCHIVE, NAME
from agentd.families.change.documents import tasks
from agentd.families.change.specs import affected
from agentd.families.change.trace_model import Known, Trace, Traces
from agentd.families.change.trace_rows import rows, strays
from agentd.git import trees
from agentd.library import snapshot, spec
from agentd.library.shelf import Shelf
from agentd.model.change import Spec, Task
from agentd.model.evidence import Evidence
from agentd.proof import record
from agentd.proof.integrity.paths import is_test
from agentd.proof.task_done import undone
from agentd.runs.overview import Unreadable
from agentd.runs.project import Project
from agentd.runs.work import Work, work_on
from agentd.state import reading
from agentd.state.layout import Place

NAMED = 3
Now = dict[Path, str]  # the tree of each working folder, taken once


def trace(project: Project, name: str = "") -> Traces:
    """What proves the requirements of one change, or of every change of the project, archived ones too."""
    now: Now = {}
    if name:
        return Traces((_trace(project, project.find(name, only=NAME), now),))
    found, unreadable = [], []
    for place in project.places():
        if place.family == NAME:
            try:
                found.append(_trace(project, place, now))
            except AgentdError as error:
                unreadable.append(Unreadable(project.label(place), error))
    return Traces(tuple(found), tuple(unreadable))


def _trace(project: Project, place: Place, now: Now) -> Trace:
    work = work_on(project, place, peek=True)
    archived = project.relative(place.folder.parent) == ARCHIVE
    specs = _specs(work)
    known = _known(work, archived, specs, now)
    missing = tuple(one for one in affected(work) if one not in specs)
    return Trace(place.name, work.state.run.phase, archived, rows(known), missing, strays(known))


def _specs(work: Work) -> dict[str, Spec]:
    """The specs of a change: those its proposal names, in its order, then the others."""
    found = {}
    for page in reading.markdown(str(work.home), "specs"):
        value, findings = spec.read(page.text)
        if page.problem or value is None:
            why = page.problem or (findings[0].message if findings else "there is no spec here")
            source = work.project.relative(work.home / page.name)
            raise Corrupt(f"{source}:{page.line}: {why}.", f"agentd validate {work.state.run.name}")
        found[page.name.removeprefix("specs/").removesuffix(".md")] = value
    return {name: found[name] for name in dict.fromkeys((*affected(work), *found)) if name in found}


def _tasks(work: Work) -> tuple[Task, ...]:
    page = reading.page(str(work.home), "tasks.md")
    if page is None:
        return ()
    source = work.project.relative(work.home / page.name)
    if page.problem:
        raise Corrupt(f"{source}:{page.line}: {page.problem}.", f"agentd validate {work.state.run.name}")
    return tasks.parse(page.text, source).tasks


def _known(work: Work, archived: bool, specs: Mapping[str, Spec], now: Now) -> Known:
    listed = _tasks(work)
    seen, problem = record.evidence(work)
    tree = "" if archived else _tree(work, now)
    shown, texts = _files(work, listed, tree) if tree else _approved(work, listed)
    return Known(
        specs=specs,
        tasks=listed,
        fresh={name: _fresh(work, archived, name, value) for name, value in specs.items()},
        undone=shown,
        texts=texts,
        evidence=seen,
        problem=problem,
        stale=_stale(work, seen, tree),
        unreviewed=_unreviewed(work, tree),
        waivers={one.id: one.by or "a person" for one in record.record(work).waivers},
    )


def _fresh(work: Work, archived: bool, name: str, value: Spec) -> frozenset[str]:
    """The requirements that the change adds or rewords; for an archived one by its own snapshot of the library."""
    if archived:
        try:
            known = snapshot.read(work.home)
        except Corrupt:
            known = None
        if known is None or not known.knows(f"{name}.md"):
            return frozenset(entry.id for entry in value.requirements)
    return Shelf(str(work.project.root)).changed(work.project.relative(work.home), name, value)


def _tree(work: Work, now: Now) -> str:
    """The tree of the files as they are; empty if git does not know what the implementation began with."""
    if not record.base(work):
        return ""
    try:
        trees.hashes(work.cwd, record.base(work), ())
        if work.cwd not in now:
            now[work.cwd] = record.tree(work)
    except (AgentdError, OSError):
        return ""
    return now[work.cwd]


def _files(work: Work, listed: tuple[Task, ...], tree: str) -> tuple[dict[str, str], dict[str, str]]:
    """Why each task is not done, by its file, and the texts of the test files that changed."""
    begun = record.base(work)
    before, there = trees.hashes(work.cwd, begun), trees.hashes(work.cwd, tree)
    changed = trees.changes(work.cwd, begun, tree)
    texts = {one.path: one.new for one in changed if one.new is not None and is_test(one.path)}
    return {task.id: undone(task, before, there) for task in listed}, texts


def _approved(work: Work, listed: tuple[Task, ...]) -> tuple[dict[str, str], dict[str, str]]:
    """The same from the files that an approval names, for a change whose base is gone; the texts are those of today."""
    approved = record.record(work).approved
    paths = list(approved.files) if approved else []
    home = str(work.cwd if work.cwd.is_dir() else work.project.root)
    pages = ((path, reading.page(home, path)) for path in paths if is_test(path))
    texts = {path: page.text for path, page in pages if page is not None and not page.problem}
    return {task.id: "" for task in listed if task.path.removeprefix("./") in paths}, texts


def _stale(work: Work, seen: Evidence | None, tree: str) -> str:
    """Why the evidence is not about the files as they are, or nothing; nothing also if that cannot be told."""
    if seen is None or not tree or tree == seen.tree:
        return ""
    try:
        names = [one.path for one in trees.changes(work.cwd, seen.tree, tree)]
    except (AgentdError, OSError):
        return "The files are not those that the tests ran on."
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more} changed after the tests ran."


def _unreviewed(work: Work, tree: str) -> str:
    """Why no approval covers the files, or nothing."""
    kept = record.record(work)
    if kept.approved is None:
        verdict = kept.review.verdict if kept.review else ""
        return f"No review approved it: the last one says {verdict}." if verdict else "Nobody has reviewed it."
    if kept.approved.override:
        return f"{kept.approved.by} took it without an approval: {kept.approved.why}."
    return "The approval is of other files than there are now." if tree and kept.approved.tree != tree else ""
