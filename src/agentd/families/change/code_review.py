"""The reviews of an implementation: what a reviewer finds, what its call amounts to, and every round there was."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

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
    """What a reviewer finds: a report without a verdict, and the change as one text."""
    name = work.top.state.run.name
    work.write(REVIEW, review_page.skeleton(name, len(rounds(work)) + 1))
    if record.base(work):
        work.write("implementation.diff", trees.patch(work.cwd, record.base(work), record.tree(work)))


def judge_review(work: Work, run: Run, reply: Reply) -> Outcome:
    """The verdict of a reviewer that ended; in doubt it is none."""
    assert run.intent is not None
    text, name = work.read(REVIEW), work.top.state.run.name
    written = work.artifact(REVIEW)
    if written or text == review_page.skeleton(name, len(rounds(work)) + 1):
        text = reply.text
    found, problems = review_page.read(text)
    serious = next((one.message for one in problems if one.severity == "High"), "")
    if found.verdict is None:
        return _none(written or serious or "there is no verdict")
    if found.call and found.call != run.intent.call:
        return _none(f"REVIEW.md is that of the call {found.call}")
    against = is_of_another(name, found.change_id) or serious or contradicted(found.verdict, WORDS, reply)
    if against:
        return _none(against)
    known = record.record(work).evidence
    seen = known.tree if known else ""
    files = trees.hashes(work.cwd, seen, changed_paths(work, seen)) if seen else {}
    bound = review_page.finished(text, call=run.intent.call, tree=seen, files=files)
    work.write(REVIEW, bound)
    record.keep(work, review=Reviewed(run.intent.call, found.verdict, digest(bound)))
    return Outcome(found.verdict.lower(), f"the reviewer says {found.verdict}")


def _none(why: str) -> Outcome:
    return Outcome("failed", f"{troubleshooting.REVIEW_VERDICT}: {why}")


def changed_paths(work: Work, tree: str) -> list[str]:
    """The files that a tree has otherwise than the one the implementation began with."""
    base = record.base(work)
    return [one.path for one in trees.changes(work.cwd, base, tree)] if base and tree else []


def rounds(work: Work) -> tuple[CodeReview, ...]:
    """The reviews there were, oldest first."""
    folder = work.home / ROUNDS
    paths = sorted(folder.glob("*.md")) if folder.is_dir() else []
    return tuple(_round(work, path) for path in paths)


def _round(work: Work, path: Path) -> CodeReview:
    """One of the reviews, with what was found to be ungrounded in it then: its own text does not say so."""
    found = review_page.read(path.read_bytes().decode(errors="replace"))[0]
    why = record.record(work).doubts.get(path.stem, ())
    doubts = why if len(why) == len(found.issues) else ()
    issues = (replace(issue, ungrounded=doubt) for issue, doubt in zip(found.issues, doubts, strict=True))
    return replace(found, issues=tuple(issues)) if doubts else found


def keep_round(work: Work, found: CodeReview) -> None:
    """A copy of the review, for the ledger; the same call is kept once."""
    made = rounds(work)
    again = made and made[-1].call and made[-1].call == found.call
    name = f"{len(made) if again else len(made) + 1:02}"
    durable.make_folder(work.home / ROUNDS)
    work.write(f"{ROUNDS}/{name}.md", work.read(REVIEW))
    record.keep(work, doubts={**record.record(work).doubts, name: tuple(one.ungrounded for one in found.issues)})


def ledger(work: Work) -> tuple[Entry, ...]:
    """What became of every issue of the reviews there were."""
    return entries([grounded(one) for one in rounds(work)])


def grounded(found: CodeReview) -> tuple[Issue, ...]:
    """The issues of a review that are about something that is there."""
    return tuple(issue for issue in found.issues if not issue.ungrounded)


def doubts(found: CodeReview) -> list[str]:
    return [
        f"ungrounded, so it does not block: {one.title} ({one.ungrounded})" for one in found.issues if one.ungrounded
    ]


def remarks(seen: Evidence, found: CodeReview, against: Sequence[Blocker]) -> tuple[str, ...]:
    """What agentd has to say about a review."""
    tests = [one for one in seen.results if one.command.kind == "test"]
    counts = [one.counts for one in tests if one.counts]
    failed, total = sum(one.failed for one in counts), sum(one.total for one in counts)
    order: tuple[Status, ...] = ("red", "none", "unknown", "green")
    worst = next((word for word in order if any(one.status == word for one in tests)), order[2])
    claimed = overclaimed(found.tests, failed, total, worst)
    return (*([claimed] if claimed else []), *(one.text for one in against), *doubts(found))


def finish(work: Work, seen: Evidence, found: CodeReview, against: Sequence[Blocker], decided: str) -> None:
    """REVIEW.md with what agentd saw, what it remarks and what came of it; the reviewer's words stay as they are."""
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
    """The checksum of a review without what agentd adds when it weighs it: the same before that and after."""
    had = review_page.read(text)[0]
    weighed = review_page.finished(text, decision="weighed", tree=had.tree, files=had.files)
    own = review_page.finished(weighed, tree=had.tree, files=had.files)
    return sha256(own.encode(errors="surrogateescape")).hexdigest()


def in_words(work: Work, seen: Evidence) -> str:
    """The evidence as reviewers, implementers and people read it."""
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
    """The last lines of what did not pass."""
    return "\n".join(line for one in seen.results if one.status != "green" for line in one.output[-40:])


def why(work: Work) -> str:
    """What the last review came to, in the words of its report."""
    return review_page.read(work.read(REVIEW))[0].decision
