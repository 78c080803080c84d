"""The review of an implementation: what its verdict is, what the evidence makes of it, and what happens next.

A reviewer's APPROVED is worth no more than what agentd saw of exactly the files that were reviewed.
"""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from agentd.engine.waves import Item
from agentd.families.change import advice, tasks
from agentd.families.change.challenge import contradicted, is_of_another
from agentd.git import trees
from agentd.model.evidence import Evidence, Status
from agentd.model.job import Reply
from agentd.model.run import Outcome, Run
from agentd.model.verdict import CODE_VERDICTS, CodeReview, Issue, overclaimed
from agentd.proof import blockers, record
from agentd.proof.blockers import Blocker
from agentd.review import ledger as convergence
from agentd.review import review_page
from agentd.review.code_places import ground
from agentd.runs import decisions
from agentd.state import durable
from agentd.state.codecs import OWN
from agentd.state.store import Store

if TYPE_CHECKING:
    from agentd.runs.work import Work

REVIEW, ROUNDS = "REVIEW.md", "reviews"
AGAIN = "review_again"
WORDS = tuple(verdict.lower() for verdict in CODE_VERDICTS)


def prepare(work: "Work") -> None:
    """What a reviewer finds: a report without a verdict, and the change as one text."""
    name = work.top.state.run.name
    work.write(REVIEW, review_page.skeleton(name, len(rounds(work)) + 1))
    if record.base(work):
        work.write("implementation.diff", trees.patch(work.cwd, record.base(work), record.tree(work)))


def judge_review(work: "Work", run: Run, reply: Reply, written: str) -> Outcome:
    """The verdict of a reviewer that ended; in doubt it is none. `written` says why REVIEW.md is not of this call."""
    assert run.intent is not None
    text, name = _text(work), work.top.state.run.name
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
    seen = str(record.part(work, "evidence").get("tree") or "")
    files = trees.hashes(work.cwd, seen, changed_paths(work, seen)) if seen else {}
    bound = review_page.finished(text, call=run.intent.call, tree=seen, files=files)
    work.write(REVIEW, bound)
    record.keep(work, review={"call": run.intent.call, "verdict": found.verdict, "sha256": _digest(_own(bound))})
    return Outcome(found.verdict.lower(), f"the reviewer says {found.verdict}")


def _none(why: str) -> Outcome:
    return Outcome("failed", f"{advice.REVIEW_VERDICT}: {why}")


def changed_paths(work: "Work", tree: str) -> list[str]:
    """The files that a tree has otherwise than the one the implementation began with."""
    base = record.base(work)
    return [one.path for one in trees.changes(work.cwd, base, tree)] if base and tree else []


def rounds(work: "Work") -> tuple[CodeReview, ...]:
    """The reviews there were, oldest first."""
    folder = work.home / ROUNDS
    paths = sorted(folder.glob("*.md")) if folder.is_dir() else []
    return tuple(_round(work, path) for path in paths)


def _round(work: "Work", path: Path) -> CodeReview:
    """One of the reviews, with what was found to be ungrounded in it then: its own text does not say so."""
    found = review_page.read(path.read_bytes().decode(errors="replace"))[0]
    why = record.part(work, "doubts").get(path.stem)
    doubts = [str(one) for one in why] if isinstance(why, list) and len(why) == len(found.issues) else []
    issues = (replace(issue, ungrounded=doubt) for issue, doubt in zip(found.issues, doubts, strict=True))
    return replace(found, issues=tuple(issues)) if doubts else found


def weigh_the_code(work: "Work") -> Outcome:
    """Whether the verdict counts, and if not, what is to be done about it."""
    problem = _unbound(work)
    if problem:
        work.say(f"⚠ {problem}: the review does not count")
        return Outcome("stale", problem)
    seen, _ = record.evidence(work)
    assert seen is not None
    found = _grounded(work, seen)
    standing_in_the_way = _blockers(work)
    word, why = _decide(work, found, standing_in_the_way)
    _finish(work, seen, found, standing_in_the_way, word, why)
    for line in _lines(work, found, word, why):
        work.say(line)
    _keep_round(work, found)
    work.note("verdict", {"approved": "APPROVED"}.get(word) or _not_approved(found))
    if word == "approved":
        _bind(work, seen, by="reviewer", call=found.call)
    return Outcome(word, why)


def _not_approved(found: CodeReview) -> str:
    return "NEEDS_CHANGES" if found.verdict == "APPROVED" else str(found.verdict)


def _decide(work: "Work", found: CodeReview, against: Sequence[Blocker]) -> tuple[str, str]:
    """What a verdict comes to with what stands in its way."""
    grounded = [one for one in found.issues if not one.ungrounded]
    only_harms = bool(against) and all(one.why == "harm" for one in against)
    told = "; ".join(one.text for one in against[:3])
    if only_harms and found.verdict != "MAJOR_ISSUES" and _is_for_a_person(work):
        return "waive", told
    if found.verdict == "APPROVED":
        return ("needs_changes", f"the reviewer says APPROVED, but {told}") if against else ("approved", "")
    if not grounded and not against:
        return "ungrounded", "nothing the review names is there"
    if found.verdict == "MAJOR_ISSUES":
        return "stop", told or f"MAJOR_ISSUES: {_first(grounded)}"
    stuck = convergence.converging(*_ledger(work, found))
    return ("stop", f"the loop does not converge: {stuck}") if stuck else ("needs_changes", told or _first(grounded))


def _is_for_a_person(work: "Work") -> bool:
    """Whether harm to the tests is put to a person now: at once if one is in the loop, else when repairing is exhausted."""
    config = work.project.config
    limit = int(config.get("workflow", "implementation_iterations"))
    return config.human_in_loop or work.state.run.counts.get("judge.needs_changes", 0) >= limit


def _first(issues: Sequence[Issue]) -> str:
    return issues[0].title or issues[0].description.splitlines()[0] if issues else ""


def _ledger(work: "Work", found: CodeReview) -> tuple[tuple[convergence.Entry, ...], list[tuple[Issue, ...]]]:
    """What became of every issue that was grounded, and the issues of each round."""
    made = [one for one in rounds(work) if work.parent or not one.call or one.call != found.call]
    issues = [tuple(issue for issue in one.issues if not issue.ungrounded) for one in (*made, found)]
    return convergence.ledger(issues), issues


def ledger(work: "Work") -> tuple[convergence.Entry, ...]:
    """What became of every issue of the reviews there were."""
    return convergence.ledger([tuple(issue for issue in one.issues if not issue.ungrounded) for one in rounds(work)])


def _unbound(work: "Work") -> str:
    """Why the review is not one of the files as they are, or nothing."""
    seen, problem = record.evidence(work)
    if seen is None:
        return problem
    if _digest(_own(_text(work))) != record.part(work, "review").get("sha256"):
        return f"{REVIEW} was changed after the reviewer wrote it"
    now = record.tree(work)
    if now == seen.tree:
        return ""
    names = [one.path for one in trees.changes(work.cwd, seen.tree, now)]
    return f"{', '.join(names[:5])} changed after the tests ran"


def _blockers(work: "Work") -> tuple[Blocker, ...]:
    left = tasks.every_task_is_done(work)
    return (*record.blockers(work), *([Blocker("none", "", left)] if left else []))


def _grounded(work: "Work", seen: Evidence) -> CodeReview:
    found = review_page.read(_text(work))[0]
    return replace(found, issues=ground(work, found.issues, seen.tree))


def _lines(work: "Work", found: CodeReview, word: str, why: str) -> list[str]:
    """What a person is told of a review and of what came of it."""
    doubts = [f"⚠ {doubt}" for doubt in _doubts(found)]
    issues = [f"  {line}" for line in convergence.table(_ledger(work, found)[0])]
    came = "✅ APPROVED, bound to the files as they are" if word == "approved" else f"❌ not approved: {why}"
    return [*doubts, *issues, came]


def _doubts(found: CodeReview) -> list[str]:
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
    return (*([claimed] if claimed else []), *(one.text for one in against), *_doubts(found))


def _finish(work: "Work", seen: Evidence, found: CodeReview, against: Sequence[Blocker], word: str, why: str) -> None:
    """REVIEW.md with what agentd saw, what it remarks and what came of it; the reviewer's words stay as they are."""
    decided = "approved" if word == "approved" else f"not approved: {why}"
    text = review_page.finished(
        _text(work),
        evidence=in_words(work, seen),
        remarks=remarks(seen, found, against),
        decision=decided,
        tree=found.tree,
        files=found.files,
    )
    work.write(REVIEW, text)


def _own(text: str) -> str:
    """A review without what agentd adds when it weighs it: the same before that and after, also where a kill cut it off."""
    had = review_page.read(text)[0]
    weighed = review_page.finished(text, decision="weighed", tree=had.tree, files=had.files)
    return review_page.finished(weighed, tree=had.tree, files=had.files)


def in_words(work: "Work", seen: Evidence) -> str:
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


def _keep_round(work: "Work", found: CodeReview) -> None:
    """A copy of the review, for the ledger; the same call is kept once."""
    made = rounds(work)
    again = made and made[-1].call and made[-1].call == found.call
    name = f"{len(made) if again else len(made) + 1:02}"
    durable.make_folder(work.home / ROUNDS)
    work.write(f"{ROUNDS}/{name}.md", _text(work))
    doubts = {**record.part(work, "doubts"), name: [one.ungrounded for one in found.issues]}
    record.keep(work, doubts=doubts)


def _bind(work: "Work", seen: Evidence, **details: str) -> None:
    paths = changed_paths(work, seen.tree)
    files = trees.hashes(work.cwd, seen.tree, paths)
    at = work.project.now()
    record.keep(work, approved={"at": at, **details, "tree": seen.tree, "files": files})


def take_stock(work: "Work") -> Outcome:
    """Where an implementation stands whose tasks are done, by its documents: to be reviewed, repaired, or weighed."""
    if tasks.open_tasks(work):
        record.keep(work, only=[])
        left = ", ".join(task.id for task in tasks.open_tasks(work))
        work.say(f"still open: {left}")
        return Outcome("open", left)
    found = review_page.read(_text(work))[0] if _text(work) else None
    if found is None or found.verdict is None:
        return Outcome("review", "nobody has reviewed it")
    if found.verdict != "APPROVED":
        return Outcome("resolve", f"the review says {found.verdict}")
    problem = _unbound(work) or ("" if found.files else "the approval names no files")
    if problem:
        work.say(f"⚠ the approval is stale: {problem}")
        return Outcome("review", problem)
    return Outcome("weigh", "it was approved")


def items(work: "Work") -> Sequence[Item]:
    """A complete change is looked at again: the time that was cut off, or the next one."""
    folder = work.store.folder / "children" / AGAIN
    last = max((int(path.parent.name) for path in folder.glob(f"[0-9]*/{OWN.file}")), default=0)
    over = last == 0 or Store(folder / str(last), OWN, "child").peek().run.result
    return [Item(str(last + 1 if over else last))]


def weigh_again(work: "Work") -> Outcome:
    """What a review of a complete change says; the change stays complete whatever that is."""
    problem = _unbound(work)
    if problem:
        return Outcome("refused", problem)
    seen, _ = record.evidence(work)
    assert seen is not None
    found, against = _grounded(work, seen), _blockers(work)
    word, why = _decide(work, found, against)
    _finish(work, seen, found, against, word, why)
    for line in _lines(work, found, word, why):
        work.say(line)
    if word == "approved":
        with work.top.guard:
            _bind(work, seen, by="reviewer", call=found.call)
    return Outcome("approved" if word == "approved" else "refused", why)


def accept_anyway(work: "Work") -> Outcome:
    """A person takes the implementation as it is: recorded with who and why, and it is no approval."""
    decision = decisions.answered(work, "stuck")
    if decision is None or decision.answer != "accept":
        raise work.store.corrupt("nobody has decided to take it as it is", "run", "step")
    seen, _ = record.evidence(work)
    if seen is not None:
        now = replace(seen, tree=record.tree(work))
        _bind(work, now, by=decision.by, why=decision.note, override=decision.id)
    text = _text(work)
    if text:
        said = f"taken as it is by {decision.by}, without an approval: {decision.note}"
        had = review_page.read(text)[0]
        whole = review_page.finished(
            text, decision=said, evidence=had.evidence, remarks=had.remarks, tree=had.tree, files=had.files
        )
        work.write(REVIEW, whole)
    work.say(f"⚠ {decision.by} takes it without an approval: {decision.note}")
    return Outcome("done", f"{decision.by}: {decision.note}")


def why(work: "Work") -> str:
    """What the last review came to, in the words of its report."""
    return review_page.read(_text(work))[0].decision


def _text(work: "Work") -> str:
    try:
        return (work.home / REVIEW).read_bytes().decode(errors="surrogateescape")
    except OSError:
        return ""


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogateescape")).hexdigest()
