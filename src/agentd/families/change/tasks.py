"""The tasks of a change: which are open, in which parts they are done, and whether one is done. Nobody's word counts for that."""

import hashlib
from collections.abc import Mapping, Sequence

from agentd.engine.waves import Item
from agentd.errors import UsageError
from agentd.families.change import specs
from agentd.families.change.documents import tasks as document
from agentd.families.change.documents.tasks.items import normal_id
from agentd.families.change.documents.tasks.task_parts import Part, parts
from agentd.git import trees
from agentd.model.change import Task, TaskStatus
from agentd.model.run import Outcome
from agentd.proof import record
from agentd.proof.task_done import undone
from agentd.runs import decisions
from agentd.runs.ports import child_store
from agentd.runs.work import Work

ALL = "all"


def read_tasks(work: Work) -> tuple[Task, ...]:
    """The tasks of the change, as tasks.md has them now."""
    return document.listed(work.read("tasks.md"))


def planned_parts(work: Work) -> tuple[Part, ...]:
    """How the tasks are shared out: spec by spec, all at once, or only those a person named."""
    found = read_tasks(work)
    named = wanted(work)
    if named:
        chosen = tuple(task for task in document.order(found) if task.id in named)
        return (Part(f"tasks-{hashlib.sha256(' '.join(named).encode()).hexdigest()[:8]}", chosen),)
    if not work.project.config.get("workflow", "sequential_implementation"):
        return (Part(ALL, document.order(found)),) if found else ()
    return parts(found, specs.affected(work.top))


def items(work: Work) -> Sequence[Item]:
    """One item a part, each after the one before it."""
    names = [part.id for part in planned_parts(work)]
    return [Item(name, tuple(names[at - 1 : at] if at else ())) for at, name in enumerate(names)]


def wanted(work: Work) -> tuple[str, ...]:
    """The tasks a person wants done now and no others, by their ids; nothing if all are."""
    return record.record(work).only


def want(work: Work, ids: Sequence[str]) -> None:
    """Keep which tasks a person wants done; one that there is not is refused."""
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
    """The tasks of the part that this run is about."""
    found = next((part for part in planned_parts(work) if part.id == work.item), None)
    return found.tasks if found else ()


def open_tasks(work: Work) -> tuple[Task, ...]:
    """The tasks that nobody has finished, in the order in which they can be done."""
    return tuple(task for task in document.order(read_tasks(work)) if task.status != "completed")


def handed_out(work: Work) -> tuple[Task, ...]:
    """The open tasks of the part that this run is about."""
    return tuple(task for task in part_tasks(work) if task.status != "completed")


def reopened(work: Work) -> tuple[str, ...]:
    """The parts that are over although a task of theirs is open."""
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
    """Why nothing has to be tried between this part and what comes next, or nothing."""
    mine = {task.id for task in part_tasks(work)}
    return "" if any(task.id not in mine for task in open_tasks(work)) else "it is the last part"


def every_task_is_done(work: Work) -> str:
    """Which tasks are not done, whatever their status says, or nothing."""
    if not read_tasks(work):
        return "tasks.md holds no task that can be read"
    missing = [f"task {task.id}: {why}" for task, why in _problems(work, read_tasks(work)) if why]
    return "; ".join(missing)


def _problems(work: Work, tasks: Sequence[Task]) -> list[tuple[Task, str]]:
    """Each task with the reason why it is not done, nothing where it is or where a person did without."""
    if not record.base(work):
        return [(task, "" if task.status == "completed" else "nobody has begun with it") for task in tasks]
    before, now = files(work)
    without = record.waived(work)
    return [(task, "" if f"task:{task.id}" in without else _problem(task, before, now)) for task in tasks]


def _problem(task: Task, before: Mapping[str, str], now: Mapping[str, str]) -> str:
    why = undone(task, before, now)
    return why or ("" if task.status == "completed" else f"it is {task.status}")


def files(work: Work) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The files the implementation began with and those there are now, each with its hash."""
    return trees.hashes(work.cwd, record.base(work)), trees.hashes(work.cwd, record.tree(work))


def begin_tasks(work: Work) -> None:
    """The tasks that an agent is given now are under way."""
    set_status(work, {task.id: "in_progress" for task in handed_out(work) if task.status == "pending"})


def settle_ticks(work: Work, before: Mapping[str, TaskStatus]) -> None:
    """What an agent ticked counts where its files bear it out; the status of every other task is what it was."""
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
    text = (work.home / "tasks.md").read_bytes().decode(errors="surrogateescape")
    for name, status in new.items():
        text = document.set_status(text, name, status)
    work.write("tasks.md", text)


def check_tasks(work: Work) -> Outcome:
    """Tick the tasks whose files bear it out; the others are still to be done, also those that an agent has ticked."""
    before, now = files(work)
    mine = [task for task in part_tasks(work) if f"task:{task.id}" not in record.waived(work)]
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


def _seen(work: Work, task: Task, why: str) -> str:
    """Why a task is not done; a file that is there and that git does not show is told as that."""
    hidden = why.endswith("is not there") and (work.cwd / task.path).is_file()
    return f"{task.path} is there, but git ignores it or it is larger than 5 MB" if hidden else why


def waive_tasks(work: Work) -> Outcome:
    """A person does without the rest of these tasks: recorded with who and why."""
    before, now = files(work)
    # By their files, not by their status: a kill after they were ticked must not lose the waiver.
    left = [task for task in part_tasks(work) if undone(task, before, now)]
    said = decisions.answered(work, "unfinished")
    if said is None:
        raise work.store.corrupt("nobody has waived a task", "run", "step")
    record.waive(work, said, {f"task:{task.id}": f"task {task.id}: {task.title}" for task in left})
    set_status(work, dict.fromkeys((task.id for task in left), "completed"))
    return Outcome("done")


def in_words(tasks: Sequence[Task]) -> str:
    """Tasks as an agent is given them."""
    lines = []
    for task in tasks:
        lines.append(f"- {task.id} {task.title}: {task.action} {task.path} ({task.spec_ref})")
        lines += [f"  {line}" for line in task.description.splitlines()]
    return "\n".join(lines) or "(none)"
