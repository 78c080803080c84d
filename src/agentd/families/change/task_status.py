"""Whether tasks are done: their files decide, never the word of an agent. Statuses in tasks.md follow."""

from collections.abc import Mapping

from agentd.families.change.documents import tasks as document
from agentd.families.change.tasks import handed_out, part_tasks, read_tasks
from agentd.git import trees
from agentd.model.change import Task, TaskStatus
from agentd.model.run import Outcome
from agentd.proof import record
from agentd.proof.task_done import undone
from agentd.runs import decisions
from agentd.runs.work import Work


def every_task_is_done(work: Work) -> str:
    """Which tasks are not done, whatever their status says, or nothing."""
    found = read_tasks(work)
    if not found:
        return "tasks.md holds no task that can be read"
    if record.base(work):
        before, now = files(work)
        left = [task for task in found if not _is_waived(work, task)]
        problems = [(task, undone(task, before, now) or _unfinished(task, f"it is {task.status}")) for task in left]
    else:
        problems = [(task, _unfinished(task, "it has not been started")) for task in found]
    return "; ".join(f"task {task.id}: {why}" for task, why in problems if why)


def _unfinished(task: Task, why: str) -> str:
    return "" if task.status == "completed" else why


def _is_waived(work: Work, task: Task) -> bool:
    return f"task:{task.id}" in record.waived(work)


def files(work: Work) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The hashes of the files before the implementation, and of the files now."""
    return trees.hashes(work.cwd, record.base(work)), trees.hashes(work.cwd, record.tree(work))


def begin_tasks(work: Work) -> None:
    """Set the pending tasks that an agent is about to get to in_progress."""
    set_status(work, {task.id: "in_progress" for task in handed_out(work) if task.status == "pending"})


def settle_ticks(work: Work, before: Mapping[str, TaskStatus]) -> None:
    """Keep the statuses that an agent changed only where the files show that the task is done; restore the others."""
    now = {task.id: task for task in read_tasks(work)}
    own = ("in_progress",)  # what agentd itself has set since
    ticked = [now[name] for name, was in before.items() if name in now and now[name].status not in (was, *own)]
    if not ticked:
        return
    old, new = files(work)
    back: dict[str, TaskStatus] = {}
    for task in ticked:
        why = undone(task, old, new)
        if task.status != "completed" or why:
            back[task.id] = before[task.id]
        if task.status == "completed" and why:
            work.say(f"⚠ task {task.id} was ticked, but {why}: it is open again")
    set_status(work, back)


def statuses(work: Work) -> dict[str, TaskStatus]:
    return {task.id: task.status for task in read_tasks(work)}


def set_status(work: Work, new: Mapping[str, TaskStatus]) -> None:
    """Change the status of these tasks in tasks.md, and nothing else."""
    if not new:
        return
    text = work.read("tasks.md")
    for name, status in new.items():
        text = document.set_status(text, name, status)
    work.write("tasks.md", text)


def check_tasks(work: Work) -> Outcome:
    """Complete the tasks whose files show that they are done, and reopen the others, even those that an agent ticked."""
    before, now = files(work)
    mine = [task for task in part_tasks(work) if not _is_waived(work, task)]
    left = {task.id: _seen(work, task, undone(task, before, now)) for task in mine}
    done = [task.id for task in mine if task.status != "completed" and not left[task.id]]
    ticked = [task.id for task in mine if task.status == "completed" and left[task.id]]
    set_status(work, {**dict.fromkeys(done, "completed"), **dict.fromkeys(ticked, "pending")})
    for name in done:
        work.say(f"✓ task {name}")
    missing = [f"task {name}: {why}" for name, why in left.items() if why]
    for text in missing:
        work.say(f"⚠ {text}")
    return Outcome("open" if missing else "done", "; ".join(missing))


def left(work: Work) -> Mapping[str, str]:
    """Why each task is not done that an implementer was called for and left; empty if this is its first call."""
    if not work.state.run.counts.get("check_tasks.open"):
        return {}
    before, now = files(work)
    return {task.id: undone(task, before, now) for task in handed_out(work)}


def _seen(work: Work, task: Task, why: str) -> str:
    """Why a task is not done; says so if its file exists and git does not show it."""
    hidden = why.endswith("is not there") and (work.cwd / task.path).is_file()
    return f"{task.path} is there, but git ignores it or it is larger than 5 MB" if hidden else why


def waive_tasks(work: Work) -> Outcome:
    """Waive the tasks of this part that are not done, as a person decided: recorded with who and why."""
    before, now = files(work)
    # By their files, not by their status: after a kill they may be ticked already and not waived yet.
    left = [task for task in part_tasks(work) if undone(task, before, now)]
    said = decisions.answered(work, "unfinished")
    if said is None:
        raise work.store.corrupt("no decision waives a task", "run", "step")
    record.waive(work, said, {f"task:{task.id}": f"task {task.id}: {task.title}" for task in left})
    set_status(work, dict.fromkeys((task.id for task in left), "completed"))
    return Outcome("done")
