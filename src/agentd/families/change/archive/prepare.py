"""The two halves of an archive: what is decided before anything is touched, and what the table's `archive` then does."""

from agentd.errors import AgentdError
from agentd.families.change import ARCHIVE
from agentd.families.change.archive import conflict_copies, pending, wording, writes
from agentd.families.change.archive import record as records
from agentd.families.change.archive.merge import look
from agentd.families.change.archive.pending import Pending
from agentd.families.change.archive.record import Record
from agentd.model.merge import Prefer
from agentd.model.run import Outcome
from agentd.proof import record as implementing
from agentd.runs.work import Work
from agentd.state import reading


def prepare(work: Work, prefer: Prefer = "") -> None:
    """Merge every spec and write down what will be done; a conflict is refused before anything is written."""
    root, folder, name = work.project.root, work.store.folder, work.state.run.name
    outlook = look(work, prefer)
    if outlook.conflicts:
        raise wording.conflict(work, outlook)
    for spec, touched in outlook.specs.items():
        if touched.settled != "edit" and conflict_copies.is_there(folder, spec):
            work.say(
                f"⚠ {work.project.relative(folder)}/{conflict_copies.FOLDER}/{spec} was not settled, and none of it is archived"
            )
    state = reading.raw(work.store.path) or ""
    folders = writes.folders_to_make(root, outlook.specs)
    pending.decide(root, "archive", name)
    records.write(folder, Record(name, work.project.now(), work.project.who(), outlook.specs, state, folders))


def merge(work: Work) -> Outcome:
    """Bring the specs into the library and move the folder, as it was decided; every part may be repeated."""
    root, folder, name = work.project.root, work.store.folder, work.state.run.name
    record = records.read(folder)
    if record is None or pending.read(root) != Pending("archive", name):
        raise AgentdError(f"'{name}' is brought into the library by a command of its own.", f"agentd archive {name}")
    moved = folder.parent == root / ARCHIVE
    writes.bring_in(root, record, strict=not moved)
    for line in wording.deeds(record.specs):
        work.say(line)
    implementing.let_go(work)
    work.store.move(writes.move_to(folder, root / ARCHIVE))
    settled = [f"conflicts in {name} settled: {one.settled}" for name, one in record.specs.items() if one.settled]
    return Outcome("done", "; ".join((f"moved to {work.project.relative(work.store.folder)}", *settled)))
