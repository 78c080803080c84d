"""In which order tasks can be done, and why some never can."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush

from agentd.model.change import LAYERS, Task

_RANK = {layer: rank for rank, layer in enumerate(LAYERS)}


def order(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Tasks after what they depend on; of those that are ready, by layer and then as they stand in the file."""
    done, rest = _peel(tasks)
    if rest:
        raise ValueError(next(cycles({task.id: task.depends for task in rest}), "two tasks have the same id"))
    return tuple(done)


def cycles(depends: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Each knot of dependencies once, told from the task of it that comes first."""
    place = {name: number for number, name in enumerate(depends)}
    told: set[str] = set()
    for name in _knotted(depends):
        if name in told:
            continue
        path = _way_back(name, depends)
        if path:
            start = min(range(len(path)), key=lambda at: place[path[at]])
            told.update(path)
            yield "Circular dependency detected: " + " → ".join([*path[start:], *path[:start], path[start]])


def _peel(tasks: Sequence[Task]) -> tuple[list[Task], list[Task]]:
    """Tasks in order, and those that wait for each other."""
    known = {task.id for task in tasks}
    waiting: dict[str, list[int]] = {}
    open_ends = []
    ready = []
    for index, task in enumerate(tasks):
        needs = {name for name in task.depends if name in known}
        open_ends.append(len(needs))
        for name in needs:
            waiting.setdefault(name, []).append(index)
        if not needs:
            ready.append((_RANK[task.layer], index))
    heapify(ready)
    done: list[Task] = []
    while ready:
        _, index = heappop(ready)
        done.append(tasks[index])
        for other in waiting.pop(tasks[index].id, ()):
            open_ends[other] -= 1
            if not open_ends[other]:
                heappush(ready, (_RANK[tasks[other].layer], other))
    return done, [task for index, task in enumerate(tasks) if open_ends[index]]


def _knotted(depends: Mapping[str, Sequence[str]]) -> list[str]:
    """The names without those that lead to no cycle and those that no cycle leads to."""
    waiting = {name: {other for other in needs if other in depends} for name, needs in depends.items()}
    for _ in range(2):
        reverse: dict[str, set[str]] = {name: set() for name in waiting}
        for name, needs in waiting.items():
            for other in needs:
                reverse[other].add(name)
        ready = [name for name, needs in waiting.items() if not needs]
        while ready:
            name = ready.pop()
            del waiting[name]
            for other in reverse.pop(name):
                waiting[other].discard(name)
                if not waiting[other]:
                    ready.append(other)
        waiting = reverse
    return [name for name in depends if name in waiting]


def _way_back(start: str, depends: Mapping[str, Sequence[str]]) -> list[str]:
    """The shortest way along dependencies from a name to itself; empty if there is none."""
    came: dict[str, str] = {}
    queue = deque([start])
    while queue:
        name = queue.popleft()
        for other in depends.get(name, ()):
            if other == start:
                path = [name]
                while path[-1] != start:
                    path.append(came[path[-1]])
                return path[::-1]
            if other not in came and other in depends:
                came[other] = name
                queue.append(other)
    return []
