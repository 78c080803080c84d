"""The tool by which an agent reports a task as done: accepted if the file of the task has changed, else refused."""

from agentd.errors import AgentdError, NotFound, Refused
from agentd.families.change import task_status, tasks
from agentd.families.change.documents import tasks as document
from agentd.families.change.documents.tasks.items import normal_id
from agentd.proof import record
from agentd.proof.task_done import undone
from agentd.runs.call_scope import Desk, work_of
from agentd.runs.tool_result import Written


def finish_task(desk: Desk, task_id: str) -> Written:
    """Set the status of a task to completed if its file has changed."""
    work, path = work_of(desk), desk.path("tasks.md")
    wanted = normal_id(task_id)
    found = tasks.read_tasks(work)
    task = next((one for one in found if one.id == wanted), None)
    if task is None:
        raise NotFound(
            f"task_id: there is no task {wanted}.", f"one of: {', '.join(one.id for one in found) or 'none'}"
        )
    if not record.base(work):
        raise Refused("Nothing is being implemented, so no task can be finished.", "end your work here")
    try:
        before, now = task_status.files(work)
    except AgentdError:
        raise Refused("agentd cannot look at the files from here.", "go on: it looks when you have ended") from None
    why = undone(task, before, now)
    if why:
        raise Refused(f"Task {wanted} is not done: {why}.", f"do what it asks for in {task.path}, then call again")
    desk.write(path, document.set_status(desk.read(path), wanted, "completed"))
    left = [one.id for one in tasks.handed_out(work)]
    return Written(f"Task {wanted} is done. Left: {', '.join(left) or 'none'}.", desk.shown(path))
