"""The history of a spec as values: archives in any order give one story for each requirement."""

from collections.abc import Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from agentd.families.change.archive.history import Step, Story, ordered, told
from agentd.library import spec
from agentd.model.merge import Delta
from tests.app.tree import a_spec

ONE_TIME = "2026-02-01T10:00:00.000000Z"
OPS = st.lists(st.sampled_from(["add", "change", "remove", "rename"]), min_size=1, max_size=12)


def text(*ids: str) -> str:
    return spec.render(a_spec("report", *ids))


def chain(ops: Sequence[str]) -> tuple[list[Step], dict[str, str]]:
    """Archives one after the other, and which of them brought each requirement there is in the end."""
    origin = {"R1": "c00"}
    before = text("R1")
    steps = [Step("c00", at(0), None, before, Delta(added=("R1",)))]
    for number, op in enumerate(ops, 1):
        first, fresh, change = next(iter(origin)), f"R{number + 1}", f"c{number:02}"
        if op == "change" or (op == "remove" and len(origin) == 1):
            delta = Delta(changed=(first,))
        elif op == "remove":
            delta = Delta(removed=(first,))
            del origin[first]
        elif op == "rename":
            delta = Delta(renamed=((first, fresh),))
            origin[fresh] = origin.pop(first)
        else:
            delta = Delta(added=(fresh,))
            origin[fresh] = change
        after = text(*origin) + f"<!-- {number} -->\n"
        steps.append(Step(change, at(number), before, after, delta))
        before = after
    return steps, origin


def at(minute: int) -> str:
    return f"2026-02-01T10:{minute:02}:00Z"


def by_id(stories: Sequence[Story]) -> dict[str, Story]:
    return {story.id: story for story in stories if story.present}


@given(OPS, st.randoms(use_true_random=False))
def test_every_requirement_leads_back_to_the_change_that_brought_it(ops: list[str], random: Random) -> None:
    steps, origin = chain(ops)
    last = steps[-1].after
    random.shuffle(steps)
    found = told("report", steps, last)
    stories = by_id(found.stories)
    assert list(stories) == list(origin)
    assert {name: story.events[0].change for name, story in stories.items()} == origin
    assert {story.events[0].what for story in found.stories} == {"added"}
    assert sum(len(story.events) for story in found.stories) == len(ops) + 1
    assert not found.by_hand


@given(OPS, st.randoms(use_true_random=False))
def test_archives_of_one_moment_are_told_in_the_order_of_their_texts(ops: list[str], random: Random) -> None:
    steps = [Step(step.change, ONE_TIME, step.before, step.after, step.delta) for step in chain(ops)[0]]
    shuffled = list(steps)
    random.shuffle(shuffled)
    assert list(ordered(shuffled)) == steps


def test_fractions_of_a_second_are_after_the_whole_second() -> None:
    early = Step("z", "2026-02-01T10:00:00Z", None, "a", Delta())
    late = Step("a", "2026-02-01T10:00:00.5Z", "a", "b", Delta())
    assert ordered([late, early]) == (early, late)


def test_a_time_nobody_can_read_comes_first() -> None:
    unknown = Step("z", "some day", None, "a", Delta())
    known = Step("a", ONE_TIME, "a", "b", Delta())
    assert ordered([known, unknown]) == (unknown, known)


def test_two_requirements_that_change_names_keep_their_own_stories() -> None:
    first = Step("c1", at(1), None, text("R1"), Delta(added=("R1",)))
    second = Step("c2", at(2), first.after, text("R1", "R2"), Delta(added=("R2",)))
    swap = Step("c3", at(3), second.after, text("R2", "R1"), Delta(renamed=(("R1", "R2"), ("R2", "R1"))))
    stories = by_id(told("report", [first, second, swap], swap.after).stories)
    assert [(event.change, event.was) for event in stories["R2"].events] == [("c1", ""), ("c3", "R1")]
    assert [(event.change, event.was) for event in stories["R1"].events] == [("c2", ""), ("c3", "R2")]


def test_an_id_that_is_given_anew_after_its_removal_is_another_requirement() -> None:
    steps = [
        Step("c1", at(1), None, text("R1", "R2"), Delta(added=("R1", "R2"))),
        Step("c2", at(2), text("R1", "R2"), text("R1"), Delta(removed=("R2",))),
        Step("c3", at(3), text("R1"), text("R1", "R2"), Delta(added=("R2",))),
    ]
    found = [story for story in told("report", steps, steps[-1].after).stories if story.id == "R2"]
    assert [(story.present, [event.change for event in story.events]) for story in found] == [
        (True, ["c3"]),
        (False, ["c1", "c2"]),
    ]


def test_what_a_hand_took_away_is_told_with_the_title_it_had() -> None:
    first = Step("c1", at(1), None, text("R1", "R2"), Delta(added=("R1", "R2")))
    second = Step("c2", at(2), text("R1"), text("R1") + "\nMore.\n", Delta(other=True))
    found = told("report", [first, second], second.after)
    assert [(story.id, story.title, story.present) for story in found.stories] == [
        ("R1", "Title R1", True),
        ("R2", "Title R2", False),
    ]
