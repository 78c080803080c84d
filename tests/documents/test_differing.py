"""What became of a spec's requirements between two of its versions, as a person would tell it."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agentd.library import spec
from agentd.model.merge import Delta
from tests.documents.spec_changes import drafts, edits, independent

THOROUGH = settings(max_examples=1000, deadline=None, derandomize=True)
BEFORE = """\
---
id: game
requirements: {total: 3, ids: [R1, R2, R3]}
updated_at: 2026-01-01
---

## Overview

Two people play.

## Requirements

### R1 - Turns

They take turns.

#### Scenario: First

- **WHEN** it begins
- **THEN** white moves

### R2 - End

The game ends.

### R3 - Board

There is a board.

## Acceptance Criteria

### R3

#### Scenario: Board

- **WHEN** it begins
- **THEN** there is a board
"""


def after(*pairs: tuple[str, str]) -> str:
    text = BEFORE
    for old, new in pairs:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def test_each_requirement_is_told_by_what_became_of_it() -> None:
    new = "### R4 - Clock\n\nThere is a clock.\n\n## Acceptance"
    text = after(
        ("They take turns.", "White first."),
        ("### R2 - End\n\nThe game ends.\n\n", ""),
        ("### R3 - Board", "### R9 - Board"),
        ("## Acceptance", new),
        ("{total: 3, ids: [R1, R2, R3]}", "{total: 3, ids: [R1, R9, R4]}"),
        ("updated_at: 2026-01-01", "updated_at: 2026-01-02"),
        ("### R3\n", "### R9\n"),
    )
    assert spec.delta(BEFORE, text) == Delta(("R4",), ("R1",), ("R2",), (("R3", "R9"),))


def test_a_requirement_is_changed_by_its_scenarios_wherever_they_stand() -> None:
    assert spec.delta(BEFORE, after(("white moves", "black moves"))) == Delta(changed=("R1",))
    assert spec.delta(BEFORE, after(("there is a board\n", "it is there\n"))) == Delta(changed=("R3",))


def test_a_requirement_with_another_number_and_another_text_is_renamed_and_changed() -> None:
    text = after(("### R2 - End\n\nThe game ends.", "### R7 - End\n\nIt ends."))
    assert spec.delta(BEFORE, text) == Delta(changed=("R7",), renamed=(("R2", "R7"),))


def test_what_is_no_requirement_is_other() -> None:
    assert spec.delta(BEFORE, after(("Two people", "Two"))) == Delta(other=True)
    assert spec.delta(BEFORE, after(("updated_at: 2026-01-01", "updated_at: 2026-01-02"))) == Delta(other=True)
    assert spec.delta(BEFORE, BEFORE + "\n") == Delta(other=True)


def test_the_order_of_requirements_is_other() -> None:
    r2 = "### R2 - End\n\nThe game ends.\n\n"
    assert spec.delta(BEFORE, after((r2, ""), ("### R1", f"{r2}### R1"))) == Delta(other=True)


def test_a_spec_that_comes_or_goes_brings_or_takes_all_it_has() -> None:
    assert spec.delta(None, BEFORE) == Delta(added=("R1", "R2", "R3"), other=True)
    assert spec.delta(BEFORE, None) == Delta(removed=("R1", "R2", "R3"), other=True)
    assert spec.delta(None, None) == spec.delta(BEFORE, BEFORE) == Delta()
    assert spec.delta(None, "") == Delta(other=True)


@THOROUGH
@given(st.data())
def test_one_edit_is_told_as_what_it_is(data: st.DataObject) -> None:
    draft = data.draw(drafts())
    edit = data.draw(st.sampled_from(edits(draft, 1)))
    found = spec.delta(draft.text(), edit.apply(draft).text())
    verb, _, rest = edit.name.partition(" ")
    name = rest.split(" ")[0]
    ids = {each.id for each in draft.requirements}
    if name in ids and verb in ("change", "retitle", "remove") and f"{name} text" not in edit.writes:
        expected = Delta(changed=(name,))
    elif verb == "insert":
        later = [each.id for each in draft.requirements[int(rest.removeprefix("before R")) - 1 :]]
        expected = Delta(added=(later[0],), renamed=tuple((each, f"R{int(each[1:]) + 1}") for each in later))
    elif rest.startswith("a scenario to R"):
        expected = Delta(changed=(rest.split(" ")[-1],))
    elif rest in ids:
        renamed = ((name, "R31"),)
        expected = {"remove": Delta(removed=(name,)), "rename": Delta(renamed=renamed)}.get(
            verb, Delta(changed=(name,))
        )
    elif verb == "add" and name.startswith("R"):
        expected = Delta(added=(name,))
    else:
        expected = Delta(other=True)
    assert found == expected


@THOROUGH
@given(st.data())
def test_what_an_archive_brings_is_what_the_change_did(data: st.DataObject) -> None:
    draft = data.draw(drafts())
    one, two = data.draw(independent(draft, 2))
    base, ours, theirs = draft.text(), one.apply(draft).text(), two.apply(draft).text()
    did = spec.delta(base, ours)
    assume(not two.name.startswith("insert"))  # after which requirements have other numbers
    brought = spec.delta(theirs, spec.merge(base, ours, theirs).text)
    assert (brought.added, brought.removed, brought.renamed) == (did.added, did.removed, did.renamed)
    if not two.name.startswith("rename"):
        assert brought.changed == did.changed
