"""Items with dependencies, each started as soon as what it depends on is done, on a bounded number of threads."""

import graphlib
from collections.abc import Callable, Iterable, Mapping, Sequence

from agentd.engine.decide import Stop
from agentd.errors import AgentdError
from agentd.values import dataclass

ASK_AGAIN = 1.0  # seconds


@dataclass(frozen=True)
class Item:
    """One thing an `each` step works through; `files` are the paths and patterns that it declares to write."""

    id: str
    depends: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def waves(items: Iterable[Item]) -> tuple[tuple[str, ...], ...]:
    """The items by depth: what people call wave 1, 2, … Also the check for unknown and circular dependencies."""
    items = tuple(items)
    known = [item.id for item in items]
    for item in items:
        for other in item.depends:
            if other not in known:
                raise AgentdError(f"{item.id} depends on {other}, which does not exist.")
    if len(set(known)) < len(known):
        twice = next(name for name in known if known.count(name) > 1)
        raise AgentdError(f"{twice} is listed twice.")
    sorter = graphlib.TopologicalSorter({item.id: item.depends for item in items})
    try:
        sorter.prepare()
    except graphlib.CycleError as error:
        raise AgentdError(f"Circular dependency detected: {' → '.join(reversed(error.args[1]))}") from None
    found = []
    while sorter.is_active():
        ready = sorter.get_ready()
        found.append(tuple(sorted(ready, key=known.index)))
        sorter.done(*ready)
    return tuple(found)


def ready(items: Sequence[Item], done: set[str], begun: set[str]) -> list[Item]:
    """What may start now, in the order listed."""
    return [item for item in items if item.id not in begun and done.issuperset(item.depends)]


def work_through(
    items: Sequence[Item],
    work: Callable[[Item], Stop],
    forward: str,
    at_once: int,
    stopping: Callable[[], bool],
    may_begin: Callable[[Item, Sequence[Item]], str] = lambda item, under_way: "",
) -> Mapping[str, Stop]:
    """How each started item stopped; what depends on one that did not finish forward is not started.

    `may_begin` says why an item has to wait beside those under way; it is asked again when one ends and every second. The
    first exception is raised once the items under way are over.
    """
    from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

    waves(items)
    stops: dict[str, Stop] = {}
    begun: set[str] = set()
    with ThreadPoolExecutor(max_workers=max(1, at_once)) as pool:
        under_way: dict[Future[Stop], Item] = {}
        trouble: BaseException | None = None
        while True:
            done = {name for name, stop in stops.items() if stop == Stop("finished", forward)}
            held = False
            for item in ready(items, done, begun) if not (trouble or stopping()) else ():
                if len(under_way) >= max(1, at_once):
                    break
                if under_way and may_begin(item, tuple(under_way.values())):
                    held = True
                    continue
                begun.add(item.id)
                under_way[pool.submit(work, item)] = item
            if not under_way:
                break
            for future in wait(under_way, ASK_AGAIN if held else None, FIRST_COMPLETED).done:
                item = under_way.pop(future)
                error = future.exception()
                if error is None:
                    stops[item.id] = future.result()
                trouble = trouble or error
    if trouble is not None:
        raise trouble
    return stops
