"""What in the evidence about a change stands against an approval. It gathers none and runs nothing."""

from hashlib import sha256

from agentd.families.change import PLAN
from agentd.families.change.approval import plan_is_as_approved
from agentd.proof import blockers as standing
from agentd.proof import record
from agentd.proof.blockers import Blocker
from agentd.proof.record import BASELINE
from agentd.runs import checksums
from agentd.runs.work import Work


def blockers(work: Work) -> tuple[Blocker, ...]:
    """What in the evidence stands against an approval."""
    seen, problem = record.evidence(work)
    before, lost = record.evidence(work, BASELINE)
    if seen is None:
        return (Blocker("none", "", problem),)
    if not record.base(work):
        return (Blocker("none", "", "the files that the change began with are not known"),)
    gone = (Blocker("none", "", f"{lost}, so that it is not known what was red before"),) if lost else ()
    return (*gone, *_other_plan(work), *standing.blockers(seen, before, record.waived(work)))


def _other_plan(work: Work) -> tuple[Blocker, ...]:
    """A blocker if the plan is not the approved one; only a person can accept that."""
    said = plan_is_as_approved(work.top)
    sums = checksums.checksums(work.top, PLAN) if said else {}
    name = f"plan:{sha256(repr(sorted(sums.items())).encode()).hexdigest()[:8]}"
    return (Blocker("harm", name, said),) if said and name not in record.waived(work) else ()
