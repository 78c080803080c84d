"""The workspaces of a session: what proves the work of a role there, what a person accepts of it, and how it lands."""

from collections.abc import Mapping
from typing import Any

from agentd.families.team import session
from agentd.families.team.session_documents import Task
from agentd.landing import task
from agentd.landing.documents import RED
from agentd.model.decision import Decision
from agentd.model.run import Outcome
from agentd.patterns import regex
from agentd.proof import record
from agentd.proof.evidence import Planned
from agentd.runs.work import Work
from agentd.workspaces import work_landing, work_proof
from agentd.workspaces.work_files import is_untouched

_LITERAL = regex(r"[^*?\[\]]+")


def open_workspace(work: Work) -> Outcome:
    return work_proof.open_workspace(work)


def branch_name(work: Work) -> str:
    """The branch that the tasks of the session land on; nothing before the first has a workspace."""
    return task.branch_of(work).name if task.has_begun(work) else ""


def examine(work: Work) -> Outcome:
    """Look at the work of a workspace; what is not green is kept for the person who may be asked."""
    outcome = work_proof.examine(work, _planned(work))
    if outcome.word != "green":
        session.tried(work, f"agentd: {outcome.note or outcome.word}")
    return outcome


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
    waive(work, said, work_proof.findings(work, why))
    return Outcome("done")


def waive(work: Work, said: Decision, accepted: Mapping[str, str]) -> None:
    """Keep what a person did without, for this run and for the checks at the end of the session, as known issues too."""
    record.waive(work, said, accepted)
    with work.top.guard:
        session.note(work, waived=list(dict.fromkeys([*session.texts(work.top, "waived"), *accepted])))
    issues = [f"{session.task_id(work)}: {text} — accepted by {said.by} ({said.note})" for text in accepted.values()]
    session.add_known_issues(work, issues)


def land_unreviewed(work: Work) -> Outcome:
    """Land what was written in a workspace, if anything was and it is proved."""
    if work_landing.is_over(work):
        return resume_landing(work)
    if is_untouched(work):
        if work.parent is not None:
            return Outcome("red", "nothing was changed in the workspace")
        return work_landing.close(work, "nothing was changed")
    if not work_proof.is_proved(work):
        outcome = examine(work)
        if outcome.word != "green":
            work.write(RED, f"# {session.task_id(work)} did not land\n\n{outcome.note}\n")
            return Outcome("red", outcome.note)
    return bring(work)


def bring(work: Work) -> Outcome:
    """Bring the work of a workspace onto the branch of the session, under the name of its task or of its phase."""
    one = session.task_of(work)
    goal = str(work.top.state.fields.get("description") or "").split("\n")[0]
    subject = f"{one.id}: {one.title}" if one else f"{work.state.run.phase.lower().replace('_', ' ')}: {goal}"
    outcome = work_landing.bring(work, subject, one.files_expected if one else ())
    if outcome.word != "landed":
        session.tried(work, f"landing: {outcome.note}")
    return outcome


def resume_landing(work: Work) -> Outcome:
    return work_landing.close(work, "nothing was changed") if work_landing.is_closed(work) else bring(work)


def put_aside(work: Work) -> Outcome:
    """A task, or the session, is given up: its workspaces go, and all that was written in them is kept."""
    outcome = work_landing.put_aside(work)
    if work.parent is None:
        session.show_no_task(work)
    return outcome


def tip(work: Work) -> str:
    return task.branch_of(work).tip()


def record_of(work: Work) -> dict[str, Any]:
    """Where the work of the session is."""
    branch = task.branch_of(work)
    return {"branch": branch.name, "commit": branch.tip(), "tasks": branch.landed()}
