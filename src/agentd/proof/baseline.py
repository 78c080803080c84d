"""Before the first change: the files as they are, and what the project's own commands say of them."""

from agentd.git import trees
from agentd.model.evidence import Evidence
from agentd.proof import blockers, commands, hidden_code, record, red_first
from agentd.proof.blockers import Blocker
from agentd.proof.record import BASELINE
from agentd.runs.work import Work


def set_out(work: Work, tree: str) -> None:
    """Record the files that the work begins with."""
    trees.keep(work.cwd, record.ref(work), tree)
    hidden = hidden_code.noted(work.cwd, work.project.own_folders())
    record.keep(work, base=tree, begun_at=work.project.now(), **hidden)


def look(work: Work, known: Evidence | None = None) -> tuple[Blocker, ...]:
    """Run the project's own commands on the files that the work begins with, unless it is known what they say.

    Gives what is not as it should be before anything was changed.
    """
    first = record.record(work).commands is None
    commands.settle_commands(work, keep=False)
    if known is None:
        untouched = first or record.tree(work) == record.base(work)
        known = commands.look_around(work) if untouched else red_first.look_at_base(work)
        commands.say_results(work, known.results, "Before the change: ")
    record.keep_evidence(work, BASELINE, known, "")
    record.keep(work, commands=tuple((one.kind, one.folder, one.run) for one in commands.commands(work)))
    if first:  # the commands may have made files
        record.keep(work, unseen=hidden_code.noted(work.cwd, work.project.own_folders())["unseen"])
    found = blockers.wanting(known)
    for wanting in found:
        work.say(f"⚠ {wanting.text}")
    return found
