"""Before the first task: the files as they are, and the results of the project's own commands."""

from agentd.git import trees
from agentd.landing import local_files
from agentd.model.run import Outcome
from agentd.proof import blockers, commands, hidden_code, record, red_first
from agentd.proof.record import BASELINE
from agentd.runs import decisions
from agentd.runs.work import Work


def set_out(work: Work) -> Outcome:
    """Record the files as they are before the first task."""
    if not record.base(work):
        now = record.tree(work)
        trees.keep(work.cwd, record.ref(work), now)
        work.top.set_fields({key: said for key, said in work.top.state.fields.items() if key != "verdict"})
        hidden = hidden_code.noted(work.cwd, work.project.own_folders())
        record.keep(work, base=now, begun_at=work.project.now(), **hidden)
    return Outcome("done", f"began with {record.base(work)[:12]}")


def baseline(work: Work) -> Outcome:
    """Run the project's own commands before anything is changed; a person decides about those that are not green."""
    local_files.provide(work)
    first = record.record(work).commands is None
    commands.settle_commands(work, keep=False)
    untouched = first or record.tree(work) == record.base(work)
    seen = commands.look_around(work) if untouched else red_first.look_at_base(work)
    commands.say_results(work, seen.results, "Before the change: ")
    record.keep_evidence(work, BASELINE, seen, "")
    record.keep(work, commands=tuple((one.kind, one.folder, one.run) for one in commands.commands(work)))
    if first:  # the commands may have made files
        record.keep(work, unseen=hidden_code.noted(work.cwd, work.project.own_folders())["unseen"])
    found = blockers.wanting(seen)
    for wanting in found:
        work.say(f"⚠ {wanting.text}")
    if not found:
        commands.keep_begun(work)
    return Outcome("ask" if found else "done", "; ".join(one.text for one in found))


def is_open(work: Work) -> str:
    """Why the baseline is settled, or nothing."""
    seen, problem = record.evidence(work, BASELINE)
    if seen is None or problem:
        return ""
    decided = decisions.answered(work, "begin_anyway")
    return "" if blockers.wanting(seen) and decided is None else "the baseline is known"
