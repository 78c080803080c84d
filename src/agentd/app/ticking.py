"""A task that an agent says is done: believed where its file bears it out, refused with the reason where not."""

from agentd.app import implementing, tasking
from agentd.app.desk import Desk
from agentd.app.proving import read_tasks
from agentd.app.reading import work_of
from agentd.app.writing import Written
from agentd.checks.doing import undone
from agentd.documents import tasks as document
from agentd.documents.tasks.items import normal_id
from agentd.errors import AgentdError, NotFound, Refused


def finish_task(desk: Desk, task_id: str) -> Written:
    """Set the status of a task to completed if its file has changed."""
    work, path = work_of(desk), desk.path("tasks.md")
    wanted = normal_id(task_id)
    found = read_tasks(work)
    task = next((one for one in found if one.id == wanted), None)
    if task is None:
        raise NotFound(
            f"task_id: there is no task {wanted}.", f"one of: {', '.join(one.id for one in found) or 'none'}"
        )
    if not implementing.base(work):
        raise Refused("Nothing is being implemented, so no task can be finished.", "end your work here")
    try:
        before, now = tasking.files(work)
    except AgentdError:
        raise Refused("agentd cannot look at the files from here.", "go on: it looks when you have ended") from None
    why = undone(task, before, now)
    if why:
        raise Refused(f"Task {wanted} is not done: {why}.", f"do what it asks for in {task.path}, then call again")
    desk.write(path, document.set_status(desk.read(path), wanted, "completed"))
    left = [one.id for one in tasking.handed_out(work)]
    return Written(f"Task {wanted} is done. Left: {', '.join(left) or 'none'}.", desk.shown(path))
