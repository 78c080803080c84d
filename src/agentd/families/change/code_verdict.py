"""The verdict on an implementation: what a review and the evidence come to, and what happens next.

A reviewer's APPROVED counts only if the evidence agrees, for exactly the files that were tested and reviewed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentd.engine.waves import Item
from agentd.families.change import NO_REVIEW, code_review, evidence_blockers, task_status, tasks
from agentd.families.change.code_review import REVIEW
from agentd.git import trees
from agentd.model.evidence import Evidence
from agentd.model.run import Outcome
from agentd.model.verdict import CodeReview, Issue
from agentd.proof import record
from agentd.proof.blockers import Blocker
from agentd.proof.record import Approved
from agentd.review import review_page
from agentd.review.code_places import ground
from agentd.review.issue_ledger import converging, entries, table
from agentd.runs import decisions
from agentd.runs.ports import child_store
from agentd.runs.work import Work
from agentd.state.codecs import PLAIN

AGAIN = "review_again"


def judge(work: Work) -> Outcome:
    """Decide whether the verdict counts, and if not, what happens next."""
    if unreviewed(work):
        return _judge_unreviewed(work)
    problem = _unbound(work)
    if problem:
        work.say(f"⚠ {problem}: the review does not count")
        return Outcome("stale", problem)
    found, word, why = _judged(work)
    code_review.keep_round(work, found)
    overruled = found.verdict == "APPROVED" and word != "approved"
    work.note("verdict", "NEEDS_CHANGES" if overruled else str(found.verdict))
    return Outcome(word, why)


def unreviewed(work: Work) -> str:
    """Who chose to do without a review, or nothing."""
    chosen = work.top.state.fields.get("unreviewed")
    return f"{chosen.get('by')} chose {NO_REVIEW}" if isinstance(chosen, Mapping) else ""


def _judge_unreviewed(work: Work) -> Outcome:
    """Decide by the evidence alone, as a person chose; REVIEW.md tells who."""
    seen, problem = record.evidence(work)
    problem = problem or _untested(work, seen)
    if seen is None or problem:
        return Outcome("stale", problem)
    against, chosen = _against(work), unreviewed(work)
    told = "; ".join(one.text for one in against[:3])
    only_harms = bool(against) and all(one.why == "harm" for one in against)
    word = "waive" if only_harms and _is_for_a_person(work) else "needs_changes" if against else "approved"
    files = trees.hashes(work.cwd, seen.tree, code_review.changed_paths(work, seen.tree))
    by, said = str(work.top.state.fields["unreviewed"]["by"]), f"Not reviewed: {chosen}."
    page = CodeReview(work.top.state.run.name, None, summary=said, files=files, tree=seen.tree, unreviewed=by)
    work.write(REVIEW, review_page.render(page))
    code_review.finish(work, seen, page, against, f"not approved: {told}" if against else f"not reviewed: {chosen}")
    work.note("verdict", "NEEDS_CHANGES" if against else "NOT_REVIEWED")
    work.say(f"❌ not approved: {told}" if against else f"⚠ not reviewed ({chosen}); the evidence is in order")
    if not against:
        _bind(work, seen, Approved(by=by, why="it was not reviewed", override=NO_REVIEW))
    return Outcome(word, told or chosen)


def judge_again(work: Work) -> Outcome:
    """Judge the review of a complete change; the change stays complete whatever it says."""
    problem = _unbound(work)
    if problem:
        return Outcome("refused", problem)
    _, word, why = _judged(work)
    return Outcome("approved" if word == "approved" else "refused", why)


def _judged(work: Work) -> tuple[CodeReview, str, str]:
    """The review with its issues grounded, the outcome and the reason: said, added to REVIEW.md, bound if approved."""
    seen, _ = record.evidence(work)
    assert seen is not None
    found = review_page.read(work.read(REVIEW))[0]
    found = replace(found, issues=ground(work.cwd, found.issues, record.base(work), seen.tree))
    against = _against(work)
    word, why = _decide(work, found, against)
    code_review.finish(work, seen, found, against, "approved" if word == "approved" else f"not approved: {why}")
    for doubt in code_review.doubts(found):
        work.say(f"⚠ {doubt}")
    for line in table(entries(_rounds(work, found))):
        work.say(f"  {line}")
    work.say("✅ APPROVED, bound to the files as they are" if word == "approved" else f"❌ not approved: {why}")
    if word == "approved":
        _bind(work, seen, Approved(by="reviewer", call=found.call))
    return found, word, why


def _against(work: Work) -> tuple[Blocker, ...]:
    """What stands against an approval, whatever a reviewer says."""
    left = task_status.every_task_is_done(work)
    return (*evidence_blockers.blockers(work), *([Blocker("none", "", left)] if left else []))


def _decide(work: Work, found: CodeReview, against: Sequence[Blocker]) -> tuple[str, str]:
    """The outcome of a verdict and of what stands against it, with the reason."""
    grounded = code_review.grounded(found)
    only_harms = bool(against) and all(one.why == "harm" for one in against)
    told = "; ".join(one.text for one in against[:3])
    if only_harms and found.verdict != "MAJOR_ISSUES" and _is_for_a_person(work):
        return "waive", told
    if found.verdict == "APPROVED":
        return ("needs_changes", f"the reviewer says APPROVED, but {told}") if against else ("approved", "")
    if not grounded and not against:
        return "ungrounded", "the review names nothing that exists"
    if found.verdict == "MAJOR_ISSUES":
        return "stop", told or f"MAJOR_ISSUES: {_first(grounded)}"
    rounds = _rounds(work, found)
    stuck = converging(entries(rounds), rounds)
    return ("stop", f"the loop does not converge: {stuck}") if stuck else ("needs_changes", told or _first(grounded))


def _is_for_a_person(work: Work) -> bool:
    """Whether to ask a person about harm to the tests: at once if one is in the loop, else after the last repair."""
    config = work.project.config
    limit = int(config.get("workflow", "implementation_iterations"))
    return config.human_in_loop or work.state.run.counts.get("judge.needs_changes", 0) >= limit


def _first(issues: Sequence[Issue]) -> str:
    return issues[0].title or issues[0].description.splitlines()[0] if issues else ""


def _rounds(work: Work, found: CodeReview) -> list[tuple[Issue, ...]]:
    """The grounded issues of each round, this one last."""
    made = [one for one in code_review.rounds(work) if work.parent or not one.call or one.call != found.call]
    return [code_review.grounded(one) for one in (*made, found)]


def _unbound(work: Work) -> str:
    """Why the review is not about the files as they are now, or nothing."""
    seen, problem = record.evidence(work)
    if seen is None:
        return problem
    known = record.record(work).review
    if known is None or code_review.digest(work.read(REVIEW)) != known.sha256:
        return f"{REVIEW} was changed after the reviewer wrote it"
    return _untested(work, seen)


def _untested(work: Work, seen: Evidence | None) -> str:
    """Why the evidence is not about the files as they are now, or nothing."""
    now = record.tree(work)
    if seen is None or now == seen.tree:
        return ""
    names = [one.path for one in trees.changes(work.cwd, seen.tree, now)]
    return f"{', '.join(names[:5])} changed after the tests ran"


def _bind(work: Work, seen: Evidence, approved: Approved) -> None:
    changed = code_review.changed_paths(work, seen.tree)
    files = {**dict.fromkeys(changed, ""), **trees.hashes(work.cwd, seen.tree, changed)}
    record.keep(work, approved=replace(approved, at=work.project.now(), tree=seen.tree, files=files))


def take_stock(work: Work) -> Outcome:
    """What an implementation needs next, by its documents: open tasks done, a review, a repair, or a judgement."""
    if tasks.open_tasks(work):
        record.keep(work, only=())
        left = ", ".join(task.id for task in tasks.open_tasks(work))
        work.say(f"still open: {left}")
        return Outcome("open", left)
    text = work.read(REVIEW)
    found = review_page.read(text)[0] if text else None
    if found is None or found.verdict is None:
        return Outcome("review", "it has not been reviewed")
    if found.verdict != "APPROVED":
        return Outcome("resolve", f"the review says {found.verdict}")
    problem = _unbound(work) or ("" if found.files else "the approval names no files")
    if problem:
        work.say(f"⚠ the approval is stale: {problem}")
        return Outcome("review", problem)
    return Outcome("judge", "it was approved")


def items(work: Work) -> Sequence[Item]:
    """One item for the next review of a complete change, or for the one that was interrupted."""
    folder = work.store.folder / "children" / AGAIN
    last = max((int(path.parent.name) for path in folder.glob(f"[0-9]*/{PLAIN.file}")), default=0)
    over = last == 0 or child_store(work, AGAIN, str(last)).peek().run.result
    return [Item(str(last + 1 if over else last))]


def accept_anyway(work: Work) -> Outcome:
    """Take the implementation as it is, as a person decided: recorded with who and why, and no approval."""
    decision = decisions.answered(work, "stuck")
    if decision is None or decision.answer != "accept":
        raise work.store.corrupt("no decision overrides the verdict", "run", "step")
    seen, _ = record.evidence(work)
    if seen is not None:
        now = replace(seen, tree=record.tree(work))
        _bind(work, now, Approved(by=decision.by, why=decision.note, override=decision.id))
    text = work.read(REVIEW)
    if text:
        said = f"taken as it is by {decision.by}, without an approval: {decision.note}"
        had = review_page.read(text)[0]
        whole = review_page.finished(
            text, decision=said, evidence=had.evidence, remarks=had.remarks, tree=had.tree, files=had.files
        )
        work.write(REVIEW, whole)
    work.say(f"⚠ {decision.by} takes it without an approval: {decision.note}")
    return Outcome("done", f"{decision.by}: {decision.note}")
