"""The end of a task: it lands when its verdicts are about exactly what lands, and only agentd calls it completed."""

from agentd.families.team import session, verdicts, workspaces
from agentd.model.run import Outcome
from agentd.runs import ports
from agentd.runs.work import Work
from agentd.workspaces import work_files, work_landing, work_proof

LOOPS = ("implement_each", "implement_all", "lean_implement")


def land(work: Work) -> Outcome:
    """Land reviewed work; `stale` if a verdict is missing, or is about other files than those that are there."""
    if work_landing.is_over(work):
        return workspaces.resume_landing(work)
    due = verdicts.due(work)
    if due:
        return Outcome("stale", f"{', '.join(due)} has not passed these files")
    untouched = work_files.is_untouched(work)
    if untouched and work.parent is None:
        return work_landing.close(work, "nothing was changed")
    if not work_proof.is_proved(work):
        return Outcome("stale", "the evidence is not about these files")
    return workspaces.bring(work)


def complete_tasks(work: Work) -> Outcome:
    """After the review of all tasks together, each is completed."""
    session.note(work, promoted=True)
    session.write_statuses(work, session.statuses(work))
    return Outcome("done")


def every_task_is_completed(work: Work) -> str:
    """Why the work is not all there, by the runs of the tasks and what landed, never by what tasks.yaml says."""
    wanted = [one.id for one in session.listed(work)]
    if not wanted:
        return "tasks.yaml has no tasks"
    results = {name: task_result(work, name) for name in wanted}
    passed = ("completed", "implemented") if work.top.state.fields.get("promoted") else ("completed",)
    missing = [f"{name} is {result or 'not done'}" for name, result in results.items() if result not in passed]
    missing += [f"{name} has not landed" for name in wanted if not work_landing.has_landed(work, name)]
    return "; ".join(missing)


def task_result(work: Work, name: str) -> str:
    """The last word of the run of a task, or nothing."""
    for step in LOOPS:
        store = ports.child_store(work.top, step, name)
        if store.exists():
            return store.peek().run.result
    return ""
