"""Two changes of one spec: together in one text, or a conflict with both texts; never a lost sentence."""

from dataclasses import replace
from functools import cache
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentd.library import spec
from agentd.library.spec.merge_flaws import LOST, flaws
from agentd.library.spec.spec_tree import tree, walk
from agentd.library.spec.three_way_merge import _merged
from agentd.model.merge import Conflict, Delta, Merged
from tests.documents.spec_changes import Draft, changed, drafts, edits, independent

THOROUGH = settings(max_examples=1000, deadline=None, derandomize=True)
BOOKKEEPING = ("  total:", "  ids:", "  - R", "    - R", "version:", "updated_at:")
LINES = ("# T", "## A", "## B", "### R1 - x", "### R2", "### R1 - y", "#### Scenario: s", "#### Scenario: s", "##### deep",
         "text", "more", "  ", "", "", "```", "<!--", "-->", "<spec>", "</spec>", "---", "id: x", "  - y", "# c", "a: 1\r", "\ufeff", "\udcff")  # fmt: skip


@st.composite
def soups(draw: st.DrawFn) -> tuple[str, str, str]:
    """A text of anything, and two others made of it by taking lines away and putting some in."""
    base = draw(st.lists(st.sampled_from(LINES), max_size=14))
    if draw(st.booleans()):
        base = ["---", "id: x", "version: 1", "---", *base]
    return "\n".join(base), _stirred(draw, base), _stirred(draw, base)


def _stirred(draw: st.DrawFn, lines: list[str]) -> str:
    lines = list(lines)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines)))
        lines[at : at + draw(st.integers(0, 2))] = draw(st.lists(st.sampled_from(LINES), max_size=3))
    return "\n".join(lines)


@st.composite
def two_changes(draw: st.DrawFn) -> tuple[str, str, str]:
    """A spec and two changes of it that may have to do with each other."""
    draft = draw(drafts())
    return draft.text(), draw(changed(draft, 1)).text(), draw(changed(draft, 2)).text()


def plain(texts: tuple[str, str, str]) -> tuple[str, str, str]:
    """The texts with one kind of line end."""
    base, one, two = (text.replace("\r", "").replace("\ufeff", "") for text in texts)
    return base, one, two


def merged(base: str | None, ours: str | None, theirs: str | None) -> str:
    """What a merge without a conflict comes to."""
    found = spec.merge(base, ours, theirs)
    assert not found.conflicts
    assert found.text is not None
    return found.text


def parts(found: Merged) -> list[tuple[str, str]]:
    swapped = {"the change removes it": "removed", "the library removed it": "removed"}
    return sorted((each.part, swapped.get(each.why.split(",")[0], each.why)) for each in found.conflicts)


def sentences(text: str) -> set[str]:
    lines = (line.rstrip() for line in text.replace("\r\n", "\n").split("\n"))
    return {line for line in lines if line and not line.startswith(BOOKKEEPING)}


@THOROUGH
@given(st.text() | soups().map(lambda three: three[0]))
def test_the_tree_of_any_text_joins_to_that_text(text: str) -> None:
    assert "".join(node.text + node.gap for _, node in walk(tree(text))) == text


@THOROUGH
@given(two_changes() | soups().map(plain))
def test_against_its_own_base_a_change_is_copied(three: tuple[str, str, str]) -> None:
    base, change, _ = three
    for sides in ((base, change, base), (base, base, change), (base, change, change)):
        assert spec.merge(*sides) == Merged(change)
        assert _merged(*sides, "") == Merged(change)  # the long way round


@THOROUGH
@given(soups().map(plain))
def test_who_comes_first_makes_no_difference_to_texts_of_anything(three: tuple[str, str, str]) -> None:
    base, one, two = three
    there, back = spec.merge(base, one, two), spec.merge(base, two, one)
    assert parts(there) == parts(back)
    assert there.conflicts or there == back
    marked = spec.merge(base, one, two, "mark").text or ""
    assert (sentences(one) | sentences(two)) - sentences(base) <= sentences(marked)


@THOROUGH
@given(st.data())
def test_independent_changes_commute_and_three_give_one_text_in_all_six_orders(data: st.DataObject) -> None:
    draft = data.draw(drafts())
    base = draft.text()
    changes = [edit.apply(draft).text() for edit in data.draw(independent(draft, 3))]
    merge = cache(merged)
    assert all(merge(base, second, first) == merge(base, first, second) for first, second in combinations(changes, 2))
    results = {merge(base, third, merge(base, second, first)) for first, second, third in permutations(changes)}
    assert len(results) == 1


@THOROUGH
@given(two_changes())
def test_no_sentence_disappears_and_who_comes_first_makes_no_difference(three: tuple[str, str, str]) -> None:
    base, one, two = three
    old, ours, theirs = map(sentences, three)
    kept_by_both = {line for line in old & ours & theirs if base.count(line) == 1}
    found, back = spec.merge(base, one, two), spec.merge(base, two, one)
    assert parts(found) == parts(back)
    assert found.conflicts or found == back
    kept = sentences(found.text or "")
    if not found.conflicts:
        assert (ours - old) | (theirs - old) | kept_by_both <= kept
        assert kept <= old | ours | theirs
    assert ours - old <= sentences(spec.merge(base, one, two, "ours").text or "")
    assert theirs - old <= sentences(spec.merge(base, one, two, "theirs").text or "")
    marked = spec.merge(base, one, two, "mark")
    assert marked.conflicts == found.conflicts
    if found.conflicts and any(map(spec.can_settle, found.conflicts)):
        assert spec.first_marker(marked.text or "")
        assert (ours - old) | (theirs - old) | kept_by_both <= sentences(marked.text or "")


@THOROUGH
@given(st.data())
def test_two_edits_of_one_requirement_are_always_a_conflict_with_both_texts(data: st.DataObject) -> None:
    draft = data.draw(drafts())
    name = data.draw(st.sampled_from(draft.requirements)).id
    ways = [f"{what} {name}" for what in ("change", "retitle", "rename")]
    chosen = [(nth, data.draw(st.sampled_from(ways))) for nth in (1, 2)]
    one, two = (next(edit for edit in edits(draft, nth) if edit.name == way).apply(draft) for nth, way in chosen)
    found = spec.merge(draft.text(), one.text(), two.text())
    at = next(place for place, each in enumerate(draft.requirements) if each.id == name)
    texts = [(name, own(draft, at), own(one, at), own(two, at))]
    assert [(each.part, each.base, each.ours, each.theirs) for each in found.conflicts if each.part == name] == texts


def own(draft: Draft, at: int) -> str:
    """The text of a requirement without its scenarios, as it stands in the file."""
    bare = replace(draft, requirements=(draft.requirements[at]._replace(scenarios=()),)).text()
    heading = f"### {draft.requirements[at].id} - "
    return (heading + bare.split(heading)[1]).split(f"{draft.newline}## {draft.headings[2]}")[0].rstrip()


@THOROUGH
@given(st.data())
def test_files_with_crlf_have_nothing_else_after_a_merge(data: st.DataObject) -> None:
    draft = data.draw(drafts("\r\n"))
    ours, theirs = data.draw(changed(draft, 1)), data.draw(changed(draft, 2))
    found = spec.merge(draft.text(), replace(ours, newline="\n").text(), theirs.text(), "mark")
    assert not {"\r", "\n"} & set((found.text or "").replace("\r\n", ""))
    base, one, two = (replace(each, newline="\n").text() for each in (draft, ours, theirs))
    assert spec.merge(base, one, two, "mark").text == (found.text or "").replace("\r\n", "\n")


BASE = """\
---
id: game
title: Game
version: 1.0
created_at: 2026-01-02
updated_at: 2026-01-02
requirements: {total: 2, ids: [R1, R2]}
---

<spec>

# Game

## Overview

Two people play.

## Requirements

### R1 - Turns

```yaml
id: R1
```

They take turns.

#### Scenario: First

- **WHEN** it begins
- **THEN** white moves

### R2 - End

The game ends.

## Acceptance Criteria

### Scenario: Ties

- **WHEN** nobody can move
- **THEN** it is a tie

</spec>
"""
R4 = "### R4 - Clock\n\nThere is a clock.\n\n"
CRITERIA = "## Acceptance Criteria\n"
CHINESE = """\
# 游戏

## 概述

两人对弈。

## 需求

### R1 - 轮流

双方轮流走子。

### R2 - 结束

游戏结束。

## 验收标准

### Scenario: 平局

- **WHEN** 无子可走
- **THEN** 平局
"""


def edited(*pairs: tuple[str, str], text: str = BASE) -> str:
    for old, new in pairs:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def counting(*ids: str) -> tuple[str, str]:
    return "{total: 2, ids: [R1, R2]}", f"{{total: {len(ids)}, ids: [{', '.join(ids)}]}}"


def only(found: Merged) -> Conflict:
    assert len(found.conflicts) == 1
    return found.conflicts[0]


def test_requirements_added_by_both_stand_in_the_order_of_their_numbers_and_are_counted() -> None:
    r10 = R4.replace("R4", "R10").replace("lock", "onfetti")
    ours = edited((CRITERIA, r10 + CRITERIA), counting("R1", "R2", "R10"))
    theirs = edited((CRITERIA, R4 + CRITERIA), counting("R1", "R2", "R4"))
    both = edited((CRITERIA, R4 + r10 + CRITERIA), counting("R1", "R2", "R4", "R10"))
    assert spec.merge(BASE, ours, theirs) == spec.merge(BASE, theirs, ours) == Merged(both)


def test_an_edit_of_one_requirement_and_a_scenario_of_another_are_both_there() -> None:
    new = "#### Scenario: Mate\n\n- **WHEN** mate\n- **THEN** it ends\n\n"
    ours = edited(("They take turns.", "They take turns, white first."))
    theirs = edited((CRITERIA, new + CRITERIA))
    both = edited(("They take turns.", "They take turns, white first."), (CRITERIA, new + CRITERIA))
    assert spec.merge(BASE, ours, theirs) == Merged(both)


def test_two_edits_of_different_lines_of_one_requirement_are_a_conflict() -> None:
    ours, theirs = edited(("R1 - Turns", "R1 - Moves")), edited(("They take turns.", "They move in turn."))
    found = spec.merge(BASE, ours, theirs)
    metadata = "\n\n```yaml\nid: R1\n```\n\n"
    assert found == Merged(theirs, (only(found),))
    assert only(found) == Conflict(
        "R1",
        "both changed it",
        f"### R1 - Turns{metadata}They take turns.",
        f"### R1 - Moves{metadata}They take turns.",
        f"### R1 - Turns{metadata}They move in turn.",
    )
    assert spec.merge(BASE, ours, theirs, "theirs") == Merged(theirs, found.conflicts)
    assert spec.merge(BASE, ours, theirs, "ours") == Merged(ours, found.conflicts)


def test_a_conflict_is_marked_with_all_three_texts() -> None:
    ours, theirs = edited(("The game ends.", "It ends.")), edited(("The game ends.", "The game is over."))
    heading = "### R2 - End\n\n"
    marked = (
        f"<<<<<<< theirs\n{heading}The game is over.\n||||||| base\n{heading}The game ends.\n"
        f"=======\n{heading}It ends.\n>>>>>>> ours\n"
    )
    found = spec.merge(BASE, ours, theirs, "mark")
    assert found.text == edited((f"{heading}The game ends.\n", marked))
    assert spec.first_marker(found.text) == 33
    crlf = spec.merge(BASE.replace("\n", "\r\n"), ours, theirs.replace("\n", "\r\n"), "mark")
    assert crlf.text == found.text.replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Title\n=======\n", 0),
        ("a <<<<<<< theirs\n", 0),
        ("<<<<<<< theirs and more\n", 0),
        ("<<<<<<< HEAD\n", 0),
        ("a\r\n||||||| base\r\n", 2),
        ("a\n\n>>>>>>> ours", 3),
        ("<<<<<<< theirs\n", 1),
    ],
)
def test_only_our_own_marks_are_taken_for_left_over(text: str, line: int) -> None:
    assert spec.first_marker(text) == line


def test_a_renamed_requirement_is_the_same_one() -> None:
    renamed = edited(("### R2 - End", "### R7 - End"), counting("R1", "R7"))
    assert spec.merge(BASE, renamed, edited(("Two people", "Two"))) == Merged(
        edited(("### R2 - End", "### R7 - End"), counting("R1", "R7"), ("Two people", "Two"))
    )
    found = only(spec.merge(BASE, renamed, edited(("The game ends.", "It ends."))))
    assert (found.part, found.why) == ("R2", "both changed it")
    assert (found.ours, found.theirs) == ("### R7 - End\n\nThe game ends.", "### R2 - End\n\nIt ends.")


def test_a_scenario_added_below_a_requirement_that_was_renamed_follows_it() -> None:
    new = "#### Scenario: Mate\n\n- **WHEN** mate\n- **THEN** it ends\n\n"
    renamed = edited(("### R2 - End", "### R7 - End"))
    theirs = edited((CRITERIA, new + CRITERIA))
    assert merged(BASE, renamed, theirs) == edited(("### R2 - End", "### R7 - End"), (CRITERIA, new + CRITERIA))


def test_a_removed_requirement_is_gone_unless_the_other_side_changed_it() -> None:
    r2 = "### R2 - End\n\nThe game ends.\n\n"
    gone = edited((r2, ""), counting("R1"))
    assert merged(BASE, gone, edited(("Two people", "Two"))) == edited((r2, ""), counting("R1"), ("Two people", "Two"))
    theirs = edited(("The game ends.", "It ends."))
    assert only(spec.merge(BASE, gone, theirs)) == Conflict(
        "R2", "the change removes it, the library changed it", r2.strip(), None, "### R2 - End\n\nIt ends."
    )
    assert only(spec.merge(BASE, theirs, gone)) == Conflict(
        "R2", "the library removed it, the change changed it", r2.strip(), "### R2 - End\n\nIt ends.", None
    )
    assert spec.merge(BASE, gone, theirs, "ours").text == gone
    assert spec.merge(BASE, gone, theirs, "theirs").text == theirs


def test_a_requirement_with_a_new_scenario_is_not_removed_unsaid() -> None:
    r1 = BASE[BASE.index("### R1") : BASE.index("### R2")]
    theirs = edited(("white moves", "white moves, at last"))
    found = only(spec.merge(BASE, edited((r1, "")), theirs))
    assert (found.part, found.ours) == ("R1", None)
    assert found.theirs == r1.strip() + ", at last"


def test_one_number_for_two_new_requirements_is_a_conflict_of_all_they_have() -> None:
    scenario = "#### Scenario: Time\n\n- **WHEN** time is up\n- **THEN** it ends\n\n"
    ours = edited((CRITERIA, R4 + scenario + CRITERIA), counting("R1", "R2", "R4"))
    theirs = edited((CRITERIA, R4.replace("lock", "olour") + CRITERIA), counting("R1", "R2", "R4"))
    found = spec.merge(BASE, ours, theirs)
    assert only(found) == Conflict(
        "R4",
        "both added it, with different texts",
        None,
        (R4 + scenario).strip(),
        "### R4 - Colour\n\nThere is a colour.",
    )
    assert spec.merge(BASE, ours, theirs, "ours").text == ours
    assert spec.merge(BASE, ours, theirs, "theirs").text == theirs
    assert spec.merge(BASE, ours, ours.replace("ends\n\n</spec>", "ends \n\n</spec>")).conflicts == ()


def test_scenarios_that_both_add_below_one_requirement_are_both_there() -> None:
    one, two = (f"#### Scenario: {name}\n\n- **WHEN** a\n- **THEN** {name}\n\n" for name in ("Late", "Early"))
    ours, theirs = (edited(("### R2 - End", f"{new}### R2 - End")) for new in (one, two))
    assert merged(BASE, ours, theirs) == edited(("### R2 - End", f"{two}{one}### R2 - End"))
    other = theirs.replace("Scenario: Early", "Scenario: Late")
    found = only(spec.merge(BASE, ours, other))
    assert (found.part, found.why) == ("R1 / Scenario: Late", "both added it, with different texts")


def test_a_section_that_both_add_is_there_once_with_what_each_put_in_it() -> None:
    ours, theirs = (edited(("</spec>", f"## Notes\n\n### {name}\n\n{name}.\n\n</spec>")) for name in ("B", "A"))
    assert merged(BASE, ours, theirs) == edited(("</spec>", "## Notes\n\n### A\n\nA.\n\n### B\n\nB.\n\n</spec>"))
    ours, theirs = (edited(("</spec>", f"## Notes\n\n{name}.\n\n</spec>")) for name in ("B", "A"))
    found = only(spec.merge(BASE, ours, theirs))
    assert (found.part, found.ours, found.theirs) == ("Notes", "## Notes\n\nB.", "## Notes\n\nA.")


def test_one_side_may_put_requirements_in_another_order_and_two_may_not() -> None:
    text = edited((CRITERIA, R4 + CRITERIA))
    r1 = text[text.index("### R1") : text.index("### R2")]
    r2 = text[text.index("### R2") : text.index("### R4")]
    ours, theirs = (text.replace(r1 + r2 + R4, order) for order in (r2 + r1 + R4, R4 + r1 + r2))
    changed = theirs.replace("The game ends", "It ends")
    assert merged(text, ours, text.replace("The game ends", "It ends")) == ours.replace("The game ends", "It ends")
    found = spec.merge(text, ours, changed)
    assert only(found) == Conflict(
        "order of Requirements",
        "both put it in another order",
        "### R1 - Turns\n### R2 - End\n### R4 - Clock",
        "### R2 - End\n### R1 - Turns\n### R4 - Clock",
        "### R4 - Clock\n### R1 - Turns\n### R2 - End",
    )
    assert spec.merge(text, ours, changed, "theirs").text == changed
    assert spec.merge(text, ours, changed, "ours").text == ours.replace("The game ends", "It ends")
    marked = spec.merge(text, ours, changed, "mark").text or ""
    assert [line for line in marked.split("\n") if line.startswith(("### R", "<<<", "|||", "===", ">>>"))] == [
        "<<<<<<< theirs",
        "### R4 - Clock",
        "### R1 - Turns",
        "### R2 - End",
        "||||||| base",
        "### R1 - Turns",
        "### R2 - End",
        "### R4 - Clock",
        "=======",
        "### R2 - End",
        "### R1 - Turns",
        "### R4 - Clock",
        ">>>>>>> ours",
    ]


def test_a_requirement_moved_to_two_places_is_there_twice_and_no_side_can_be_preferred() -> None:
    r2 = "### R2 - End\n\nThe game ends.\n\n"
    ours, theirs = (edited((r2, ""), ("</spec>", f"## {name}\n\n{r2}</spec>")) for name in ("Later", "Never"))
    for prefer in ("", "ours", "theirs"):
        found = only(spec.merge(BASE, ours, theirs, prefer))
        assert found == Conflict("R2", "it would be there twice", None, r2.strip(), r2.strip())
        assert not spec.can_settle(found)
    assert spec.can_settle(only(spec.merge(BASE, None, theirs)))


def test_keys_that_both_changed_come_to_one_where_that_is_plain() -> None:
    ours = edited(("version: 1.0", "version: 1.9"), ("created_at: 2026-01-02", "created_at: 2026-01-01"),
                  ("updated_at: 2026-01-02", "updated_at: 2026-03-01T00:00:00Z"))  # fmt: skip
    theirs = edited(("version: 1.0", "version: 1.10"), ("created_at: 2026-01-02", "created_at: 2026-01-03"),
                    ("updated_at: 2026-01-02", "updated_at: 2026-02-28"))  # fmt: skip
    assert merged(BASE, ours, theirs) == edited(
        ("version: 1.0", "version: 1.10"),
        ("created_at: 2026-01-02", "created_at: 2026-01-01"),
        ("updated_at: 2026-01-02", "updated_at: 2026-03-01T00:00:00Z"),
    )
    found = only(spec.merge(BASE, edited(("title: Game", "title: Go")), edited(("title: Game", "title: Chess"))))
    assert found == Conflict("front matter: title", "both changed it", "title: Game", "title: Go", "title: Chess")


def test_a_key_that_conflicts_is_marked_among_the_others() -> None:
    base = "---\na: 1\nb: 2\n---\n\nx\n"
    assert spec.merge(base, base.replace("1", "3"), base.replace("1", "4"), "mark").text == (
        "---\n<<<<<<< theirs\na: 4\n||||||| base\na: 1\n=======\na: 3\n>>>>>>> ours\nb: 2\n---\n\nx\n"
    )


def test_what_is_added_to_a_section_follows_it_under_its_new_heading() -> None:
    ours, theirs = edited(("## Requirements", "## Needs")), edited((CRITERIA, R4 + CRITERIA))
    assert merged(BASE, ours, theirs) == edited(("## Requirements", "## Needs"), (CRITERIA, R4 + CRITERIA))


def test_preferring_theirs_does_not_put_a_requirement_in_two_places() -> None:
    r2 = "### R2 - End\n\nThe game ends.\n\n"
    moved = edited((r2, ""), ("</spec>", f"## Later\n\n{r2}</spec>"))
    theirs = edited(("The game ends.", "It ends."))
    assert only(spec.merge(BASE, moved, theirs, "ours")).why == "the change removes it, the library changed it"
    assert spec.merge(BASE, moved, theirs, "ours").text == moved
    assert [spec.can_settle(each) for each in spec.merge(BASE, moved, theirs, "theirs").conflicts] == [True, False]


def test_keys_that_each_side_adds_are_all_there_with_their_comments() -> None:
    ours, theirs = (edited(("---\n\n<spec>", f"{new}---\n\n<spec>")) for new in ("# us\nzeta: 1\n", "alpha:\n- 2\n"))
    assert merged(BASE, ours, theirs) == edited(("---\n\n<spec>", "alpha:\n- 2\n# us\nzeta: 1\n---\n\n<spec>"))


def test_design_elements_are_merged_one_by_one() -> None:
    head = "design_elements:\n  has_mermaid: false # later\n  has_json_schema: false\n---\n\n<spec>"
    base = edited(("---\n\n<spec>", head))
    ours, theirs = (base.replace(f"{key}: false", f"{key}: true") for key in ("has_mermaid", "has_json_schema"))
    assert merged(base, ours, theirs) == base.replace(": false", ": true")


def test_a_comment_is_not_lost_with_the_value_beside_it() -> None:
    ours, theirs = edited(("version: 1.0", "version: 1.1 # urgent")), edited(("version: 1.0", "version: 2.0"))
    assert only(spec.merge(BASE, ours, theirs)).part == "front matter: version"
    assert merged(BASE, ours, edited(("version: 1.0", "version: 1.1"))) == ours
    later = edited(("version: 1.0", "version: 3.0 # urgent"))
    assert merged(BASE, later, theirs) == later


def test_counts_too_wide_for_one_line_keep_the_line_ends_of_the_file() -> None:
    names = [f"R{number}" for number in range(100, 115)]
    sections = [f"### {name} - {name}\n\n{name}.\n\n" for name in names]
    ours = edited((CRITERIA, "".join(sections[:14]) + CRITERIA), counting("R1", "R2", *names[:14]))
    theirs = edited((CRITERIA, sections[14] + CRITERIA), counting("R1", "R2", names[14]))
    found = merged(*(text.replace("\n", "\r\n") for text in (BASE, ours, theirs)))
    assert found.replace("\r\n", "\n") == merged(BASE, ours, theirs)
    assert spec.parse(found, "x").requirements[-1].id == "R114"
    assert not {"\r", "\n"} & set(found.replace("\r\n", ""))


def test_counts_that_were_wrong_before_are_left_to_their_author() -> None:
    ours = edited((CRITERIA, R4 + CRITERIA))
    theirs = edited(("Two people", "Two"))
    assert merged(BASE, ours, theirs) == edited((CRITERIA, R4 + CRITERIA), ("Two people", "Two"))


def test_a_spec_without_front_matter_takes_that_of_the_other_side() -> None:
    body = BASE[BASE.index("<spec>") :]
    assert merged(body, body.replace("Two people", "Two"), BASE) == edited(("Two people", "Two"))
    words = "Some words.\n\n"
    assert merged(body, words + body, BASE) == edited(("<spec>", f"{words}<spec>"))


def test_chinese_sections_merge_as_finely_as_english_ones() -> None:
    ours = edited(
        ("双方轮流走子。", "白方先走。"), ("## 验收标准", "### R10 - 计时\n\n有时钟。\n\n## 验收标准"), text=CHINESE
    )
    theirs = edited(
        ("两人对弈。", "两人对弈，可以悔棋。"),
        ("## 验收标准", "### R4 - 颜色\n\n分黑白。\n\n## 验收标准"),
        text=CHINESE,
    )
    assert merged(CHINESE, ours, theirs) == edited(
        ("双方轮流走子。", "白方先走。"),
        ("两人对弈。", "两人对弈，可以悔棋。"),
        ("## 验收标准", "### R4 - 颜色\n\n分黑白。\n\n### R10 - 计时\n\n有时钟。\n\n## 验收标准"),
        text=CHINESE,
    )
    found = only(spec.merge(CHINESE, ours, edited(("双方轮流走子。", "黑方先走。"), text=CHINESE)))
    assert (found.part, found.ours, found.theirs) == (
        "R1",
        "### R1 - 轮流\n\n白方先走。",
        "### R1 - 轮流\n\n黑方先走。",
    )
    section = only(spec.merge(CHINESE, CHINESE.replace("对弈", "下棋"), CHINESE.replace("对弈", "比赛")))
    assert section.part == "概述"


def test_counts_of_a_chinese_spec_are_put_right_too() -> None:
    head = "---\nid: game\nrequirements: {total: 2, ids: [R1, R2]}\n---\n\n"
    base = head + CHINESE
    ours, theirs = (
        edited(("## 验收标准", f"### {name} - 新\n\n{name}。\n\n## 验收标准"), counting("R1", "R2", name), text=base)
        for name in ("R5", "R4")
    )
    assert counting("R1", "R2", "R4", "R5")[1] in merged(base, ours, theirs)


def test_text_from_right_to_left_merges_like_any_other() -> None:
    base = "# משחק\n\n## דרישות\n\n### R1 - תור\n\nשחקן אחד בכל תור.\n\n### R2 - סוף\n\nالنهاية.\n"
    ours = edited(("שחקן אחד בכל תור.", "\u202bלבן ראשון\u202c (R1)."), text=base)
    theirs = edited(("النهاية.", "تنتهي اللعبة."), text=base)
    both = edited(("שחקן אחד בכל תור.", "\u202bלבן ראשון\u202c (R1)."), ("النهاية.", "تنتهي اللعبة."), text=base)
    assert spec.merge(base, ours, theirs) == spec.merge(base, theirs, ours) == Merged(both)


def test_one_heading_in_two_unicode_forms_is_one_heading() -> None:
    base = "## Re\u0301sume\u0301\n\nOne.\n\n## Z\n\nTwo.\n"
    ours = base.replace("Re\u0301sume\u0301", "R\u00e9sum\u00e9")
    assert merged(base, ours, base.replace("Two", "Three")) == ours.replace("Two", "Three")


def test_bytes_that_are_no_text_survive() -> None:
    ours = edited(("They take turns.", "They take turns \udcff."), ("title: Game", "title: \udcfe"))
    theirs = edited(("The game ends.", "The game ends \udcfd."))
    assert merged(BASE, ours, theirs) == edited(
        ("They take turns.", "They take turns \udcff."),
        ("title: Game", "title: \udcfe"),
        ("The game ends.", "The game ends \udcfd."),
    )


def test_a_file_that_ends_without_a_line_end_is_not_glued_to_what_comes_after() -> None:
    base = "## A\n\none"
    assert merged(base, base + "\n\n## C\n\nthree", base + "\n\n## B\n\ntwo") == (
        "## A\n\none\n\n## B\n\ntwo\n\n## C\n\nthree"
    )


def test_parts_that_nobody_had_together_get_a_blank_line_between() -> None:
    base = "## A\na\n## B\nb\n## C\nc\n"
    assert merged(base, "## A\na\n## C\nc\n", base.replace("## C", "## D\nd\n## C")) == "## A\na\n\n## D\nd\n## C\nc\n"


def test_white_space_at_the_ends_of_lines_is_no_change() -> None:
    ours = edited(("They take turns.", "They take turns.  "), ("Two people play.", "Two people play. "))
    theirs = edited(("They take turns.", "They take turns quickly."), ("Two people play.", "Two people play.   "))
    result = edited(("They take turns.", "They take turns quickly."), ("Two people play.", "Two people play. "))
    assert spec.merge(BASE, ours, theirs) == spec.merge(BASE, theirs, ours) == Merged(result)


def test_a_fence_that_is_never_closed_does_not_swallow_what_the_other_side_adds() -> None:
    base = "## A\n\na\n\n## B\n\nb\n"
    ours, theirs = base.replace("b\n", "b\n\n```\ncode\n"), base + "\n## C\n\nc\n"
    found = only(spec.merge(base, ours, theirs))
    assert (found.part, found.ours, found.theirs) == ("", ours, theirs)


def test_line_ends_and_byte_order_mark_are_those_of_the_library() -> None:
    ours = edited(("They take turns.", "White first."))
    library = "\ufeff" + BASE.replace("\n", "\r\n")
    assert merged(BASE, ours, library) == "\ufeff" + ours.replace("\n", "\r\n")
    assert merged(library, ours, library) == "\ufeff" + ours.replace("\n", "\r\n")
    assert merged(library, "\ufeff" + ours.replace("\n", "\r\n"), BASE) == ours
    mixed = BASE.replace("\n", "\r\n", 3)
    assert merged(mixed, ours, mixed) == ours
    assert merged(None, ours.replace("\n", "\r\n"), None) == ours.replace("\n", "\r\n")


def test_a_spec_that_only_one_side_has() -> None:
    changed = edited(("Two people", "Two"))
    assert spec.merge(None, BASE, None) == spec.merge(None, None, BASE) == Merged(BASE)
    assert spec.merge(None, None, None) == spec.merge(BASE, None, None) == Merged(None)
    assert spec.merge(BASE, None, BASE) == spec.merge(BASE, BASE, None) == Merged(None)
    assert spec.merge(BASE, None, BASE.replace("\n", " \r\n")) == Merged(None)
    removes = Conflict("", "the change removes it, the library changed it", BASE, None, changed)
    assert spec.merge(BASE, None, changed) == spec.merge(BASE, None, changed, "theirs") == Merged(changed, (removes,))
    assert spec.merge(BASE, None, changed, "ours") == Merged(None, (removes,))
    gone = Conflict("", "the library removed it, the change changed it", BASE, changed, None)
    assert spec.merge(BASE, changed, None) == spec.merge(BASE, changed, None, "theirs") == Merged(None, (gone,))
    assert spec.merge(BASE, changed, None, "ours") == Merged(changed, (gone,))
    assert spec.merge("a\n", None, "b", "mark").text == ("<<<<<<< theirs\nb\n||||||| base\na\n=======\n>>>>>>> ours\n")


def test_a_spec_that_both_add_conflicts_only_where_it_differs() -> None:
    ours = edited((CRITERIA, R4 + CRITERIA), counting("R1", "R2", "R4"))
    theirs = edited(("The game ends.", "It ends."))
    found = spec.merge(None, ours, theirs)
    assert [(each.part, each.why) for each in found.conflicts] == [("R2", "both added it, with different texts")]
    assert spec.merge(None, ours, theirs, "ours").text == ours
    assert spec.merge(None, BASE, BASE) == Merged(BASE)


# Requirements that were numbered anew, moved, or that say the same as others.

HEAD, FOOT = "# T\n\n## Requirements\n\n", "## Acceptance Criteria\n"


def numbered(*pieces: tuple[str, ...], first: int = 1, foot: str = FOOT) -> str:
    """A spec of requirements with these titles, bodies and, one each, scenarios, numbered as they come."""
    made = []
    for number, (title, body, *scenarios) in enumerate(pieces, first):
        made.append(f"### R{number} - {title}\n\n{body}\n\n")
        made += [f"#### Scenario: {name}\n\n- **WHEN** {name}\n- **THEN** done\n\n" for name in scenarios]
    return HEAD + "".join(made) + foot


A, B, C = ("A", "a."), ("B", "b."), ("C", "c.")


def test_what_is_added_to_a_requirement_follows_it_when_the_others_are_numbered_anew() -> None:
    base = numbered(A, B)
    theirs = numbered(A, (*B, "late"))
    assert merged(base, numbered(A, ("New", "n."), B), theirs) == numbered(A, ("New", "n."), (*B, "late"))
    assert merged(base, numbered(B, A), theirs) == numbered((*B, "late"), A)
    assert merged(base, numbered(B), theirs) == numbered((*B, "late"))
    assert merged(base, theirs, numbered(A, ("New", "n."), B)) == numbered(A, ("New", "n."), (*B, "late"))


def test_two_that_insert_and_number_anew_disagree_about_the_number_alone() -> None:
    found = spec.merge(numbered(A, B), numbered(A, ("Mine", "m."), B), numbered(A, ("Theirs", "t."), B))
    assert only(found).why == "both added it, with different texts"
    assert "Mine" in (only(found).ours or "")
    assert "Theirs" in (only(found).theirs or "")


def test_an_id_that_was_given_to_another_requirement_takes_nothing_along() -> None:
    base, ours, theirs = numbered(A, B), numbered(A, ("Export", "e.")), numbered(A, (*B, "late"))
    found = only(spec.merge(base, ours, theirs))
    assert (found.part, found.why) == ("R2", "both changed it")
    assert "Scenario: late" in (found.theirs or "")
    assert spec.merge(base, ours, theirs, "ours").text == ours
    assert spec.merge(base, ours, theirs, "theirs").text == theirs


def test_preferring_a_side_drops_nothing_that_both_have() -> None:
    base, ours, theirs = numbered(A, B), numbered(B, A), numbered(("A", "a, edited."), B)
    for prefer in ("ours", "theirs"):
        found = spec.merge(base, ours, theirs, prefer)
        held = [each for each in ("a", "b.") if each in (found.text or "")]
        assert held == ["a", "b."] or not all(map(spec.can_settle, found.conflicts))
    both = spec.merge(numbered(A, B, C), numbered(A, ("N", "n."), B, C), numbered(A, B, ("M", "m."), C), "theirs")
    assert all(word in (both.text or "") for word in ("a.", "b.", "c.")) or not all(
        map(spec.can_settle, both.conflicts)
    )


def test_requirements_that_say_the_same_are_told_apart_by_their_names() -> None:
    same = "To be written."
    base = numbered(("Alpha", same), ("Beta", same))
    ours = numbered(("Alpha", same), foot=f"### R9 - Printing\n\n{same}\n\n{FOOT}")
    theirs = numbered(("Alpha", same), ("Beta", same, "late"))
    assert only(spec.merge(base, ours, theirs)).why == "the change removes it, the library changed it"
    assert spec.delta(base, ours) == Delta(added=("R9",), removed=("R2",))


def test_groups_are_known_by_what_their_scenarios_say_not_by_their_names() -> None:
    def group(name: str, does: str, *more: str) -> str:
        cases = [f"#### Scenario: {case}\n\n- **WHEN** {does}\n- **THEN** {case}\n" for case in ("ok", "bad", *more)]
        return "\n".join([f"# T\n\n## All\n\n### {name}\n", *cases])

    found = spec.merge(group("Login", "in"), group("Export", "out"), group("Login", "in", "locked"))
    assert only(found).why == "the change removes it, the library changed it"


def test_of_two_headings_with_one_name_each_is_known_by_its_text() -> None:
    first, second = "## Notes\n\nFirst.\n\n", "## Notes\n\nSecond.\n"
    base = f"# T\n\n{first}## Mid\n\nm.\n\n{second}"
    ours = f"# T\n\n## Mid\n\nm.\n\n{second}"
    child = base.replace(first, f"{first}### Child\n\nc.\n\n")
    assert only(spec.merge(base, ours, child)).part == "Notes"
    edited_second = base.replace("Second.", "Second, edited.")
    assert merged(base, ours, edited_second) == ours.replace("Second.", "Second, edited.")


def test_scenarios_of_a_requirement_that_is_gone_are_not_left_behind_unsaid() -> None:
    base = numbered(A, B)
    theirs = base + "\n### R2\n\n#### Scenario: late\n\n- **WHEN** x\n- **THEN** y\n"
    for ours in (numbered(A), numbered(A, foot="### R7 - B\n\nb.\n\n" + FOOT)):
        found = spec.merge(base, ours, theirs)
        assert [each.why for each in found.conflicts] == ["scenarios would be left of a requirement that is gone"]
        assert not any(map(spec.can_settle, found.conflicts))


def test_scenarios_that_would_come_to_stand_under_another_requirement_are_a_conflict() -> None:
    """They are gathered under an id at the end, and the id has come to mean another requirement."""
    base, ours = numbered(A, B), numbered(B, A)
    theirs = base + "\n### R1\n\n#### Scenario: late\n\n- **WHEN** x\n- **THEN** y\n"
    found = only(spec.merge(base, ours, theirs))
    assert (found.part, found.why) == ("Scenario: late", "it would come to stand under another requirement")
    assert not spec.can_settle(found)


def test_a_requirement_that_one_side_moves_and_the_other_removes_is_a_conflict() -> None:
    base = numbered(A, B)
    moved = numbered(A) + "\n## Later\n\n### R2 - B\n\nb.\n"
    found = spec.merge(base, moved, numbered(A))
    assert (only(found).part, only(found).why) == ("R2", "one side moved it, the other removed it")
    assert not spec.can_settle(only(found))


def test_a_scenario_that_one_side_moves_and_the_other_removes_is_a_conflict() -> None:
    base = numbered((*A, "one", "gone"), (*B, "two"))
    moved, removed = numbered((*A, "one"), (*B, "two", "gone")), numbered((*A, "one"), (*B, "two"))
    for ours, theirs in ((moved, removed), (removed, moved)):
        found = only(spec.merge(base, ours, theirs))
        assert (found.part, found.why) == ("Scenario: gone", "one side moved it, the other removed it")


def test_scenarios_gathered_under_titles_that_requirements_share_are_merged() -> None:
    same = "### R1: Errors\n\n#### Scenario: x\n\n- **WHEN** x\n- **THEN** y\n"
    base = numbered(("Errors", "a."), B) + f"\n{same}"
    ours = numbered(("Errors", "a."), B, ("Errors", "c.")) + f"\n{same}"
    theirs = base + "\n#### Scenario: z\n\n- **WHEN** z\n- **THEN** y\n"
    assert merged(base, ours, theirs) == ours + "\n#### Scenario: z\n\n- **WHEN** z\n- **THEN** y\n"


def test_a_copy_in_which_a_requirement_is_there_twice_is_not_settled() -> None:
    twice = numbered(A, B) + "\n## Later\n\n### R2 - B\n\nb.\n"
    assert [each.part for each in spec.amiss(twice, numbered(A, B), numbered(A, B))] == ["R2"]
    assert spec.amiss(numbered(A, B), numbered(A, B), numbered(B, A)) == ()


def test_headings_that_would_come_to_stand_below_others_are_a_conflict_of_the_whole() -> None:
    base = numbered(A)
    ours = base.replace("### R1", "#### R1")
    theirs = base.replace("### R1", "### R0 - Zero\n\nz.\n\n### R1")
    assert only(spec.merge(base, ours, theirs)).part == ""


def test_a_file_with_one_stray_line_end_keeps_all_the_others() -> None:
    base = BASE.replace("\n", "\r\n")
    theirs = base.replace("Two people\r\n", "Two people\n", 1).replace("The game ends.\r\n", "The game ends.\n", 1)
    assert theirs != base
    ours = edited(("The game ends.", "The game is over."))
    found = merged(base, ours, theirs)
    assert found.replace("\r\n", "\n") == ours
    assert found.count("\r\n") >= base.count("\r\n") - 1


def test_books_that_an_author_leaves_out_are_kept_by_the_other_side() -> None:
    dated = edited(("version: 1.0\n", "version: 1.0\narchived_at: 2026-01-01\n"))
    ours = BASE.replace("The game ends.", "It ends.").replace("updated_at: 2026-01-01\n", "")
    theirs = dated.replace("archived_at: 2026-01-01", "archived_at: 2026-02-02")
    assert "archived_at: 2026-02-02" in merged(dated, ours, theirs)
    assert "archived_at" not in merged(dated, ours, dated)


def test_numbers_without_end_are_nothing_to_count_with() -> None:
    ours, theirs = (edited(("version: 1.0", f"version: {digit * 5000}")) for digit in "12")
    assert only(spec.merge(BASE, ours, theirs)).part == "front matter: version"


def test_what_differs_is_told_by_what_requirements_say_and_not_by_their_numbers() -> None:
    base = numbered(A, B, C)
    assert spec.delta(base, numbered(B, C)) == Delta(removed=("R1",), renamed=(("R2", "R1"), ("R3", "R2")))
    assert spec.delta(numbered(A, B), numbered(A, ("New", "n."), B)) == Delta(added=("R2",), renamed=(("R2", "R3"),))
    assert spec.delta(numbered(A, B), numbered(B, A)).renamed == (("R2", "R1"), ("R1", "R2"))
    group = "\n### R3\n\n#### Scenario: c\n\n- **WHEN** x\n- **THEN** y\n"
    assert spec.delta(base + group, numbered(A, B) + group).removed == ("R3",)
    retitled = numbered(A, foot="### R7 - Bee\n\nb.\n\n" + FOOT)
    assert spec.delta(numbered(A, B), retitled) == Delta(changed=("R7",), renamed=(("R2", "R7"),))


def test_a_line_that_both_sides_have_once_is_missed_in_a_merged_text() -> None:
    without = edited(("The game ends.\n\n", ""))

    def lost(base: str, ours: str, theirs: str) -> list[str | None]:
        found = flaws(tree(base), tree(without), tree(ours), tree(theirs), settled=True)
        return [text for each in found if each.why == LOST for text in (each.ours, each.theirs)]

    twice = edited(("Two people play.", "The game ends."))
    assert lost(BASE, BASE, BASE) == lost(without, BASE, BASE) == ["The game ends."] * 2
    assert (
        lost(BASE, without, BASE)
        == lost(BASE, BASE, without)
        == lost(twice, BASE, BASE)
        == lost(BASE, twice, BASE)
        == []
    )
