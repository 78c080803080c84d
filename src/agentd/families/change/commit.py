"""`agentd commit`: exactly the files of a change in a commit, once they are as they were approved."""

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from agentd.errors import AgentdError, ChangeNotComplete, Refused
from agentd.families.change import ACTIVE, ARCHIVE, LAYOUT, NAME
from agentd.families.change.archive import records
from agentd.families.change.commit_message import TRAILER, message
from agentd.git import committing, repository, trees
from agentd.git.committing import Committed
from agentd.library.snapshot import LIBRARY
from agentd.proof import record
from agentd.runs import gitignore, uncommitted
from agentd.runs.project import Project
from agentd.runs.work import Work, work_on
from agentd.state import lock, reading

ENDED = ("complete", "archived")


def commit(project: Project, name: str) -> list[Committed]:
    """Commit what a change changed and its documents, each where it is; again, it gives the commit there is.

    The code of a change with a worktree of its own is committed there, its documents in the project's own checkout.
    """
    place = project.find(name, NAME)
    with lock.acquire(place.folder, "commit"):
        work = work_on(project, place)
        phase = work.state.run.phase
        if phase not in ENDED:
            raise ChangeNotComplete(
                f"'{place.name}' is {phase}, not complete; nothing was committed.", f"agentd status {place.name}"
            )
        code, documents = _code(work), tuple(_documents(work))
        if work.cwd == project.root:
            made = [_commit(work, project.root, code, documents)]
        else:
            made = [_commit(work, work.cwd, code, ())] if work.cwd.is_dir() else []
            made += [_commit(work, project.root, (), documents)]
        uncommitted.unmark(project.root, place.name)
    return made


def _commit(work: Work, folder: Path, code: tuple[str, ...], documents: tuple[str, ...]) -> Committed:
    committing.refuse_unsettled(folder)
    approved = record.record(work).approved
    before = committing.find(folder, TRAILER.format(work.state.run.name), approved.at if approved else "")
    changed = committing.uncommitted(folder, code)
    hidden: tuple[str, ...] = ()
    if changed or (code and not before):
        _refuse_edited(work)
        hidden = _hidden(work, folder, set(code).difference(changed))
    pages = committing.uncommitted(folder, _unedited(work, documents))
    files = (*changed, *(path for path in pages if not path.endswith(tuple(f"/{name}" for name in LAYOUT.made_anew))))
    branch = repository.current_branch(folder)
    if not files:
        return Committed(folder, before or repository.head(folder), branch=branch, less=hidden)
    _tell_mixed(work, folder, changed)
    text = message(work, archives=not changed and bool(before))
    undo = "reset --soft HEAD~1" if repository.is_repository(folder) else "update-ref -d HEAD"
    made = committing.commit(folder, files, text)
    found, meant = committing.files(folder, made), {*files, *hidden}
    more, less = (tuple(sorted(one)) for one in (set(found) - meant, meant.difference(found)))
    return Committed(folder, made, found, branch, text.splitlines()[0], more, less, undo)


def _code(work: Work) -> tuple[str, ...]:
    """The files that the record says were changed, deleted ones too."""
    approved = record.record(work).approved
    if approved is None:
        name = work.state.run.name
        raise Refused(
            f"No approval says which files '{name}' changed; nothing was committed.", f"agentd impl {name} --re-review"
        )
    return tuple(approved.files)


def _refuse_edited(work: Work) -> None:
    """Refuse files that are not as they were approved."""
    approved = record.record(work).approved
    assert approved is not None
    now = trees.hashes(work.cwd, record.tree(work), approved.files)
    edited = [path for path, known in approved.files.items() if now.get(path, "") != known]
    if edited:
        name = work.state.run.name
        undone = f"agentd undo {name} && " if work.state.run.phase == "archived" else ""
        what = f"{', '.join(map(reading.printable, edited[:5]))} changed after '{name}' was approved; nothing was committed."
        raise Refused(what, f"{undone}agentd impl {name} --re-review   # or commit it by hand")


def _hidden(work: Work, folder: Path, paths: Collection[str]) -> tuple[str, ...]:
    """Those of the files that are as approved, but not in HEAD, and that git does not list: marked assume-unchanged, say."""
    approved = record.record(work).approved
    if approved is None or not paths:
        return ()
    tree = repository.blob(folder, "")
    now = trees.hashes(folder, tree, paths) if tree else {}
    return tuple(sorted(path for path in paths if now.get(path, "") != approved.files[path]))


def _tell_mixed(work: Work, folder: Path, changed: tuple[str, ...]) -> None:
    """Say which files had changes when the implementation began that were not committed: git commits whole files."""
    with suppress(AgentdError):  # git may have let the base go by now
        base = trees.hashes(folder, record.base(work), changed) if changed else {}
        mixed = [path for path, known in base.items() if known != repository.blob(folder, path)]
        if mixed:
            names = ", ".join(map(reading.printable, mixed[:5]))
            work.say(
                f"⚠ {names} had changes that were not committed when the implementation began; they are in the commit, too"
            )


def _documents(work: Work) -> Iterator[str]:
    """The folder of the change, where it is and where it was, the specs that its archive wrote, and agentd's .gitignore."""
    name, root = work.state.run.name, work.project.root
    yield from (f"{home}/{name}" for home in (ACTIVE, ARCHIVE))
    archived = records.read(work.store.folder)
    yield from (f"{LIBRARY}/{spec}" for spec, one in (archived.specs if archived else {}).items() if one.what != "same")
    if reading.raw(root / gitignore.FILE) == gitignore.text(work.project.layouts):
        yield gitignore.FILE


def _unedited(work: Work, documents: tuple[str, ...]) -> Iterator[str]:
    """The documents but for the specs that a later archive, or a person, has changed since: those are not this change's."""
    archived = records.read(work.store.folder)
    texts = {f"{LIBRARY}/{spec}": one.after for spec, one in archived.specs.items()} if archived else {}
    for path in documents:
        if path in texts and reading.raw(work.project.root / path) != texts[path]:
            work.say(f"⚠ {reading.printable(path)} changed after it was archived; it is not part of the commit")
        else:
            yield path
