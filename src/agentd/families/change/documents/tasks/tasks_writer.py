"""A tasks.md rendered from its value."""

from typing import Any

from agentd.families.change.documents.tasks.items import normal_id
from agentd.families.change.documents.tasks.task import OWN, spec_ref
from agentd.model.change import LAYERS, Task, Tasks, TaskStatus
from agentd.text import frontmatter, lossless_yaml, quoting


def render(document: Tasks) -> str:
    """A whole tasks.md, layer by layer; ValueError for a title that is not one line."""
    body = ["<tasks>\n"]
    for number, layer in enumerate(LAYERS, 1):
        members = [task for task in document.tasks if task.layer == layer]
        if members:
            body.append(f"## {number}. {layer.title()} Layer\n")
            body += [_render(task, number) for task in members]
    head = {
        "id": document.change_id,
        "change_id": document.change_id,
        "type": "tasks",
        "version": document.version,
        "created_at": document.created_at,
        "updated_at": document.updated_at,
        "proposal_ref": document.proposal_ref,
        **counts(document.tasks),
    }
    return frontmatter.write(head, "\n".join([*body, "</tasks>"]))


def counts(tasks: tuple[Task, ...]) -> dict[str, dict[str, Any]]:
    statuses = [task.status for task in tasks]
    names: tuple[TaskStatus, ...] = ("completed", "in_progress", "blocked", "pending")
    layers: dict[str, dict[str, int]] = {}
    for layer in LAYERS:
        paths = [task.path for task in tasks if task.layer == layer]
        if paths:
            layers[layer] = {"task_count": len(paths), "estimated_files": len(set(paths))}
    return {"summary": {"total": len(tasks), **{name: statuses.count(name) for name in names}}, "layers": layers}


def _render(task: Task, layer: int) -> str:
    block = {
        "id": task.id,
        "action": task.action,
        "status": task.status,
        "file": task.path,
        "spec_ref": spec_ref(task.spec_ref),
        "depends_on": list(map(normal_id, task.depends)),
    }
    try:
        title = quoting.escape_line(task.title)
    except ValueError as error:
        raise ValueError(f"the title of task {task.id} {error}") from None
    text = f"### Task {layer}.{task.number}: {title}\n\n```yaml\n{lossless_yaml.dump(block)}```\n"
    return f"{text}\n{quoting.escape(task.description, OWN)}\n" if task.description else text
