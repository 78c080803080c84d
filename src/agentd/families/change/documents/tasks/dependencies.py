"""The order in which tasks can be done, and circular dependencies."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush

from agentd.model.change import LAYERS, Task

_RANK = {layer: rank for rank, layer in enumerate(LAYERS)}


def order(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Tasks after those they depend on; among those that are ready, by layer and then in the order of the file."""
    first = {task.id: at for at, task in reversed(list(enumerate(tasks)))}
    needs = {at: {first[name] for name in task.depends if name in first} for at, task in enumerate(tasks)}
    sorter = TopologicalSorter(needs)
    try:
        sorter.prepare()
    except CycleError:
        found = cycles({task.id: task.depends for task in tasks})
        raise ValueError(next(found, "two tasks have the same id")) from None
    done: list[Task] = []
    ready: list[tuple[int, int]] = []
    while sorter.is_active():
        for at in sorter.get_ready():
            heappush(ready, (_RANK[tasks[at].layer], at))
        _, at = heappop(ready)
        done.append(tasks[at])
        sorter.done(at)
    return tuple(done)


def cycles(depends: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Circular dependencies, each told once and from its first task in the file."""
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


def _knotted(depends: Mapping[str, Sequence[str]]) -> list[str]:
    """The names that lie on a cycle or between two; all others are removed from both ends."""
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
    """The shortest cycle through a name; empty if there is none."""
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
