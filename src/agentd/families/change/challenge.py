"""The challenge of a plan: what its verdict is, what became of the issues, and what a person or the loop does next.

A verdict is a review block, or a structured review that becomes one. Whatever is unclear is no verdict.
"""

from contextlib import suppress
from pathlib import Path

from agentd.errors import AgentdError
from agentd.families.change import PLAN, troubleshooting
from agentd.families.change.documents import proposal
from agentd.families.change.proposal_reviews import reviews
from agentd.families.change.review_tools import finish_review, ground, keep_review
from agentd.model.change import Review
from agentd.model.job import Reply
from agentd.model.run import Outcome, Run
from agentd.model.verdict import Challenge, Issue, PlanVerdict, contradictions, count
from agentd.review import challenge_page, issue_ledger
from agentd.review.issue_ledger import Entry
from agentd.review.reply_check import contradicted, is_of_another
from agentd.runs import checksums
from agentd.runs.work import Work

WORDS = ("approved", "needs_revision", "rejected")


def snapshot(work: Work) -> None:
    """Keep what the challenger is about to see: its approval is worth that and nothing else."""
    work.note("challenged", checksums.checksums(work, PLAN))


def rounds(work: Work) -> tuple[Challenge, ...]:
    """The challenges there were, oldest first."""
    name = work.top.state.run.name
    made = [challenge_page.from_review(name, review) for review in reviews(work)]
    if made:
        last = made[-1]
        issues = ground(work.project, work.home, last.issues)
        made[-1] = Challenge(last.change_id, last.verdict, issues, last.summary, last.next_steps)
    return tuple(made)


def entries(work: Work) -> tuple[Entry, ...]:
    """What became of every issue."""
    return issue_ledger.entries([made.issues for made in rounds(work)])


def judge_challenge(work: Work, run: Run, reply: Reply) -> Outcome:
    """The verdict of a challenger that ended; in doubt it is none, which is never an approval."""
    assert run.intent is not None
    verdict, why = _verdict(work, run, reply)
    if verdict is None:
        return Outcome("failed", f"{troubleshooting.VERDICT}: {why}")
    against = contradicted(verdict, WORDS, reply)
    if against:
        return Outcome("failed", f"{troubleshooting.VERDICT}: {against}")
    work.note("iteration", len(reviews(work)))
    return Outcome(verdict.lower(), in_words(rounds(work)[-1]))


def in_words(made: Challenge) -> str:
    """A challenge in one line."""
    if made.verdict == "APPROVED":
        return "✅ APPROVED - Ready for implementation!"
    if made.verdict == "REJECTED":
        return "❌ REJECTED - Fundamental problems"
    found = count(made.issues)
    counts = ", ".join(f"{found[severity]} {severity.upper()}" for severity in found)
    return f"⚠️ NEEDS_REVISION - Found {counts} severity issues"


def weigh(work: Work) -> Outcome:
    """Whether the loop goes on by itself: only unattended by choice, and only while it gets anywhere."""
    known = entries(work)
    for line in issue_ledger.table(known):
        work.say(f"  {line}")
    if work.project.config.human_in_loop:
        work.say("For HITL mode, we stop after first challenge")
        return Outcome("ask")
    stuck = issue_ledger.converging(known, [made.issues for made in rounds(work)])
    if stuck:
        work.say(f"⚠ the loop does not converge: {stuck}")
        return Outcome("stuck", stuck)
    return Outcome("revise")


def problem_with(work: Work, path: Path) -> str:
    """Why CHALLENGE.md does not count, or nothing: what stands there before the challenger spoke is no review."""
    empty = path.read_bytes().decode(errors="replace") == challenge_page.skeleton(work.top.state.run.name)
    return "no challenger has spoken yet" if empty else ""


def restore_report(work: Work) -> bool:
    """CHALLENGE.md made again from the last review, if somebody took it away."""
    if any(work.files("CHALLENGE.md")) or not reviews(work):
        return False
    return bool(_finish(work, reviews(work)[-1]))


def show_issues(work: Work) -> Outcome:
    """Every issue of the last challenge, with its severity and what there is to say about it."""
    for line in issue_lines(work):
        work.say(line)
    return Outcome("done")


def issue_lines(work: Work) -> list[str]:
    lines = []
    for entry in entries(work):
        if entry.state != "fixed":
            lines += _issue(entry)
    return lines or ["The review names no issue."]


def show_documents(work: Work) -> Outcome:
    """Where everything is that a person may want to read, and the issues that are left."""
    work.say("To read:")
    for name in (*PLAN, "CHALLENGE.md"):
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


def _verdict(work: Work, run: Run, reply: Reply) -> tuple[PlanVerdict | None, str]:
    """What the review of this very call says, wherever it was put; and why it says nothing."""
    assert run.intent is not None
    call = run.intent.call
    text = work.read("proposal.md")
    report = work.read("CHALLENGE.md")
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
    untouched = report in ("", challenge_page.skeleton(run.name))  # as it stood there when the call began
    content = reply.text if untouched else report
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


def _agreed(made: Challenge) -> tuple[PlanVerdict | None, str]:
    against = contradictions(made.verdict, made.issues)
    return (None, against[0]) if against else (made.verdict, "" if made.verdict else "the review decides nothing")


def _keep(work: Work, call: str, verdict: PlanVerdict, content: str) -> None:
    """A review that was not sent through the tool is put where every review is."""
    number = len(reviews(work)) + 1
    role = work.project.config.agent_of("challenger")
    keep_review(work.home, work.state.run.name, call, role, verdict, content.strip(), number, work.project)


def _finish(work: Work, kept: Review) -> str:
    """The report of a review that agentd kept before it was killed; nothing if there can be none."""
    with suppress(AgentdError):
        return finish_review(work.home, work.state.run.name, kept, work.project)
    return ""
