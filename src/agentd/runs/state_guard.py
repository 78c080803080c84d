"""What is not an agent's to change: how far a change has come, what an approval is bound to, the reviews of others.

Agents may write in the folder of their change; what they did to these is put back when the call ends, and told.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agentd.model.run import Run
from agentd.model.workflow import Workflow
from agentd.state import durable

if TYPE_CHECKING:
    from agentd.model.change import Review
    from agentd.runs.work import Work

SIDEWAYS = ("rejected",)  # a phase that leads no further
BOUND = (
    "challenged",
    "approval",
    "verdict",
    "generation",
    "git",
    "budget",
    "llm_calls",
    "total_cost",
    "total_tokens_in",
    "total_tokens_out",
    "unknown_costs",
    "user_decisions",
    "implementation",
)


def put_state_back(work: "Work") -> str:
    """What was put back in the state file, in words, or nothing. A phase that leads no further is not touched."""
    top = work.top
    with top.guard:
        for store in (work.store, top.store):
            broken = store.mend()
            if broken:
                name = store.path.relative_to(top.store.folder).as_posix()
                return f"{name} was {broken} while the agent worked, and was put back"
        theirs = top.store.peek().run.phase
        foreign = theirs not in top.workflow.phases or is_ahead(top.workflow, theirs, top.state.run.phase)
        changed = top.store.put_back(*BOUND, *([top.store.codec.phase_key] if foreign else []))
    if not changed:
        return ""
    return f"{', '.join(changed)} in {top.store.codec.file} changed while the agent worked, and was put back"


def standing(workflow: Workflow, run: Run) -> Run:
    """The run as it stands; at the step that was cut off, if its phase has come to be ahead of that one."""
    cut_off = workflow.steps.get(run.intent.call.rpartition("-")[0]) if run.intent else None
    if cut_off is None or not is_ahead(workflow, run.phase, cut_off.phase):
        return run
    return replace(run, phase=cut_off.phase, step=cut_off.name, result="")


def is_ahead(workflow: Workflow, phase: str, of: str) -> bool:
    """Whether a phase is further on than another; one that leads no further is not ahead of any."""
    order = [known for known in workflow.phases if known not in SIDEWAYS]
    return phase in order and of in order and order.index(phase) > order.index(of)


def reviews(work: "Work") -> "tuple[Review, ...]":
    """The reviews in the proposal of a change."""
    from agentd.families.change.documents import proposal

    return proposal.reviews(_text(work)) if work.is_change else ()


def put_reviews_back(work: "Work", before: "Sequence[Review]", call: str = "") -> None:
    """The proposal with the reviews it had before a call, and with the one of the call if that is named."""
    from agentd.families.change.documents import proposal

    text = _text(work) if work.is_change else ""
    now = proposal.reviews(text)
    mine = [review for review in now if call and review.call == call][-1:]
    # A repeated attempt takes the place of the one before it.
    due = [review for review in before if not mine or _visit(review) != _visit(mine[0])] + mine
    if not text or list(now) == due:
        return
    try:
        whole = proposal.with_reviews(text, due)
    except ValueError:
        return  # a review that contradicts itself is for validation to tell
    durable.replace(work.home / "proposal.md", whole.encode(errors="surrogateescape"), "document")
    work.say("⚠ the reviews in proposal.md were changed by the agent and have been put back")


def _visit(review: "Review") -> str:
    return review.call.rpartition(".")[0]


def _text(work: "Work") -> str:
    try:
        return (work.home / "proposal.md").read_bytes().decode(errors="surrogateescape")
    except FileNotFoundError:
        return ""
