"""The approval of a plan: the documents it is bound to, and whether they are still as they were approved."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from agentd.errors import AgentdError, GateClosed
from agentd.families.change import PLAN
from agentd.families.change.archive import spec_merge
from agentd.families.change.documents import proposal
from agentd.git import trees
from agentd.model.run import Outcome
from agentd.proof import record
from agentd.runs import checksums, decisions
from agentd.runs.project import Project
from agentd.runs.work import Work, work_on
from agentd.state.layout import Place


def approve(work: Work) -> Outcome:
    """Bind the approval to what the challenger saw; if a document changed meanwhile, the plan is challenged again."""
    seen = work.state.fields.get("challenged")
    seen = dict(seen) if isinstance(seen, Mapping) else {}
    changed = checksums.differences(seen, checksums.checksums(work, PLAN))
    if changed:
        why = f"{', '.join(changed)} changed while it was challenged"
        work.say(f"⚠ {why}: the approval does not count")
        return Outcome("changed", why)
    reviews = proposal.reviews(work.read("proposal.md"))
    last = reviews[-1] if reviews else None
    if last is None or last.status != "approved" or not seen:
        return Outcome("changed", "the last review does not approve what is there")
    _tell_losses(work)
    _bind(work, seen, by=last.reviewer, review=last.iteration)
    alone = work.project.config.human_in_loop or not work.project.attended
    return Outcome("done" if alone else "ask", f"bound to {len(seen)} documents")


def approve_anyway(work: Work) -> Outcome:
    """Continue without the challenger's approval, as a person decided: recorded with who and why."""
    decision = decisions.answered(work, "exhausted")
    if decision is None or decision.answer != "implement":
        raise work.store.corrupt("no decision overrides the verdict", "run", "step")
    seen = checksums.checksums(work, PLAN)
    _tell_losses(work)
    _bind(work, seen, by=decision.by, why=decision.note, override=decision.id)
    work.say(f"⚠ {decision.by} continues without an approval: {decision.note}")
    return Outcome("done", f"{decision.by}: {decision.note}")


def accept_sketch(work: Work) -> Outcome:
    """Bind the approval to what a person saw and said yes to."""
    decision = decisions.answered(work, "confirm")
    if decision is None or decision.answer != "yes":
        raise work.store.corrupt("no decision approves the plan", "run", "step")
    _tell_losses(work)
    _bind(work, decision.shown, by=decision.by, why=decision.note, decision=decision.id)
    return Outcome("done", f"{decision.by} said yes to {len(decision.shown)} documents")


def _tell_losses(work: Work) -> None:
    gone = ", ".join(spec_merge.losses(work))
    if gone:
        work.say(f"⚠ once archived, this plan removes requirements from the library: {gone}")


def plan_is_as_approved(work: Work) -> str:
    """What changed since the approval, or nothing; a phase that a person set by hand is bound to no documents."""
    changed = _changed(work, PLAN)
    return f"{', '.join(changed)} changed after the plan was approved" if changed else ""


def _changed(work: Work, names: Sequence[str]) -> list[str]:
    """The approved documents below these names that are not as they were approved."""
    approval = work.state.fields.get("approval")
    documents = approval.get("documents") if isinstance(approval, Mapping) else None
    if not isinstance(documents, Mapping):
        return []
    then = {name: checksum for name, checksum in documents.items() if name.startswith(tuple(names))}
    return checksums.differences(then, checksums.checksums(work, names))


def closed_gate(work: Work, missing: str) -> GateClosed | None:
    """The error for a gate that is closed because the plan changed, with everything that the gate misses."""
    changed = plan_is_as_approved(work)
    if not changed or changed not in missing:
        return None
    for name in work.layout.checks:
        missing = missing.replace(f"{name}: ", "")
    return GateClosed(f"{missing}.", f"agentd challenge {work.state.run.name}")


def _bind(work: Work, documents: Mapping[str, str], **details: Any) -> None:
    work.note("approval", {"at": work.project.now(), **details, "documents": dict(documents)})


def warn(project: Project, place: Place) -> None:
    """Say which specs and files are not as they were approved."""
    work = work_on(project, place)
    with suppress(AgentdError):
        names = [*_changed(work, ["specs/"]), *_changed_files(work)]
        if names:
            again = f"agentd impl {place.name} --re-review"
            project.say(f"⚠ {', '.join(names[:5])} changed after it was approved; to have it reviewed again: {again}")


def _changed_files(work: Work) -> list[str]:
    """The files that are not as they were approved."""
    approved = record.record(work).approved
    tree = approved.tree if approved else ""
    now = record.tree(work) if tree else ""
    return [one.path for one in trees.changes(work.cwd, tree, now)] if tree != now else []
