"""The tasks of a change as tasks.md has them: which are open, and in which parts they are implemented."""

import hashlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from agentd.engine.waves import Item
from agentd.errors import UsageError
from agentd.families.change import QUICK, specs
from agentd.families.change.documents import tasks as document
from agentd.families.change.documents.tasks.items import normal_id
from agentd.families.change.documents.tasks.task_parts import Part, parts
from agentd.model.change import Task
from agentd.proof import record
from agentd.runs.ports import child_store
from agentd.runs.work import Work

ALL = "all"


def read_tasks(work: Work) -> tuple[Task, ...]:
    """The tasks of the change, as tasks.md has them now."""
    return document.listed(work.read("tasks.md"))


def planned_parts(work: Work) -> tuple[Part, ...]:
    """The parts to implement: the tasks of each spec, all tasks at once, or only those that a person named."""
    found = read_tasks(work)
    named = wanted(work)
    if named:
        chosen = tuple(task for task in document.order(found) if task.id in named)
        return (Part(f"tasks-{hashlib.sha256(' '.join(named).encode()).hexdigest()[:8]}", chosen),)
    small = work.top.state.fields.get("mode") == QUICK
    if small or not work.project.config.get("workflow", "sequential_implementation"):
        return (Part(ALL, document.order(found)),) if found else ()
    return parts(found, specs.affected(work.top))


def items(work: Work) -> Sequence[Item]:
    """One item a part, each after the one before it."""
    names = [part.id for part in planned_parts(work)]
    return [Item(name, tuple(names[at - 1 : at] if at else ())) for at, name in enumerate(names)]


def wanted(work: Work) -> tuple[str, ...]:
    """The ids of the only tasks that a person wants done now; empty if all are."""
    return record.record(work).only


def want(work: Work, ids: Sequence[str]) -> None:
    """Record which tasks a person wants done; an unknown id, or an open dependency, is a usage error."""
    known = [task.id for task in read_tasks(work)]
    asked = tuple(dict.fromkeys(normal_id(one) for one in ids))
    unknown = [one for one in asked if one not in known]
    if unknown:
        raise UsageError(f"There is no task {unknown[0]} in tasks.md.", f"one of: {', '.join(known)}")
    before = {need for task in read_tasks(work) if task.id in asked for need in task.depends}
    waiting = [task.id for task in open_tasks(work) if task.id in before - set(asked)]
    if waiting:
        raise UsageError(
            f"{', '.join(asked)} can only be done after {', '.join(waiting)}.",
            f"agentd impl {work.top.state.run.name} --tasks {','.join([*waiting, *asked])}",
        )
    record.keep(work, only=asked)


def part_tasks(work: Work) -> tuple[Task, ...]:
    """The tasks of the part that this run implements."""
    found = next((part for part in planned_parts(work) if part.id == work.item), None)
    return found.tasks if found else ()


def open_tasks(work: Work) -> tuple[Task, ...]:
    """The tasks that are not completed, in the order in which they can be done."""
    return tuple(task for task in document.order(read_tasks(work)) if task.status != "completed")


def handed_out(work: Work) -> tuple[Task, ...]:
    """The open tasks of the part that this run implements."""
    return tuple(task for task in part_tasks(work) if task.status != "completed")


def reopened(work: Work) -> tuple[str, ...]:
    """The parts that are finished although one of their tasks is open."""
    left = {task.id for task in open_tasks(work)}
    found = []
    for part in planned_parts(work):
        store = child_store(work, "implement", part.id)
        if store.exists() and store.peek().run.result and any(task.id in left for task in part.tasks):
            found.append(part.id)
    return tuple(found)


def tasks_are_open(work: Work) -> str:
    return "" if open_tasks(work) else "every task is done"


def tasks_of_part_are_open(work: Work) -> str:
    return "" if handed_out(work) else "every task of it is done"


def more_parts_follow(work: Work) -> str:
    """Why no tests have to run after this part, or nothing."""
    mine = {task.id for task in part_tasks(work)}
    return "" if any(task.id not in mine for task in open_tasks(work)) else "it is the last part"


def in_words(tasks: Sequence[Task], undone: Mapping[str, str] = MappingProxyType({})) -> str:
    """Tasks as a prompt lists them; `undone` has what is missing of those that the agent was called for before."""
    lines = []
    for task in tasks:
        lines.append(f"- {task.id} {task.title}: {task.action} {task.path} ({task.spec_ref})")
        lines += [f"  You ended without it: {undone[task.id]}; do it, call finish_task"] if undone.get(task.id) else []
        lines += [f"  {line}" for line in task.description.splitlines()]
    return "\n".join(lines) or "(none)"
