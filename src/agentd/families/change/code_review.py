"""The reviews of an implementation: what a reviewer gets, what its call comes to, and all rounds so far."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from agentd import files
from agentd.families.change import troubleshooting
from agentd.git import trees
from agentd.model.evidence import Evidence, Status
from agentd.model.job import Reply
from agentd.model.run import Outcome, Run
from agentd.model.verdict import CODE_VERDICTS, CodeReview, Issue, overclaimed
from agentd.proof import blockers, record
from agentd.proof.blockers import Blocker
from agentd.proof.record import Reviewed
from agentd.review import review_page
from agentd.review.issue_ledger import Entry, entries
from agentd.review.reply_check import contradicted, is_of_another
from agentd.runs.work import Work
from agentd.state import durable

REVIEW, ROUNDS = "REVIEW.md", "reviews"
WORDS = tuple(verdict.lower() for verdict in CODE_VERDICTS)


def prepare(work: Work) -> None:
    """Write what a reviewer gets: a report without a verdict, and the diff of the change."""
    name = work.top.state.run.name
    work.write(REVIEW, review_page.skeleton(name, len(rounds(work)) + 1))
    if record.base(work):
        work.write("implementation.diff", trees.patch(work.cwd, record.base(work), record.tree(work)))


def judge_review(work: Work, run: Run, reply: Reply) -> Outcome:
    """The outcome of a reviewer's call; a verdict that is in doubt is a failure, never an approval."""
    assert run.intent is not None
    text, name = work.read(REVIEW), work.top.state.run.name
    written = work.artifact(REVIEW)
    if written or text == review_page.skeleton(name, len(rounds(work)) + 1):
        text = reply.text
    found, problems = review_page.read(text)
    serious = next((one.message for one in problems if one.severity == "High"), "")
    if found.verdict is None:
        why = written or serious or "there is no verdict"
    elif found.call and found.call != run.intent.call:
        why = f"REVIEW.md is that of the call {found.call}"
    else:
        why = is_of_another(name, found.change_id) or serious or contradicted(found.verdict, WORDS, reply)
    if found.verdict is None or why:
        return Outcome("failed", f"{troubleshooting.REVIEW_VERDICT}: {why}")
    known = record.record(work).evidence
    seen = known.tree if known else ""
    files = trees.hashes(work.cwd, seen, changed_paths(work, seen)) if seen else {}
    bound = review_page.finished(text, call=run.intent.call, tree=seen, files=files)
    work.write(REVIEW, bound)
    record.keep(work, review=Reviewed(run.intent.call, found.verdict, digest(bound)))
    return Outcome(found.verdict.lower(), f"the reviewer says {found.verdict}")


def changed_paths(work: Work, tree: str) -> list[str]:
    """The files that differ between the base of the implementation and a tree."""
    base = record.base(work)
    return [one.path for one in trees.changes(work.cwd, base, tree)] if base and tree else []


def rounds(work: Work) -> tuple[CodeReview, ...]:
    """The reviews so far, oldest first."""
    folder = work.home / ROUNDS
    paths = sorted(folder.glob("*.md")) if folder.is_dir() else []
    return tuple(_round(work, path) for path in paths)


def _round(work: Work, path: Path) -> CodeReview:
    """One review, with the reasons why its issues were ungrounded then; its own text does not have them."""
    found = review_page.read(files.read(path).decode(errors="replace"))[0]
    why = record.record(work).doubts.get(path.stem, ())
    doubts = why if len(why) == len(found.issues) else ()
    issues = (replace(issue, ungrounded=doubt) for issue, doubt in zip(found.issues, doubts, strict=True))
    return replace(found, issues=tuple(issues)) if doubts else found


def keep_round(work: Work, found: CodeReview) -> None:
    """Keep a copy of the review for the ledger, one for each call."""
    made = rounds(work)
    again = made and made[-1].call and made[-1].call == found.call
    name = f"{len(made) if again else len(made) + 1:02}"
    durable.make_folder(work.home / ROUNDS)
    work.write(f"{ROUNDS}/{name}.md", work.read(REVIEW))
    record.keep(work, doubts={**record.record(work).doubts, name: tuple(one.ungrounded for one in found.issues)})


def ledger(work: Work) -> tuple[Entry, ...]:
    """What became of every issue."""
    return entries([grounded(one) for one in rounds(work)])


def grounded(found: CodeReview) -> tuple[Issue, ...]:
    """The issues of a review that are about existing code."""
    return tuple(issue for issue in found.issues if not issue.ungrounded)


def doubts(found: CodeReview) -> list[str]:
    return [
        f"ungrounded, so it does not block: {one.title} ({one.ungrounded})" for one in found.issues if one.ungrounded
    ]


def remarks(seen: Evidence, found: CodeReview, against: Sequence[Blocker]) -> tuple[str, ...]:
    """agentd's remarks about a review: what it overclaims, what blocks, what is ungrounded."""
    tests = [one for one in seen.results if one.command.kind == "test"]
    counts = [one.counts for one in tests if one.counts]
    failed, total = sum(one.failed for one in counts), sum(one.total for one in counts)
    order: tuple[Status, ...] = ("red", "none", "unknown", "green")
    worst = next((word for word in order if any(one.status == word for one in tests)), order[2])
    claimed = overclaimed(found.tests, failed, total, worst)
    return (*([claimed] if claimed else []), *(one.text for one in against), *doubts(found))


def finish(work: Work, seen: Evidence, found: CodeReview, against: Sequence[Blocker], decided: str) -> None:
    """Add to REVIEW.md what agentd saw, its remarks and the decision; the reviewer's text stays as it is."""
    text = review_page.finished(
        work.read(REVIEW),
        evidence=in_words(work, seen),
        remarks=remarks(seen, found, against),
        decision=decided,
        tree=found.tree,
        files=found.files,
    )
    work.write(REVIEW, text)


def digest(text: str) -> str:
    """The checksum of a review without agentd's additions: the same before and after it is judged."""
    had = review_page.read(text)[0]
    judged = review_page.finished(text, decision="judged", tree=had.tree, files=had.files)
    own = review_page.finished(judged, tree=had.tree, files=had.files)
    return sha256(own.encode(errors="surrogateescape")).hexdigest()


def in_words(work: Work, seen: Evidence) -> str:
    """The evidence in words, for prompts and for REVIEW.md."""
    lines = [f"Seen by agentd on tree {seen.tree[:12]}:"]
    for one in seen.results:
        lines.append(f"- `{one.command.name}`: {blockers.in_words(one)} ({one.seconds:.1f} s)")
        failing = [case for case in one.cases if case.status == "failed"]
        lines += [f"  - {case.name}" + (f" ({case.file}:{case.line})" if case.file else "") for case in failing[:20]]
    lines += [f"- on the old code `{one.command.name}`: {blockers.in_words(one)}" for one in seen.before]
    without = record.waived(work)
    for harm in seen.harms:
        waived = " (waived by a person)" if harm.id in without else ""
        lines.append(f"- {harm.id} {harm.file}{f':{harm.line}' if harm.line else ''}: {harm.message}{waived}")
    return "\n".join(lines)


def failing_output(seen: Evidence) -> str:
    """The last lines that each command printed which is not green."""
    return "\n".join(line for one in seen.results if one.status != "green" for line in one.output[-40:])


def why(work: Work) -> str:
    """The decision about the last review, as its report states it."""
    return review_page.read(work.read(REVIEW))[0].decision
