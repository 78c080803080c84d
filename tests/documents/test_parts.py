"""The tasks spec by spec: every task once, none before what it depends on, and as few parts as that allows."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.families.change.documents.tasks.dependencies import order
from agentd.families.change.documents.tasks.task_parts import Part, parts
from agentd.model.change import LAYERS, Layer, Task


def task(name: str, spec: str, *depends: str) -> Task:
    layer, number = name.split(".")
    ref = f"{spec}:R1" if spec else "none"
    return Task(
        next(one for one in LAYERS if one == layer), int(number), "Do it", "a.py", "MODIFY", ref, depends=depends
    )


def told(found: tuple[Part, ...]) -> list[str]:
    return [f"{part.id}: {' '.join(task.id for task in part.tasks)}" for part in found]


def test_without_dependencies_the_specs_come_as_they_are_given_and_the_rest_last() -> None:
    tasks = [task("logic.1", "b"), task("data.1", ""), task("data.2", "a"), task("data.3", "b"), task("logic.2", "c")]
    assert told(parts(tasks, ["a", "b"])) == ["a: data.2", "b: data.3 logic.1", "c: logic.2", "change: data.1"]
    assert told(parts(tasks, ["c", "b", "a", "d"])) == [
        "c: logic.2",
        "b: data.3 logic.1",
        "a: data.2",
        "change: data.1",
    ]
    assert parts([], ["a"]) == ()


def test_a_spec_comes_after_the_one_it_depends_on_and_no_other_moves() -> None:
    tasks = [task("logic.1", "a", "data.2"), task("data.1", "b"), task("data.2", "c"), task("data.3", "a")]
    assert told(parts(tasks, ["a", "b", "c"])) == ["c: data.2", "a: data.3 logic.1", "b: data.1"]


def test_a_spec_that_needs_tasks_without_a_spec_comes_after_them() -> None:
    tasks = [task("logic.1", "a", "data.1"), task("data.1", ""), task("data.2", "b")]
    assert told(parts(tasks, ["a", "b"])) == ["change: data.1", "a: logic.1", "b: data.2"]


def test_specs_that_need_each_other_are_taken_up_again() -> None:
    tasks = [
        task("data.1", "top-words"),
        task("logic.1", "reader", "data.1"),
        task("logic.2", "top-words", "logic.1"),
        task("data.2", "plain"),
    ]
    assert told(parts(tasks, ["top-words", "reader", "plain"])) == [
        "top-words: data.1",
        "reader: logic.1",
        "top-words-2: logic.2",
        "plain: data.2",
    ]


def test_no_part_has_the_name_of_another_spec() -> None:
    knot = [task("data.1", "a"), task("data.2", "b", "data.1"), task("data.3", "a", "data.2")]
    assert told(parts([*knot, task("data.4", "a-2")], ["a", "b", "a-2"])) == [
        "a: data.1",
        "b: data.2",
        "a-3: data.3",
        "a-2: data.4",
    ]
    assert [part.id for part in parts([task("data.1", ""), task("data.2", "change")], ["change"])] == [
        "change",
        "change-2",
    ]


def test_a_dependency_on_a_task_that_is_not_there_is_no_reason_to_wait() -> None:
    assert told(parts([task("data.1", "a", "data.9")], [])) == ["a: data.1"]


def test_tasks_that_wait_for_each_other_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"Circular dependency detected: data\.1 → data\.2 → data\.1"):
        parts([task("data.1", "a", "data.2"), task("data.2", "b", "data.1")], ["a"])


def test_two_tasks_with_the_same_id_are_an_error() -> None:
    with pytest.raises(ValueError, match="two tasks have the same id"):
        parts([task("data.1", "a"), task("data.1", "b")], ["a"])


@st.composite
def graphs(draw: st.DrawFn) -> list[Task]:
    """Tasks in any order whose dependencies, seen from one of the orders, only lead backwards."""
    ids = draw(st.lists(st.tuples(st.sampled_from(LAYERS), st.integers(1, 9)), max_size=14, unique=True))
    found: list[Task] = []
    for place, (layer, number) in enumerate(ids):
        before = [f"{name}.{other}" for name, other in ids[:place]]
        depends = draw(st.lists(st.sampled_from([*before, "data.99"]), max_size=3))
        found.append(_task(layer, number, draw(st.sampled_from(["", "a", "b", "a-2", "change"])), tuple(depends)))
    return list(draw(st.permutations(found)))


def _task(layer: Layer, number: int, spec: str, depends: tuple[str, ...]) -> Task:
    return task(f"{layer}.{number}", spec, *depends)


SPECS = st.lists(st.sampled_from(["a", "b", "a-2", "change", "d"]), unique=True)


@given(tasks=graphs(), specs=SPECS)
def test_every_task_is_in_one_part_and_after_what_it_depends_on(tasks: list[Task], specs: list[str]) -> None:
    found = parts(tasks, specs)
    row = [task for part in found for task in part.tasks]
    assert sorted(row, key=repr) == sorted(tasks, key=repr)
    place = {task.id: number for number, task in enumerate(row)}
    assert all(place[name] < place[task.id] for task in tasks for name in task.depends if name in place)


@given(tasks=graphs(), specs=SPECS)
def test_a_part_is_of_one_spec_has_its_own_name_and_is_not_torn(tasks: list[Task], specs: list[str]) -> None:
    found = parts(tasks, specs)
    assert parts(tasks, specs) == found
    assert len({part.id for part in found}) == len(found)
    kinds = []
    for part in found:
        (ref,) = {task.spec_ref for task in part.tasks}
        kinds.append(ref.removesuffix(":R1"))
        assert part.id.startswith("change" if ref == "none" else kinds[-1])
        assert part.tasks == order(part.tasks)
    assert all(one != other for one, other in pairwise(kinds))


@given(tasks=graphs(), specs=SPECS)
def test_where_no_spec_needs_another_each_is_one_part_as_given(tasks: list[Task], specs: list[str]) -> None:
    ref = {task.id: task.spec_ref for task in tasks}
    apart = [task for task in tasks if all(ref.get(name, task.spec_ref) == task.spec_ref for name in task.depends)]
    given_ones = [part.id for part in parts(apart, specs) if part.id in specs]
    there = {task.spec_ref.removesuffix(":R1") for task in apart}
    assert len(parts(apart, specs)) == len(there)
    assert [name for name in given_ones if name in there] == [name for name in specs if name in there]
