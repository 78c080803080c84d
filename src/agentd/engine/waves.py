"""Items with dependencies, each started as soon as what it depends on is done, on a bounded number of threads."""

import graphlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappop, heappush

from agentd.engine.decide import Stop
from agentd.errors import AgentdError
from agentd.values import dataclass

ASK_AGAIN = 1.0  # seconds
MOST_HELD = 50  # items that may be told to wait before the others have to wait for the next round


@dataclass(frozen=True)
class Item:
    """One thing an `each` step works through.

    files   the paths and patterns that it declares to write
    weight  how long it is expected to take, compared with the others
    """

    id: str
    depends: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    weight: int = 1


def waves(items: Iterable[Item]) -> tuple[tuple[str, ...], ...]:
    """The items by depth: what people call wave 1, 2, … Also the check for unknown and circular dependencies."""
    items = tuple(items)
    known = {item.id: place for place, item in enumerate(items)}
    for item in items:
        for other in item.depends:
            if other not in known:
                raise AgentdError(f"{item.id} depends on {other}, which does not exist.")
    if len(known) < len(items):
        twice = next(name for name, times in Counter(item.id for item in items).items() if times > 1)
        raise AgentdError(f"{twice} is listed twice.")
    sorter = graphlib.TopologicalSorter({item.id: item.depends for item in items})
    try:
        sorter.prepare()
    except graphlib.CycleError as error:
        raise AgentdError(f"Circular dependency detected: {' → '.join(reversed(error.args[1]))}") from None
    found = []
    while sorter.is_active():
        ready = sorter.get_ready()
        found.append(tuple(sorted(ready, key=known.__getitem__)))
        sorter.done(*ready)
    return tuple(found)


class Schedule:
    """Which item is next: the one that begins the longest path of items, by their weights, of those that may start.

    Equals go in the order listed. It knows no threads and no time.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        self._needs = {item.id: len(set(item.depends)) for item in items}
        self._after: dict[str, list[str]] = {item.id: [] for item in items}
        by_depth = waves(items)
        for item in items:
            for other in set(item.depends):
                self._after[other].append(item.id)
        weights, paths = {item.id: item.weight for item in items}, dict[str, int]()
        for wave in reversed(by_depth):
            for name in wave:
                paths[name] = weights[name] + max((paths[other] for other in self._after[name]), default=0)
        self._items = {item.id: (-paths[item.id], place, item) for place, item in enumerate(items)}
        self._ready: list[tuple[int, int, Item]] = []
        for name in by_depth[0] if by_depth else ():
            heappush(self._ready, self._items[name])

    def next(self) -> Item | None:
        """Take the next item, or None if none may start."""
        return heappop(self._ready)[2] if self._ready else None

    def put_back(self, item: Item) -> None:
        """It was taken, but does not start yet."""
        heappush(self._ready, self._items[item.id])

    def done(self, item: Item) -> None:
        """What depends on nothing else may start now."""
        for name in self._after[item.id]:
            self._needs[name] -= 1
            if not self._needs[name]:
                heappush(self._ready, self._items[name])


def work_through(
    items: Sequence[Item],
    work: Callable[[Item], Stop],
    forward: str,
    at_once: int,
    stopping: Callable[[], bool],
    may_begin: Callable[[Item, Sequence[Item]], str] = lambda item, under_way: "",
) -> Mapping[str, Stop]:
    """How each started item stopped; what depends on one that did not finish forward is not started.

    `may_begin` says why an item has to wait beside those under way; it is asked again when one ends and every second, in
    turns if many wait. The first exception is raised once the items under way are over.
    """
    from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

    schedule, at_once = Schedule(items), max(1, at_once)
    stops: dict[str, Stop] = {}
    held: list[Item] = []
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        under_way: dict[Future[Stop], Item] = {}
        trouble: BaseException | None = None
        while True:
            told = 0
            going = not (trouble or stopping())
            while going and told < MOST_HELD and len(under_way) < at_once and (item := schedule.next()):
                if under_way and may_begin(item, tuple(under_way.values())):
                    held.append(item)
                    told += 1
                else:
                    under_way[pool.submit(work, item)] = item
            if not under_way:
                break
            over = wait(under_way, ASK_AGAIN if held else None, FIRST_COMPLETED).done
            for future in [future for future in under_way if future in over]:
                item = under_way.pop(future)
                error = future.exception()
                if error is None:
                    stops[item.id] = future.result()
                    if stops[item.id] == Stop("finished", forward):
                        schedule.done(item)
                trouble = trouble or error
            if told < MOST_HELD or not under_way:
                for item in held:
                    schedule.put_back(item)
                held.clear()
    if trouble is not None:
        raise trouble
    return stops
