"""The tasks grouped into parts, one for each spec, in an order in which they can be done."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count

from agentd.families.change.documents.tasks.dependencies import order
from agentd.model.change import Task
from agentd.values import dataclass

_WITHOUT_SPEC = "change"


@dataclass(frozen=True)
class Part:
    """Tasks that are implemented together: those of a spec, or as many of them as are possible by then."""

    id: str
    tasks: tuple[Task, ...]


def parts(tasks: Sequence[Task], specs: Sequence[str]) -> tuple[Part, ...]:
    """A part for each spec, in the given order but after the specs it depends on; each task is in exactly one part.

    Specs that depend on each other are split into several parts: `auth`, `users`, `auth-2`. Specs that are not given come
    after those that are, and tasks without a spec come last, in a part called `change`.
    """
    in_order = order(tasks)
    waiting = {task.id: _spec(task) for task in in_order}
    if len(waiting) < len(tasks):
        raise ValueError("two tasks have the same id")
    left = _by_spec(in_order, (*specs, *map(_spec, tasks)))
    names = frozenset(left)
    found: list[Part] = []
    while left:
        able = {spec: _able(some, waiting) for spec, some in left.items()}
        near = _needed(next(iter(left)), left, waiting)
        whole = [spec for spec in left if spec in near and len(able[spec]) == len(left[spec])]
        spec = next(spec for spec in (*whole, *left) if spec in near and able[spec])
        found.append(Part(_name(spec, names, {part.id for part in found}), order(able[spec])))
        for task in able[spec]:
            del waiting[task.id]
        left[spec] = [task for task in left[spec] if task.id in waiting]
        if not left[spec]:
            del left[spec]
    return tuple(found)


def _by_spec(tasks: Sequence[Task], specs: Iterable[str]) -> dict[str, list[Task]]:
    """The tasks of each spec, in the order of the specs; those without a spec are last, under an empty name."""
    found: dict[str, list[Task]] = {spec: [] for spec in (*filter(None, specs), "")}
    for task in tasks:
        found[_spec(task)].append(task)
    return {spec: some for spec, some in found.items() if some}


def _spec(task: Task) -> str:
    return task.spec_ref.rpartition(":")[0]


def _able(tasks: Sequence[Task], waiting: Collection[str]) -> list[Task]:
    """The tasks of a spec that can be done, one after the other, before all those that wait."""
    done: set[str] = set()
    found = []
    for task in tasks:
        if all(name in done or name not in waiting for name in task.depends):
            done.add(task.id)
            found.append(task)
    return found


def _needed(spec: str, left: Mapping[str, Sequence[Task]], waiting: Mapping[str, str]) -> set[str]:
    """A spec and all specs that it waits for, directly or not."""
    found: set[str] = set()
    after = [spec]
    while after:
        one = after.pop()
        if one not in found:
            found.add(one)
            after += [waiting[name] for task in left[one] for name in task.depends if name in waiting]
    return found


def _name(spec: str, specs: Collection[str], used: Collection[str]) -> str:
    """The name of a part: that of its spec, with a number from the second part on; never that of another spec."""
    if spec and spec not in used:
        return spec
    stem = spec or _WITHOUT_SPEC
    tries = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
    return next(name for name in tries if name not in used and name not in specs)
