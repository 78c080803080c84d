"""The challenge of a plan: its verdict, what became of the issues, and what a person or the loop does next.

A verdict is a review block in proposal.md, or a structured review that becomes one. Anything unclear is no verdict.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from agentd import files
from agentd.errors import AgentdError
from agentd.families.change import PLAN, troubleshooting
from agentd.families.change.documents import proposal
from agentd.families.change.documents.proposal.review_blocks import visit
from agentd.families.change.review_tools import finish_review, ground, keep_review
from agentd.model.change import Review
from agentd.model.job import Reply
from agentd.model.run import Outcome, Run
from agentd.model.verdict import PLAN_VERDICTS, Challenge, PlanVerdict, contradictions, count, status_of
from agentd.review import challenge_page, issue_ledger
from agentd.review.issue_ledger import Entry
from agentd.review.reply_check import contradicted, is_of_another
from agentd.runs.work import Work
from agentd.state import durable

WORDS = tuple(verdict.lower() for verdict in PLAN_VERDICTS)


def reviews(work: Work) -> tuple[Review, ...]:
    """The review blocks of the proposal, oldest first."""
    return proposal.reviews(work.read("proposal.md"))


def put_reviews_back(work: Work, before: Sequence[Review], call: str = "") -> None:
    """Restore the reviews that the proposal had before a call, and keep the review of the call itself, if it is named."""
    text = work.read("proposal.md")
    now = proposal.reviews(text)
    mine = [review for review in now if call and review.call == call][-1:]
    # The review of a repeated attempt replaces that of the attempt before.
    due = [review for review in before if not mine or visit(review.call) != visit(mine[0].call)] + mine
    if not text or list(now) == due:
        return
    try:
        whole = proposal.with_reviews(text, due)
    except ValueError:
        return  # a review contradicts itself, which validation reports
    durable.replace(work.home / "proposal.md", whole.encode(errors="surrogateescape"), "document")
    work.say("⚠ the reviews in proposal.md were changed by the agent and have been restored")


def rounds(work: Work) -> tuple[Challenge, ...]:
    """The challenges so far, oldest first; only the issues of the last are grounded."""
    made = [challenge_page.from_review(work.top.state.run.name, review) for review in reviews(work)]
    if made:
        made[-1] = replace(made[-1], issues=ground(work.project, work.home, made[-1].issues))
    return tuple(made)


def entries(work: Work) -> tuple[Entry, ...]:
    """What became of every issue."""
    return issue_ledger.entries([made.issues for made in rounds(work)])


def judge_challenge(work: Work, run: Run, reply: Reply) -> Outcome:
    """The outcome of a challenger's call; a verdict that is in doubt is a failure, never an approval."""
    verdict, why = _verdict(work, run, reply)
    why = contradicted(verdict, WORDS, reply) if verdict else why
    if verdict is None or why:
        return Outcome("failed", f"{troubleshooting.VERDICT}: {why}")
    work.note("iteration", len(reviews(work)))
    return Outcome(verdict.lower(), in_words(rounds(work)[-1]))


def in_words(made: Challenge) -> str:
    """A challenge in one line."""
    if made.verdict == "APPROVED":
        return "✅ APPROVED - Ready for implementation!"
    if made.verdict == "REJECTED":
        return "❌ REJECTED - Fundamental problems"
    counts = ", ".join(f"{number} {severity.upper()}" for severity, number in count(made.issues).items())
    return f"⚠️ NEEDS_REVISION - Found {counts} severity issues"


def weigh(work: Work) -> Outcome:
    """Whether the loop revises the plan by itself: only if no person is in the loop, and while it makes progress."""
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
    """Why CHALLENGE.md is not a review, or nothing: the skeleton that a challenger starts from does not count."""
    empty = files.read(path).decode(errors="replace") == challenge_page.skeleton(work.top.state.run.name)
    return "no challenger has written it yet" if empty else ""


def restore_report(work: Work) -> bool:
    """Write CHALLENGE.md again from the last review if the file is gone; whether that was done."""
    if any(work.files("CHALLENGE.md")) or not reviews(work):
        return False
    return bool(_finish(work, reviews(work)[-1]))


def show_issues(work: Work) -> Outcome:
    """Say every issue that is not fixed."""
    for line in issue_lines(work):
        work.say(line)
    return Outcome("done")


def issue_lines(work: Work) -> list[str]:
    lines = [line for entry in entries(work) if entry.state != "fixed" for line in _issue(entry)]
    return lines or ["The review names no issue."]


def show_documents(work: Work) -> Outcome:
    """Say where the documents to read are, and the issues that are left."""
    work.say("To read:")
    for name in (*PLAN, "CHALLENGE.md"):
        for path in work.files(name):
            work.say(f"  {work.project.relative(path)}")
    return show_issues(work)


def _issue(entry: Entry) -> list[str]:
    issue = entry.issue
    where = issue.spec_reference or issue.location or issue.file_path
    doubt = f" (ungrounded: {issue.ungrounded})" if issue.ungrounded else ""
    head = f"  {entry.id} Severity: {issue.severity} [{entry.state}] {issue.title}".rstrip()
    lines = [f"{head}{f' ({where})' if where else ''}{doubt}"]
    lines.append(f"     Description: {' '.join(issue.description.split())}")
    if issue.suggestion:
        lines.append(f"     Suggestion: {' '.join(issue.suggestion.split())}")
    return lines


def _verdict(work: Work, run: Run, reply: Reply) -> tuple[PlanVerdict | None, str]:
    """The verdict of the review that this call wrote, wherever it put it; or None, and why there is none."""
    assert run.intent is not None
    call = run.intent.call
    report, skeleton = work.read("CHALLENGE.md"), challenge_page.skeleton(run.name)
    if reviews(work) and reviews(work)[-1].call == call:
        return _verdict_of_block(work, run.name, report, reply.text if report == skeleton else report)
    content = reply.text if report in ("", skeleton) else report
    made, findings = challenge_page.read(content)
    if made.verdict is None:
        return None, next((found.message for found in findings), "there is no review")
    if other := is_of_another(run.name, made.change_id):
        return None, other
    if not (made.summary.strip() or made.issues):
        return None, "the verdict comes without a review"
    verdict, why = _consistent(made)
    if verdict is None:
        return None, why
    reviewer = work.project.config.agent_of("challenger")
    try:
        mine = Review(status_of(verdict), len(reviews(work)) + 1, reviewer, content.strip(), call=call)
        keep_review(work.project, work.home, run.name, mine)
    except AgentdError as error:
        return None, error.message
    return verdict, ""


def _verdict_of_block(work: Work, name: str, report: str, written: str) -> tuple[PlanVerdict | None, str]:
    """The verdict of the latest review block; CHALLENGE.md, or the reply in its place, must say the same."""
    kept, (_, findings) = reviews(work)[-1], proposal.verdict(work.read("proposal.md"))
    if kept.content.strip() == written.strip():  # a kill came before the report was made from the block
        report = _finish(work, kept) or report
    mine = challenge_page.from_review(name, kept)
    told = challenge_page.read(report)[0].verdict
    if findings:
        return None, findings[0].message
    if other := is_of_another(name, challenge_page.read(kept.content)[0].change_id):
        return None, other
    if told != mine.verdict:
        return None, f"the review in proposal.md says {mine.verdict}, CHALLENGE.md says {told or 'nothing clear'}"
    return _consistent(mine)


def _consistent(made: Challenge) -> tuple[PlanVerdict | None, str]:
    against = contradictions(made.verdict, made.issues)
    return (None, against[0]) if against else (made.verdict, "" if made.verdict else "the review decides nothing")


def _finish(work: Work, kept: Review) -> str:
    """CHALLENGE.md written from a review block; nothing if the block contradicts itself."""
    with suppress(AgentdError):
        return finish_review(work.project, work.home, work.state.run.name, kept)
    return ""
