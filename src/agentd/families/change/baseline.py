"""Before the first task: the files as they are, and the results of the project's own commands."""

from agentd.landing import local_files
from agentd.model.run import Outcome
from agentd.proof import baseline as proof
from agentd.proof import blockers, commands, record
from agentd.proof.record import BASELINE
from agentd.runs import decisions
from agentd.runs.work import Work


def set_out(work: Work) -> Outcome:
    """Record the files as they are before the first task."""
    if not record.base(work):
        work.top.set_fields({key: said for key, said in work.top.state.fields.items() if key != "verdict"})
        proof.set_out(work, record.tree(work))
    return Outcome("done", f"began with {record.base(work)[:12]}")


def baseline(work: Work) -> Outcome:
    """Run the project's own commands before anything is changed; a person decides about those that are not green."""
    local_files.provide(work)
    found = proof.look(work)
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
