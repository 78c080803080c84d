"""How the work in a workspace comes onto the branch of its run, or is put aside; after a kill it is finished from here."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentd.errors import AgentdError
from agentd.git import trees
from agentd.git.program import quoted
from agentd.landing import task
from agentd.landing.documents import CONFLICT, RED
from agentd.landing.queue import Verdict
from agentd.model.run import Outcome
from agentd.proof import evidence
from agentd.runs.work import Work
from agentd.state import durable
from agentd.workspaces.work_proof import begin, note_top

LANDED_TASKS = "landed_tasks"


def bring(work: Work, subject: str, files: Sequence[str] = ()) -> Outcome:
    """Bring the work of a workspace onto the branch of the run, proved together with what is there.

    `landed`; or `red` or `conflict`, with a workspace on top of what has landed and a document that says why.
    """

    def prove(place: Path) -> Verdict:
        word, note = evidence.prove(work, place)
        return Verdict(word == "green", note)

    outcome = task.land(work, prove, subject, files=files)
    if outcome.word == "landed":
        for name in (RED, CONFLICT):
            if (work.home / name).exists():
                durable.remove(work.home / name, "document")
        if work.parent is None:
            return _forget(work, outcome)
        _note_landed(work)
        return outcome
    now = task.workspace_of(work)
    if now is not None and work.cwd.is_dir():
        begin(work, trees.pruned(work.cwd, now.base, work.project.own_folders()))
    return outcome


def _note_landed(work: Work) -> None:
    """Keep with the run that a task landed: the file of the task's own run is not asked for that."""
    found = task.branch_of(work).landed()
    with work.top.guard:
        note_top(work, **{LANDED_TASKS: {**landed_tasks(work), work.item: found.get(work.item, "")}})


def landed_tasks(work: Work) -> Mapping[str, Any]:
    """The tasks that have landed, each with its commit, as the run keeps it."""
    known = work.top.state.fields.get(LANDED_TASKS)
    return known if isinstance(known, Mapping) else {}


def has_landed(work: Work, name: str) -> bool:
    """Whether a task is on the branch of the run, by the branch and by what the run keeps."""
    commit = landed_tasks(work).get(name)
    return bool(commit) and task.branch_of(work).landed().get(name) == commit


def refuse_lost(work: Work, again: str) -> None:
    """Refuse to go on where a task that landed is not on the branch any more; `again` is the command that does it again."""
    known = landed_tasks(work)
    if not known:
        return
    branch = task.branch_of(work)
    found = branch.landed()
    lost = [name for name in known if name not in found]
    if lost:
        raise AgentdError(
            f"{', '.join(lost)} landed on {branch.name}, which was moved since: it is not on it any more.",
            f"git -C {quoted(branch.root)} branch -f {branch.name} {branch.kept}   # or do it again: {again}",
        )


def is_over(work: Work) -> bool:
    """Whether the end of a landing is all that a kill left to do: the workspace is gone, or its run has given it up."""
    return is_closed(work) or task.is_cut_off(work)


def is_closed(work: Work) -> bool:
    """Whether the run itself has no workspace any more."""
    return work.parent is None and work.cwd == work.project.root


def close(work: Work, why: str) -> Outcome:
    """The workspace of the run has nothing to land. That is saved first: a removed workspace tells nothing."""
    outcome = _forget(work, Outcome("landed", why))
    work.keep("close", note=why)
    task.close_workspace(work)
    return outcome


def _forget(work: Work, outcome: Outcome) -> Outcome:
    """The run has no workspace of its own any more."""
    work.note("git", {})
    return outcome


def put_aside(work: Work) -> Outcome:
    """A task, or the run, is given up: its workspaces go, and all that was written in them is kept."""
    task.put_aside(work)
    return _forget(work, Outcome("done"))
