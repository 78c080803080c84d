"""The workspaces of a session: where its roles work, what they changed there, what proves it, and how it lands."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from agentd.errors import AgentdError
from agentd.families.team import session
from agentd.families.team.session_documents import Task
from agentd.git import trees
from agentd.git.checkout import find_checkout
from agentd.git.program import fields
from agentd.landing import task
from agentd.landing.documents import CONFLICT, RED
from agentd.landing.queue import Verdict
from agentd.model.decision import Decision
from agentd.model.evidence import Evidence
from agentd.model.run import Outcome
from agentd.patterns import regex
from agentd.proof import baseline, blockers, evidence, evidence_file, record
from agentd.proof.evidence import Planned
from agentd.proof.record import BASELINE, KEY
from agentd.runs.work import Work
from agentd.state import durable

BASELINES, BEGAN = "baselines", "began.json"
LONGEST_DIFF = 60_000
WORDS = {b"A": "added", b"M": "modified", b"D": "deleted", b"T": "modified"}
_LITERAL = regex(r"[^*?\[\]]+")


class Baselines:
    """What the project's commands said of files that tasks began with; tasks that begin with the same do not ask again."""

    def __init__(self) -> None:
        self.known: dict[str, Evidence] = {}

    def close(self) -> None:
        self.known.clear()


def open_workspace(work: Work) -> Outcome:
    """Make a workspace for a task, or for all of them together, and see how the project stands in it."""
    outcome = task.open_workspace(work)
    if outcome.word == "done":
        _begin(work, record.tree(work))
    return outcome


def _begin(work: Work, tree: str) -> None:
    kept = record.record(work).waivers
    work.note(KEY, {})
    record.keep(work, waivers=kept)
    baseline.set_out(work, tree)
    with work.top.guard:
        found = work.top.services.setdefault(BASELINES, Baselines())
    assert isinstance(found, Baselines)
    baseline.look(work, found.known.get(tree))
    seen, _ = record.evidence(work, BASELINE)
    if seen is not None:
        found.known[tree] = seen
        _keep_first(work.top, seen)


def _keep_first(top: Work, seen: Evidence) -> None:
    """Keep how the project stood when the session began: what is red at its end is held against that, and nothing later."""
    with top.guard:
        if not top.state.fields.get("began"):
            text = evidence_file.render(seen)
            top.write(BEGAN, text)
            session.note(top, began=sha256(text.encode()).hexdigest())


def began(work: Work) -> Evidence | None:
    """How the project stood when the session began, if the file is what agentd wrote."""
    top = work.top
    text = top.read(BEGAN)
    digest = sha256(text.encode(errors="surrogateescape")).hexdigest()
    return evidence_file.read(text, BEGAN) if text and digest == top.state.fields.get("began") else None


def refuse_checkout(work: Work) -> None:
    """Nothing is tested, reviewed or written in the person's checkout instead of a workspace."""
    if work.cwd == work.project.root:
        raise AgentdError(
            f"{work.state.run.step} has no workspace, and nothing is done in {work.project.root} instead.",
            f"agentd log {work.top.state.run.name}",
        )


def tree(work: Work) -> str:
    """The files of the workspace as they are now."""
    refuse_checkout(work)
    return record.tree(work)


def files(work: Work) -> str:
    """The files of the workspace, to be put back later; nothing where there is no workspace."""
    return tree(work) if work.cwd != work.project.root else ""


def mend(work: Work) -> None:
    """Repair what a role did to the repository of its workspace."""
    task.mend_repository(work)


def put_back(work: Work, before: str) -> tuple[str, ...]:
    """Make the files of the workspace what they were; gives those that were changed."""
    return trees.put_back(work.cwd, before, tree(work))


def branch_name(work: Work) -> str:
    """The branch that the tasks of the session land on; nothing before the first has a workspace."""
    return task.branch_of(work).name if task.has_begun(work) else ""


def changed_files(work: Work) -> list[dict[str, str]]:
    """Every file that the session changed, by any role: what is in this workspace, and what has landed since it was made."""
    branch = task.branch_of(work)
    mine = task.workspace_of(work)
    made_at = mine.base if mine else branch.start
    found = {entry["path"]: entry for entry in _entries(work.project.root, made_at, branch.tip())}
    if work.cwd != work.project.root:
        start = trees.pruned(work.cwd, branch.start, work.project.own_folders())
        found |= {entry["path"]: entry for entry in _entries(work.cwd, start, tree(work))}
    return [found[path] for path in sorted(found)]


def _entries(folder: Path, old: str, new: str) -> Iterator[dict[str, str]]:
    """The files that differ between two trees, renames told."""
    raw = iter(fields(folder, "diff-tree", "-r", "-z", "-M", "--relative", "--name-status", old, new))
    for letter in raw:
        path = trees.shown(next(raw))
        if letter[:1] in (b"R", b"C"):
            yield {"path": trees.shown(next(raw)), "change_type": "renamed", "old_path": path}
        else:
            yield {"path": path, "change_type": WORDS.get(letter[:1], "modified")}


def diff(work: Work) -> str:
    """The change to look at: that of the task, or of the whole session."""
    text = patch(work)
    return text if len(text) <= LONGEST_DIFF else f"{text[:LONGEST_DIFF]}\n… (cut; read the files)"


def patch(work: Work) -> str:
    """All of the change, however long it is."""
    if work.cwd == work.project.root:
        return ""
    start = record.base(work)
    if work.parent is None:
        start = trees.pruned(work.cwd, task.branch_of(work).start, work.project.own_folders())
    return trees.patch(work.cwd, start, tree(work))


def evidence_lines(work: Work) -> list[str]:
    """What agentd saw of the files as they are."""
    seen, _ = record.evidence(work)
    return [blockers.in_words(one) for one in seen.results] if seen else []


def examine(work: Work) -> Outcome:
    """Run the project's commands, audit what was done to its tests, and try new tests on the old code."""
    outcome = _examined(work)
    if outcome.word != "green":
        session.tried(work, f"agentd: {outcome.note or outcome.word}")
    return outcome


def _examined(work: Work) -> Outcome:
    if tree(work) == record.base(work):
        word = "green" if work.parent is None else "red"
        return Outcome(word, "nothing was changed in the workspace")
    ours = own_files(work)
    if ours:
        return Outcome("red", f"{', '.join(ours)} is agentd's own and no part of the work: take it back")
    word, unknown = evidence.gather(work, _planned(work))
    seen, _ = record.evidence(work)
    found = blockers.blockers(seen, record.evidence(work, BASELINE)[0], record.waived(work)) if seen else ()
    note = "; ".join(unknown or [one.text for one in found])[:1000]
    return Outcome({"green": "green", "unknown": "unknown", "harm": "harmed"}.get(word, "red"), note)


def own_files(work: Work) -> list[str]:
    """What was changed in the workspace in folders that are agentd's own."""
    ours = find_checkout(work.cwd, work.project.own_folders(), 0).away
    return [name for name in task.written(work) if any(name.startswith(f"{folder}/") for folder in ours)]


def _planned(work: Work) -> Planned:
    """The files that the plan names for the task, or for all of them."""
    one = session.task_of(work)
    listed: tuple[Task, ...] = (one,) if one else session.listed(work)
    return Planned(frozenset(path for each in listed for path in each.files_expected if _LITERAL.fullmatch(path)))


def accept_harm(work: Work) -> Outcome:
    return _accept(work, "harm")


def accept_unknown(work: Work) -> Outcome:
    return _accept(work, "unknown")


def _accept(work: Work, why: str) -> Outcome:
    """Waive what a person accepted: the findings of the kind that they were shown, and no others."""
    said = session.last_said(work)
    seen, problem = record.evidence(work)
    if said is None or seen is None:
        return Outcome("done", f"{problem or 'nothing was accepted'}: nothing is waived")
    found = blockers.blockers(seen, record.evidence(work, BASELINE)[0], record.waived(work))
    waive(work, said, {one.id: one.text for one in found if one.why == why})
    return Outcome("done")


def waive(work: Work, said: Decision, accepted: Mapping[str, str]) -> None:
    """Keep what a person did without, for this run and for the checks at the end of the session, as known issues too."""
    record.waive(work, said, accepted)
    with work.top.guard:
        session.note(work, waived=list(dict.fromkeys([*session.texts(work.top, "waived"), *accepted])))
    issues = [f"{session.task_id(work)}: {text} — accepted by {said.by} ({said.note})" for text in accepted.values()]
    session.add_known_issues(work, issues)


def is_proved(work: Work) -> bool:
    """Whether the evidence is green, and about the files as they are."""
    seen, _ = record.evidence(work)
    status = record.record(work).evidence
    return seen is not None and status is not None and status.status == "green" and seen.tree == tree(work)


def land_unreviewed(work: Work) -> Outcome:
    """Land what was written in a workspace, if anything was and it is proved."""
    if is_over(work):
        return resume_landing(work)
    if tree(work) == record.base(work):
        if work.parent is not None:
            return Outcome("red", "nothing was changed in the workspace")
        return close(work, "nothing was changed")
    if not is_proved(work):
        outcome = examine(work)
        if outcome.word != "green":
            work.write(RED, f"# {session.task_id(work)} did not land\n\n{outcome.note}\n")
            return Outcome("red", outcome.note)
    return bring(work)


def bring(work: Work) -> Outcome:
    """Bring the work of a workspace onto the branch of the session, proved together with what is there."""
    one = session.task_of(work)
    goal = str(work.top.state.fields.get("description") or "").split("\n")[0]
    subject = f"{one.id}: {one.title}" if one else f"{work.state.run.phase.lower().replace('_', ' ')}: {goal}"

    def prove(place: Path) -> Verdict:
        word, note = evidence.prove(work, place)
        return Verdict(word == "green", note)

    outcome = task.land(work, prove, subject, files=one.files_expected if one else ())
    if outcome.word == "landed":
        for name in (RED, CONFLICT):
            if (work.home / name).exists():
                durable.remove(work.home / name, "document")
        _note_landed(work)
        return _forget(work, outcome) if work.parent is None else outcome
    now = task.workspace_of(work)
    if now is not None and work.cwd.is_dir():
        _begin(work, trees.pruned(work.cwd, now.base, work.project.own_folders()))
    session.tried(work, f"landing: {outcome.note}")
    return outcome


def _note_landed(work: Work) -> None:
    """Keep with the session that a task landed: the file of the task's own run is not asked for that."""
    name, found = session.task_id(work), task.branch_of(work).landed()
    with work.top.guard:
        known = work.top.state.fields.get("landed_tasks")
        session.note(work, landed_tasks={**(known if isinstance(known, Mapping) else {}), name: found.get(name, "")})


def has_landed(work: Work, name: str) -> bool:
    """Whether a task is on the branch of the session, by the branch and by what the session keeps."""
    known = work.top.state.fields.get("landed_tasks")
    commit = known.get(name) if isinstance(known, Mapping) else ""
    return bool(commit) and task.branch_of(work).landed().get(name) == commit


def is_over(work: Work) -> bool:
    """Whether the end of a landing is all that a kill left to do: the workspace is gone, or its run has given it up."""
    return _is_closed(work) or task.is_cut_off(work)


def resume_landing(work: Work) -> Outcome:
    return close(work, "nothing was changed") if _is_closed(work) else bring(work)


def _is_closed(work: Work) -> bool:
    return work.parent is None and work.cwd == work.project.root


def close(work: Work, why: str) -> Outcome:
    """The workspace of the session has nothing to land. That is saved first: a removed workspace tells nothing."""
    outcome = _forget(work, Outcome("landed", why))
    work.keep("close", note=why)
    task.close_workspace(work)
    return outcome


def _forget(work: Work, outcome: Outcome) -> Outcome:
    """The session has no workspace of its own any more."""
    work.note("git", {})
    return outcome


def put_aside(work: Work) -> Outcome:
    """A task, or the session, is given up: its workspaces go, and all that was written in them is kept."""
    task.put_aside(work)
    work.note("git", {})
    return Outcome("done")


def tip(work: Work) -> str:
    return task.branch_of(work).tip()


def record_of(work: Work) -> dict[str, Any]:
    """Where the work of the session is."""
    branch = task.branch_of(work)
    return {"branch": branch.name, "commit": branch.tip(), "tasks": branch.landed()}
