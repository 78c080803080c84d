"""The challenge of a plan: what its verdict is, what became of the issues, and what a person or the loop does next.

A verdict is a review block, or a structured review that becomes one. Whatever is unclear is no verdict.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentd.calling.reply import find_outcome, judge
from agentd.errors import AgentdError
from agentd.families.change import advice
from agentd.families.change.documents import proposal
from agentd.model.change import Review
from agentd.model.job import Reply
from agentd.model.run import Outcome, Run
from agentd.model.verdict import Challenge, Issue, PlanVerdict, contradictions, count
from agentd.review import challenge_page, ledger
from agentd.review.ledger import Entry
from agentd.runs import checksums, decisions

if TYPE_CHECKING:
    from agentd.runs.work import Work

_ID = re.compile(r"[a-z0-9][a-z0-9-]*")
WORDS = ("approved", "needs_revision", "rejected")


def snapshot(work: "Work") -> None:
    """Keep what the challenger is about to see: its approval is worth that and nothing else."""
    work.note("challenged", checksums.checksums(work, checksums.PLAN))


def reviews(work: "Work") -> tuple[Review, ...]:
    """The review blocks of the proposal, oldest first."""
    return proposal.reviews(_text(work, "proposal.md"))


def rounds(work: "Work") -> tuple[Challenge, ...]:
    """The challenges there were, oldest first."""
    from agentd.families.change.review_tools import ground

    name = work.top.state.run.name
    made = [challenge_page.from_review(name, review) for review in reviews(work)]
    if made:
        last = made[-1]
        issues = ground(work.project, work.home, last.issues)
        made[-1] = Challenge(last.change_id, last.verdict, issues, last.summary, last.next_steps)
    return tuple(made)


def entries(work: "Work") -> tuple[Entry, ...]:
    """What became of every issue."""
    return ledger.ledger([made.issues for made in rounds(work)])


def judge_challenge(work: "Work", run: Run, reply: Reply) -> Outcome:
    """The verdict of a challenger that ended; in doubt it is none, which is never an approval."""
    assert run.intent is not None
    verdict, why = _verdict(work, run, reply)
    if verdict is None:
        return Outcome("failed", f"{advice.VERDICT}: {why}")
    against = contradicted(verdict, WORDS, reply)
    if against:
        return Outcome("failed", f"{advice.VERDICT}: {against}")
    work.note("iteration", len(reviews(work)))
    return Outcome(verdict.lower(), in_words(rounds(work)[-1]))


def contradicted(verdict: str, words: Sequence[str], reply: Reply) -> str:
    """What a reply says against the verdict of its review, or nothing; it need not say anything."""
    for said in (judge([reply.outcome] if reply.outcome else [], words), find_outcome(reply.text, words)):
        if said.word != verdict.lower() and (said.word or "no outcome" not in said.problem):
            return f"its review says {verdict}, its reply {said.word.upper() if said.word else said.problem}"
    return ""


def in_words(made: Challenge) -> str:
    """A challenge in one line."""
    if made.verdict == "APPROVED":
        return "✅ APPROVED - Ready for implementation!"
    if made.verdict == "REJECTED":
        return "❌ REJECTED - Fundamental problems"
    found = count(made.issues)
    counts = ", ".join(f"{found[severity]} {severity.upper()}" for severity in found)
    return f"⚠️ NEEDS_REVISION - Found {counts} severity issues"


def weigh_the_review(work: "Work") -> Outcome:
    """Whether the loop goes on by itself: only unattended by choice, and only while it gets anywhere."""
    known = entries(work)
    for line in ledger.table(known):
        work.say(f"  {line}")
    if work.project.config.human_in_loop:
        work.say("For HITL mode, we stop after first challenge")
        return Outcome("ask")
    stuck = ledger.converging(known, [made.issues for made in rounds(work)])
    if stuck:
        work.say(f"⚠ the loop does not converge: {stuck}")
        return Outcome("stuck", stuck)
    return Outcome("revise")


def approve(work: "Work") -> Outcome:
    """Bind the approval to what the challenger saw; what changed meanwhile is challenged again."""
    seen = work.state.fields.get("challenged")
    seen = dict(seen) if isinstance(seen, Mapping) else {}
    changed = checksums.differences(seen, checksums.checksums(work, checksums.PLAN))
    if changed:
        why = f"{', '.join(changed)} changed while it was challenged"
        work.say(f"⚠ {why}: the approval does not count")
        return Outcome("changed", why)
    last = reviews(work)[-1] if reviews(work) else None
    if last is None or last.status != "approved" or not seen:
        return Outcome("changed", "the last review does not approve what is there")
    _tell_losses(work)
    _bind(work, seen, by=last.reviewer, review=last.iteration)
    alone = work.project.config.human_in_loop or not work.project.attended
    return Outcome("done" if alone else "ask", f"bound to {len(seen)} documents")


def approve_anyway(work: "Work") -> Outcome:
    """A person goes on without the challenger's approval: recorded with who and why."""
    decision = decisions.answered(work, "exhausted")
    if decision is None or decision.answer != "implement":
        raise work.store.corrupt("nobody has decided to go on without an approval", "run", "step")
    seen = checksums.checksums(work, checksums.PLAN)
    _tell_losses(work)
    _bind(work, seen, by=decision.by, why=decision.note, override=decision.id)
    work.say(f"⚠ {decision.by} goes on without an approval: {decision.note}")
    return Outcome("done", f"{decision.by}: {decision.note}")


def _tell_losses(work: "Work") -> None:
    from agentd.families.change.archive import merge

    gone = ", ".join(merge.losses(work))
    if gone:
        work.say(f"⚠ once archived, this plan takes requirements out of the library: {gone}")


def plan_is_as_approved(work: "Work") -> str:
    """What changed since the approval, or nothing. A phase that a person set by hand is an approval without documents."""
    approval = work.state.fields.get("approval")
    if not isinstance(approval, Mapping) or not isinstance(approval.get("documents"), Mapping):
        return ""
    changed = checksums.differences(approval["documents"], checksums.checksums(work, checksums.PLAN))
    if not changed:
        return ""
    again = f"agentd challenge {work.state.run.name}"
    return f"{', '.join(changed)} changed after it was approved; have it reviewed again: {again}"


def problem_with(work: "Work", path: Path) -> str:
    """Why CHALLENGE.md does not count, or nothing: what stands there before the challenger spoke is no review."""
    empty = work.is_change and path.read_bytes().decode(errors="replace") == challenge_page.skeleton(
        work.top.state.run.name
    )
    return "no challenger has spoken yet" if empty else ""


def restore_report(work: "Work") -> bool:
    """CHALLENGE.md made again from the last review, if somebody took it away."""
    if any(work.files("CHALLENGE.md")) or not reviews(work):
        return False
    return bool(_finish(work, reviews(work)[-1]))


def show_issues(work: "Work") -> Outcome:
    """Every issue of the last challenge, with its severity and what there is to say about it."""
    for line in issue_lines(work):
        work.say(line)
    return Outcome("done")


def issue_lines(work: "Work") -> list[str]:
    lines = []
    for entry in entries(work):
        if entry.state != "fixed":
            lines += _issue(entry)
    return lines or ["The review names no issue."]


def show_documents(work: "Work") -> Outcome:
    """Where everything is that a person may want to read, and the issues that are left."""
    work.say("To read:")
    for name in (*checksums.PLAN, "CHALLENGE.md"):
        for path in work.files(name):
            work.say(f"  {work.project.relative(path)}")
    return show_issues(work)


def _issue(entry: Entry) -> list[str]:
    issue: Issue = entry.issue
    where = issue.spec_reference or issue.location or issue.file_path
    doubt = f" (ungrounded: {issue.ungrounded})" if issue.ungrounded else ""
    head = f"  {entry.id} Severity: {issue.severity} [{entry.state}] {issue.title}".rstrip()
    lines = [
        f"{head}{f' ({where})' if where else ''}{doubt}",
        f"     Description: {' '.join(issue.description.split())}",
    ]
    if issue.suggestion:
        lines.append(f"     Suggestion: {' '.join(issue.suggestion.split())}")
    return lines


def _verdict(work: "Work", run: Run, reply: Reply) -> tuple[PlanVerdict | None, str]:
    """What the review of this very call says, wherever it was put; and why it says nothing."""
    assert run.intent is not None
    call = run.intent.call
    text = _text(work, "proposal.md")
    report = _text(work, "CHALLENGE.md")
    if proposal.reviews(text) and proposal.reviews(text)[-1].call == call:
        _, findings = proposal.verdict(text)
        kept = proposal.reviews(text)[-1]
        unfinished = reply.text if report == challenge_page.skeleton(run.name) else report
        if kept.content.strip() == unfinished.strip():
            report = _finish(work, kept) or report
        mine = challenge_page.from_review(run.name, kept)
        told = challenge_page.read(report)[0].verdict
        if findings:
            return None, findings[0].message
        if other := is_of_another(run.name, challenge_page.read(kept.content)[0].change_id):
            return None, other
        if told != mine.verdict:
            return None, f"the review in proposal.md says {mine.verdict}, CHALLENGE.md says {told or 'nothing clear'}"
        return _agreed(mine)
    if report and report != challenge_page.skeleton(run.name) and _written_since(work, run.intent.at):
        content = report
    else:
        content = reply.text
    made, findings = challenge_page.read(content)
    if made.verdict is None:
        return None, next((found.message for found in findings), "there is no review")
    if other := is_of_another(run.name, made.change_id):
        return None, other
    if not (made.summary.strip() or made.issues):
        return None, "the verdict comes without a review"
    verdict, why = _agreed(made)
    if verdict is not None:
        try:
            _keep(work, call, verdict, content)
        except AgentdError as error:
            return None, error.message
    return verdict, why


def is_of_another(change: str, named: str) -> str:
    """Why a review is not one of this change, or nothing; its title may say the name in words."""
    named = named.strip(" \t`*_.\"'")
    same = named == change if _ID.fullmatch(named) else change in re.sub(r"[\W_]+", "-", named.lower())
    return "" if same or not named else f"it is the review of '{named}'"


def _agreed(made: Challenge) -> tuple[PlanVerdict | None, str]:
    against = contradictions(made.verdict, made.issues)
    return (None, against[0]) if against else (made.verdict, "" if made.verdict else "the review decides nothing")


def _keep(work: "Work", call: str, verdict: PlanVerdict, content: str) -> None:
    """A review that was not sent through the tool is put where every review is."""
    from agentd.families.change.review_tools import keep_review

    number = len(reviews(work)) + 1
    role = work.project.config.agent_of("challenger")
    keep_review(work.home, work.state.run.name, call, role, verdict, content.strip(), number, work.project)


def _finish(work: "Work", kept: Review) -> str:
    """The report of a review that agentd kept before it was killed; nothing if there can be none."""
    from agentd.families.change.review_tools import finish_review

    with suppress(AgentdError):
        return finish_review(work.home, work.state.run.name, kept, work.project)
    return ""


def _written_since(work: "Work", at: str) -> bool:
    return not work.artifact("CHALLENGE.md", datetime.fromisoformat(at).timestamp())


def _bind(work: "Work", documents: Mapping[str, str], **details: Any) -> None:
    work.note("approval", {"at": work.project.now(), **details, "documents": dict(documents)})


def _text(work: "Work", name: str) -> str:
    try:
        return (work.home / name).read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return ""
