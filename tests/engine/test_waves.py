"""Items by depth, and items at work: as soon as they may, never too many at once, never one after a failure it needs."""

import itertools
import threading
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.engine.decide import Stop, Why
from agentd.engine.waves import MOST_HELD, Item, Schedule, waves, work_through
from agentd.errors import AgentdError

DONE = Stop("finished", "done")
PATIENCE = 10
DIAMOND = (Item("a"), Item("b", ("a",)), Item("c", ("a",)), Item("d", ("b", "c")))


class Log:
    """What started and finished, in order, and how many were at work at the same time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.lines: list[str] = []
        self.running = self.most = 0

    def begin(self, item: Item) -> None:
        with self.lock:
            self.lines.append(f"begin {item.id}")
            self.running += 1
            self.most = max(self.most, self.running)

    def end(self, item: Item) -> None:
        with self.lock:
            self.lines.append(f"end {item.id}")
            self.running -= 1

    @property
    def begun(self) -> list[str]:
        return [line.removeprefix("begin ") for line in self.lines if line.startswith("begin ")]

    def work(self, item: Item) -> Stop:
        self.begin(item)
        self.end(item)
        return DONE


def never() -> bool:
    return False


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Item, ...]:
    """Any acyclic graph of up to ten items of any weights, listed in any order."""
    ids = [f"t{number}" for number in range(draw(st.integers(0, 10)))]
    items = []
    for place, name in enumerate(ids):
        depends = draw(st.lists(st.sampled_from(ids[:place]), unique=True, max_size=3)) if place else ()
        items.append(Item(name, tuple(depends), weight=draw(st.integers(1, 5))))
    return tuple(draw(st.permutations(items)))


def after(items: Sequence[Item], names: set[str]) -> set[str]:
    """Everything that depends on one of these, over however many others."""
    found: set[str] = set()
    while grown := {item.id for item in items if (found | names) & set(item.depends)} - found:
        found |= grown
    return found


def test_a_wave_is_everything_of_one_depth() -> None:
    assert waves(DIAMOND) == (("a",), ("b", "c"), ("d",))


def test_a_wave_keeps_the_order_in_which_its_items_are_listed() -> None:
    assert waves([Item("z"), Item("m", ("z",)), Item("b", ("z",)), Item("a")]) == (("z", "a"), ("m", "b"))


def test_nothing_has_no_waves() -> None:
    assert waves([]) == ()


def test_a_dependency_named_twice_is_one_dependency() -> None:
    assert waves([Item("a"), Item("b", ("a", "a"))]) == (("a",), ("b",))


def test_an_unknown_dependency_is_refused_by_name() -> None:
    with pytest.raises(AgentdError, match=r"^b depends on x, which does not exist\.$"):
        waves([Item("a"), Item("b", ("a", "x"))])


def test_an_item_listed_twice_is_refused_by_name() -> None:
    with pytest.raises(AgentdError, match=r"^b is listed twice\.$"):
        waves([Item("a"), Item("b"), Item("b", ("a",))])


@pytest.mark.parametrize(
    ("items", "ring"),
    [
        ([Item("a", ("b",)), Item("b", ("a",))], "a → b → a"),
        ([Item("data.1", ("logic.1",)), Item("logic.1", ("data.1",))], "data.1 → logic.1 → data.1"),
        ([Item("a", ("b",)), Item("b", ("c",)), Item("c", ("a",)), Item("d")], "a → b → c → a"),
        ([Item("a", ("a",))], "a → a"),
    ],
)
def test_a_circle_is_shown_in_the_direction_of_its_dependencies(items: list[Item], ring: str) -> None:
    with pytest.raises(AgentdError) as error:
        waves(items)
    assert error.value.message == f"Circular dependency detected: {ring}"


def test_nothing_is_started_when_the_items_make_no_sense() -> None:
    log = Log()
    with pytest.raises(AgentdError, match="Circular"):
        work_through([Item("a"), Item("b", ("b",))], log.work, "done", 2, never)
    assert log.lines == []


def order(items: Sequence[Item]) -> list[str]:
    """The order in which a schedule gives items that are done one after another."""
    schedule, found = Schedule(items), []
    while item := schedule.next():
        found.append(item.id)
        schedule.done(item)
    return found


def test_what_begins_the_longest_path_goes_first_and_equals_in_the_order_listed() -> None:
    items = (Item("short"), Item("b", ("a",)), Item("other"), Item("a"), Item("c", ("b",)))
    assert order(items) == ["a", "b", "short", "other", "c"]


def test_a_path_is_as_long_as_its_items_are_heavy() -> None:
    assert order((Item("first"), Item("second", ("first",)), Item("heavy", weight=3))) == ["heavy", "first", "second"]
    assert order((Item("light"), Item("first"), Item("last", ("first",), weight=5))) == ["first", "last", "light"]


def test_an_item_that_was_put_back_is_next_again() -> None:
    schedule = Schedule((Item("a"), Item("b")))
    first = schedule.next()
    assert first is not None
    schedule.put_back(first)
    assert schedule.next() == first


def test_an_item_starts_when_its_own_dependencies_are_done_though_their_wave_is_not() -> None:
    early = threading.Event()

    def work(item: Item) -> Stop:
        if item.id == "slow":
            assert early.wait(PATIENCE), "nothing of the next wave was started"
        if item.id == "next":
            early.set()
        return DONE

    items = (Item("quick"), Item("slow"), Item("next", ("quick",)))
    assert waves(items)[0] == ("quick", "slow")
    assert work_through(items, work, "done", 2, never) == dict.fromkeys(("quick", "slow", "next"), DONE)


@pytest.mark.parametrize("bound", [1, 2, 3])
def test_exactly_as_many_as_allowed_work_at_once(bound: int) -> None:
    log, full = Log(), threading.Barrier(bound)

    def work(item: Item) -> Stop:
        log.begin(item)
        full.wait(PATIENCE)  # passes only when `bound` items are here together
        log.end(item)
        return DONE

    stops = work_through([Item(f"t{number}") for number in range(2 * bound)], work, "done", bound, never)
    assert len(stops) == 2 * bound
    assert log.most == bound


@pytest.mark.parametrize("bound", [0, -1])
def test_a_bound_below_one_still_works_one_by_one(bound: int) -> None:
    log = Log()
    assert set(work_through(DIAMOND, log.work, "done", bound, never)) == {"a", "b", "c", "d"}
    assert log.most == 1


def test_nothing_to_do_is_done_at_once() -> None:
    assert work_through((), Log().work, "done", 2, never) == {}


@pytest.mark.parametrize("why", ["failed", "blocked", "waiting", "stopped", "paused", "elsewhere"])
def test_an_item_that_did_not_finish_holds_up_only_what_depends_on_it(why: Why) -> None:
    items = (Item("a"), Item("b", ("a",)), Item("c", ("b",)), Item("x"), Item("y", ("x",)), Item("z", ("y", "b")))
    stops = work_through(items, lambda item: Stop(why, "done") if item.id == "a" else DONE, "done", 2, never)
    assert stops == {"a": Stop(why, "done"), "x": DONE, "y": DONE}


def test_an_item_that_finished_with_another_word_holds_up_what_depends_on_it() -> None:
    stops = work_through(
        DIAMOND, lambda item: Stop("finished", "skipped" if item.id == "b" else "done"), "done", 2, never
    )
    assert {name: stop.note for name, stop in stops.items()} == {"a": "done", "b": "skipped", "c": "done"}


class Trouble(Exception):
    """Says when somebody looked whether there is trouble, which is after its item was seen to be over."""

    def __init__(self, name: str) -> None:
        self.seen = threading.Event()
        super().__init__(name)

    def __bool__(self) -> bool:
        self.seen.set()
        return True


def test_an_exception_is_raised_only_when_the_others_are_over() -> None:
    log, trouble = Log(), Trouble("a")

    def work(item: Item) -> Stop:
        log.begin(item)
        if item.id == "a":
            raise trouble
        assert trouble.seen.wait(PATIENCE)
        log.end(item)
        return DONE

    with pytest.raises(Trouble):
        work_through([Item("a"), Item("b"), Item("c")], work, "done", 2, never)
    assert log.lines[-1] == "end b"
    assert sorted(log.begun) == ["a", "b"], "nothing new starts after an exception"


def test_the_first_of_two_exceptions_is_raised() -> None:
    first, second = Trouble("first"), Trouble("second")

    def work(item: Item) -> Stop:
        if item.id == "a":
            raise first
        assert first.seen.wait(PATIENCE)
        raise second

    with pytest.raises(Trouble) as error:
        work_through([Item("a"), Item("b")], work, "done", 2, never)
    assert error.value is first


def test_nothing_new_starts_while_stopping_but_what_is_under_way_finishes() -> None:
    log, both = Log(), threading.Barrier(2)

    def work(item: Item) -> Stop:
        log.begin(item)
        both.wait(PATIENCE)
        log.end(item)
        return DONE

    items = [Item("a"), Item("b"), Item("c"), Item("d", ("a",))]
    stops = work_through(items, work, "done", 2, lambda: bool(log.begun))
    assert stops == {"a": DONE, "b": DONE}


def test_nothing_starts_when_already_stopping() -> None:
    assert work_through(DIAMOND, Log().work, "done", 2, lambda: True) == {}


def test_an_item_that_has_to_wait_lets_others_go_first_and_begins_when_one_ends() -> None:
    log = Log()

    def alone(item: Item, under_way: Sequence[Item]) -> str:
        return "wants to be alone" if item.id == "b" else ""

    stops = work_through([Item("a"), Item("b"), Item("c")], log.work, "done", 2, never, alone)
    assert set(stops) == {"a", "b", "c"}
    assert log.begun == ["a", "c", "b"]
    assert log.lines[-2:] == ["begin b", "end b"]


def test_an_item_that_has_to_wait_is_asked_about_again_though_nothing_ends() -> None:
    begun, asked = threading.Event(), 0

    def work(item: Item) -> Stop:
        if item.id == "a":
            assert begun.wait(PATIENCE), "b waits until a is over"
        begun.set()
        return DONE

    def twice(item: Item, under_way: Sequence[Item]) -> str:
        nonlocal asked
        asked += 1
        return "not yet" if asked < 2 else ""

    assert len(work_through([Item("a"), Item("b")], work, "done", 2, never, twice)) == 2
    assert asked == 2


def test_an_item_begins_whatever_is_said_if_nothing_is_under_way() -> None:
    log = Log()
    assert len(work_through(DIAMOND, log.work, "done", 3, never, lambda item, under_way: "never")) == 4
    assert log.most == 1


def test_when_many_wait_they_are_asked_about_in_turns_and_each_has_its_turn() -> None:
    last, rounds = f"t{3 * MOST_HELD}", [0]
    free = threading.Event()

    def stopping() -> bool:
        rounds.append(0)
        return False

    def may_begin(item: Item, under_way: Sequence[Item]) -> str:
        rounds[-1] += 1
        return "" if item.id == last or free.is_set() else "not now"

    def work(item: Item) -> Stop:
        if item.id == "t0":
            assert free.wait(PATIENCE), f"{last} was not asked about"
        if item.id == last:
            free.set()
        return DONE

    stops = work_through(
        [Item(f"t{number}") for number in range(3 * MOST_HELD + 1)], work, "done", 2, stopping, may_begin
    )
    assert len(stops) == 3 * MOST_HELD + 1
    assert max(rounds) <= MOST_HELD + 1


def test_who_is_under_way_is_told_and_nobody_is_asked_about_without_room() -> None:
    seen: list[tuple[str, tuple[str, ...]]] = []
    both = threading.Barrier(2)

    def note(item: Item, under_way: Sequence[Item]) -> str:
        seen.append((item.id, tuple(one.id for one in under_way)))
        return ""

    def work(item: Item) -> Stop:
        both.wait(PATIENCE)
        return DONE

    work_through([Item("a"), Item("b"), Item("c"), Item("d")], work, "done", 2, never, note)
    assert seen[0] == ("b", ("a",))
    assert len(seen) <= 3


@given(graphs())
def test_the_depth_of_an_item_is_one_more_than_the_deepest_it_depends_on(items: tuple[Item, ...]) -> None:
    found = waves(items)
    depth = {name: number for number, wave in enumerate(found, 1) for name in wave}
    assert sorted(depth) == sorted(item.id for item in items)
    assert sum(len(wave) for wave in found) == len(items)
    for item in items:
        assert depth[item.id] == 1 + max((depth[other] for other in item.depends), default=0)


@given(graphs().filter(bool), st.data())
def test_every_circle_is_found_and_is_one(items: tuple[Item, ...], data: st.DataObject) -> None:
    target = data.draw(st.sampled_from(items))
    below = [item for item in items if target.id == item.id or item.id in after(items, {target.id})]
    closing = data.draw(st.sampled_from(below))
    ringed = [Item(i.id, (*i.depends, closing.id)) if i == target else i for i in items]
    with pytest.raises(AgentdError) as error:
        waves(ringed)
    head, _, text = error.value.message.partition(": ")
    ring = text.split(" → ")
    depends = {item.id: item.depends for item in ringed}
    assert head == "Circular dependency detected"
    assert ring[0] == ring[-1]
    assert len(ring) > 1
    assert all(right in depends[left] for left, right in itertools.pairwise(ring))


@given(graphs(), st.integers(1, 4), st.data())
def test_every_order_respects_dependencies_and_starts_all_that_can(
    items: tuple[Item, ...], bound: int, data: st.DataObject
) -> None:
    log = Log()
    failing = data.draw(st.sets(st.sampled_from([item.id for item in items]))) if items else set()

    def work(item: Item) -> Stop:
        log.work(item)
        return Stop("failed") if item.id in failing else DONE

    stops = work_through(items, work, "done", bound, never)
    assert set(stops) == {item.id for item in items} - after(items, failing)
    assert sorted(log.begun) == sorted(stops), "each once"
    assert log.most <= bound
    for item in items:
        if item.id in stops:
            begun = log.lines.index(f"begin {item.id}")
            assert all(log.lines.index(f"end {other}") < begun for other in item.depends)


@given(graphs(), st.integers(1, 4), st.data())
def test_reasons_to_wait_that_come_and_go_keep_no_item_from_its_turn(
    items: tuple[Item, ...], bound: int, data: st.DataObject
) -> None:
    log = Log()
    answers = data.draw(st.lists(st.booleans(), max_size=20))

    def may_begin(item: Item, under_way: Sequence[Item]) -> str:
        assert 0 < len(under_way) < bound
        assert item not in under_way
        return "not now" if answers and answers.pop() else ""

    stops = work_through(items, log.work, "done", bound, never, may_begin)
    assert stops == {item.id: DONE for item in items}
    assert sorted(log.begun) == sorted(stops), "each once"
    assert log.most <= bound
    for item in items:
        begun = log.lines.index(f"begin {item.id}")
        assert all(log.lines.index(f"end {other}") < begun for other in item.depends)


def longest(items: Sequence[Item], name: str) -> int:
    """The weight of the longest path that begins with an item."""
    below = [longest(items, item.id) for item in items if name in item.depends]
    return next(item.weight for item in items if item.id == name) + max(below, default=0)


@given(graphs(), st.data())
def test_a_schedule_gives_whatever_may_start_by_its_path_and_place_and_a_failure_blocks_just_its_descendants(
    items: tuple[Item, ...], data: st.DataObject
) -> None:
    schedule, listed = Schedule(items), [item.id for item in items]
    failing = data.draw(st.sets(st.sampled_from(listed))) if items else set()
    given: set[str] = set()
    done: set[str] = set()
    while True:
        ready = [item for item in items if item.id not in given and done.issuperset(item.depends)]
        expected = min(ready, key=lambda item: (-longest(items, item.id), listed.index(item.id)), default=None)
        item = schedule.next()
        assert item == expected
        if item is None:
            under_way = [one for one in items if one.id in given - done - failing]
            if not under_way:
                break
            ending = data.draw(st.sampled_from(under_way))
            schedule.done(ending)
            done.add(ending.id)
            continue
        if data.draw(st.booleans()):
            schedule.put_back(item)
            assert schedule.next() == item
        given.add(item.id)
        if item.id not in failing and data.draw(st.booleans()):
            schedule.done(item)
            done.add(item.id)
    assert given == set(listed) - after(items, failing)


@given(graphs())
def test_equal_items_are_started_in_an_equal_order(items: tuple[Item, ...]) -> None:
    orders = []
    for _ in range(2):
        log = Log()
        work_through(items, log.work, "done", 1, never)
        orders.append(log.begun)
    assert orders == [order(items)] * 2
