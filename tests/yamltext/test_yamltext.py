"""YAML that people edit: whatever changes in the data, the rest of the text stays as somebody wrote it."""

import copy
import time
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml

from agentd.errors import Corrupt
from agentd.text.lossless_yaml import dump, parse, parse_bytes

STATE = """\
# The state of a change. You may edit this file.
change_id: add-oauth   # the folder's name
phase: proposed

# what the engine needs
run:
    step: challenge   # where we are
    # how often each edge was taken
    counts:
        challenge.needs_revision: 1
    waived: [audit.md, 'notes.md']
decisions:
- id: d1   # first
  question: "Shall we?"
- id: d2
description: |
  Log in with OAuth.

  # this is text, not a comment
owner: {name: Ada, since: 2026-01-02}
# the end
"""


def edited(text: str, **changes: Any) -> str:
    document = parse(text, "STATE.yaml")
    after = document.updated({**document.data, **changes})
    assert parse(after.text, "STATE.yaml").data == after.data
    return after.text


def without(text: str, *keys: str) -> str:
    document = parse(text, "STATE.yaml")
    data = copy.deepcopy(document.data)
    place = data
    for key in keys[:-1]:
        place = place[int(key) if isinstance(place, list) else key]
    del place[int(keys[-1]) if isinstance(place, list) else keys[-1]]
    after = document.updated(data)
    assert parse(after.text, "STATE.yaml").data == data
    return after.text


def test_an_update_without_change_is_the_same_text() -> None:
    document = parse(STATE, "STATE.yaml")
    assert document.updated(copy.deepcopy(document.data)) is document
    assert document.text == STATE


def test_a_changed_scalar_changes_only_itself() -> None:
    assert edited(STATE, phase="challenged") == STATE.replace("phase: proposed", "phase: challenged")
    assert edited(STATE, change_id="b") == STATE.replace("change_id: add-oauth ", "change_id: b ")


def test_a_new_key_comes_after_the_last_of_its_mapping() -> None:
    run = {"step": "challenge", "counts": {"challenge.needs_revision": 1, "b.c": 2}, "waived": ["audit.md", "notes.md"]}
    text = edited(STATE, run=run | {"intent": {"call": "c1"}}, result="done")
    expected = STATE.replace(": 1\n", ": 1\n        b.c: 2\n")
    expected = expected.replace("'notes.md']\n", "'notes.md']\n    intent:\n      call: c1\n")
    assert text == expected.replace("# the end", "result: done\n# the end")


def test_a_removed_key_takes_only_its_own_lines() -> None:
    assert without(STATE, "phase") == STATE.replace("phase: proposed\n", "")
    assert without(STATE, "change_id") == STATE.replace("change_id: add-oauth   # the folder's name\n", "")
    assert without(STATE, "run", "step") == STATE.replace("    step: challenge   # where we are\n", "")
    assert without(STATE, "decisions", "0", "id").count("- question:") == 1
    assert without(STATE, "owner").endswith("not a comment\n# the end\n")


def test_an_appended_item_has_the_indentation_of_its_list() -> None:
    decisions = parse(STATE, "STATE.yaml").data["decisions"]
    text = edited(STATE, decisions=[*decisions, {"id": "d3", "options": ["a", "b"]}])
    assert text == STATE.replace("- id: d2\n", "- id: d2\n- id: d3\n  options:\n    - a\n    - b\n")


def test_a_changed_flow_collection_stays_on_its_line() -> None:
    text = edited(STATE, owner={"name": "Ada, Countess", "since": "2026-01-02"})
    assert 'owner: {name: "Ada, Countess", since: "2026-01-02"}\n# the end' in text


def test_times_and_words_like_on_are_text() -> None:
    document = parse("on: 2026-01-02T03:04:05Z\nyes: no\nat: 1:30\n1: 0x10\nup: 1.5\nis: true\nnot: ~\n", "f")
    assert document.data == {
        "on": "2026-01-02T03:04:05Z", "yes": "no", "at": "1:30", "1": 16, "up": 1.5, "is": True, "not": None,
    }  # fmt: skip


def test_times_are_written_as_people_write_them_and_look_alikes_are_quoted() -> None:
    text = dump({"at": "2026-01-02T03:04:05Z", "on": "off", "n": "1", "t": "1:30", "void": "", "bad": "2026-02-31"})
    assert text == 'at: 2026-01-02T03:04:05Z\n"on": "off"\n"n": "1"\nt: "1:30"\nvoid: ""\nbad: "2026-02-31"\n'
    assert yaml.safe_load(text)["at"] == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_a_number_is_not_taken_for_a_word_that_looks_like_it() -> None:
    assert edited("a: 1\nb: true\n", a="1", b=1) == 'a: "1"\nb: 1\n'
    assert edited("a: 1\n", a=True) == "a: true\n"
    assert edited("a: 1\n", a=1.0) == "a: 1.0\n"


def test_changing_the_data_in_place_is_noticed_by_an_update() -> None:
    document = parse(STATE, "STATE.yaml")
    document.data["run"]["waived"].append("x.md")
    assert "waived: [audit.md, notes.md, x.md]" in document.updated(document.data).text


def test_tuples_and_other_mappings_are_written_as_lists_and_mappings() -> None:
    document = parse("a: [x]\n", "f").updated({"a": ("x",), "b": MappingProxyType({"c": (1, 2)})})
    assert document.text == "a: [x]\nb:\n  c:\n    - 1\n    - 2\n"
    assert document.data == {"a": ["x"], "b": {"c": [1, 2]}}


def test_a_comment_after_a_value_outlives_its_change_to_many_lines() -> None:
    assert edited("a: x # why\nb: 1\n", a="l1\nl2\n") == 'a: "l1\\nl2\\n" # why\nb: 1\n'
    assert edited("a: x # why\nb: 1\n", a={"c": [1]}) == "a:\n  c:\n    - 1 # why\nb: 1\n"
    assert edited("a: x\nb: 1\n", a="l1\nl2\n") == "a: |\n  l1\n  l2\nb: 1\n"


def test_a_comment_indented_below_a_block_never_becomes_part_of_a_text() -> None:
    text = "a: |\n  text\nb:\n  x: 1\n  # about b\nc: 2\n"
    assert without(text, "b") == "a: |\n  text\nc: 2\n"
    assert without("r:\n  a: |\n    text\n  b:\n    x: 1\n    # about b\n# about c\nc: 2\n", "r", "b") == (
        "r:\n  a: |\n    text\n# about c\nc: 2\n"
    )


def test_blank_lines_never_become_part_of_a_text_that_keeps_them() -> None:
    assert without("a: |+\n  text\nb: 1\n\nc: 2\n", "b") == 'a: "text\\n"\n\nc: 2\n'


def test_a_text_at_the_end_of_a_file_without_newline_stays_as_it_is() -> None:
    text = "b: 1\na: |\n  text"
    document = parse(text, "f")
    assert document.updated({"a": "text", "b": 1}).text == text
    assert parse(document.updated({"a": "text", "b": 1, "c": 2}).text, "f").data == {"a": "text", "b": 1, "c": 2}
    assert edited("a: 1", b=2) == "a: 1\nb: 2\n"


def test_crlf_and_a_byte_order_mark_are_kept() -> None:
    text = "\ufeffa: 1 # x\r\nb:\r\n  c: 2\r\n"
    assert edited(text, a=2, d={"e": "l1\nl2\n"}) == (
        "\ufeffa: 2 # x\r\nb:\r\n  c: 2\r\nd:\r\n  e: |\r\n    l1\r\n    l2\r\n"
    )
    document = parse_bytes(text.encode(), "f")
    assert document.updated({"z": 1}).text == "\ufeffz: 1\r\n"
    assert parse("\ufeff{a: 1}\n", "f").updated({"z": 1}).text == "\ufeffz: 1\n"


def test_everything_can_be_removed_and_added_again() -> None:
    document = parse("# top\n---\na: 1\nb:\n  - 1\n", "f")
    empty = document.updated({})
    assert empty.text == "# top\n---\n{}\n"
    assert empty.updated({"c": [1]}).text == "# top\n---\nc:\n  - 1\n"
    assert edited("l:\n- x: 1\n", l=[{"z": 2}]) == "l:\n- z: 2\n"


def test_anchors_and_aliases_are_read_and_kept() -> None:
    text = "base: &b {x: 1}\nother: *b\nlist: &l\n  - 1\nn: 1\n"
    document = parse(text, "f")
    assert document.data == {"base": {"x": 1}, "other": {"x": 1}, "list": [1], "n": 1}
    assert edited(text, n=2) == text.replace("n: 1", "n: 2")
    assert edited(text, other={"x": 2}) == text.replace("*b", "\n  x: 2").replace("other: \n", "other:\n")


@pytest.mark.parametrize(
    "new",
    [{"base": {"x": 2}}, {"list": [2]}, {"list": []}, {"in": {"here": 2}}, {"in": 1}],
)
def test_a_value_that_an_alias_may_stand_for_is_never_changed(new: dict[str, Any]) -> None:
    document = parse("base: &b {x: 1}\nother: *b\nlist: &l\n  - 1\nin:\n  here: &h 1\n", "f.yaml")
    with pytest.raises(Corrupt, match=r"f\.yaml cannot be updated") as caught:
        document.updated({**document.data, **new})
    assert "f.yaml" in caught.value.fix
    with pytest.raises(Corrupt):
        document.updated({key: value for key, value in document.data.items() if key not in new})


def test_tags_of_plain_data_are_read() -> None:
    assert parse("a: !!str 1\nb: !!float 1\nc: !!map\n  d: !!seq\n  - !!null ''\n", "f").data == {
        "a": "1", "b": 1.0, "c": {"d": [None]},
    }  # fmt: skip
    assert edited("c: !!map\n  d: !!seq\n  - !!int 1\n", c={"d": [2, 3]}) == "c: !!map\n  d: !!seq\n  - 2\n  - 3\n"
    assert edited("c: !!map # x\n  d: 1\n", c=5) == "c: 5\n"


@pytest.mark.requirement(91)
@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        (b"", "1:1", "empty"),
        (b"# only a comment\n", "2:1", "empty"),
        (b"- a\n", "1:1", "mapping"),
        (b"just words\n", "1:1", "mapping"),
        (b"a: 1\nb: [1, 2\n", "3:1", "expected"),
        (b"a: 1\n b: 2\n", "2:3", "mapping values"),
        (b"a: 1\nb: 2\na: 3\n", "3:1", "'a' was there already on line 1"),
        (b"a: {b: 1, b: 2}\n", "1:11", "already"),
        (b"a: 1\n---\nb: 2\n", "2:1", "second document"),
        (b"a: x\0y\n", "1:5", "U+0000"),
        (b"a: 1\nb: \xff\n", "2:4", "0xFF is not UTF-8"),
        (b"a: !!python/object/apply:os.getcwd []\n", "1:4", "tag"),
        (b"a: !secret x\n", "1:4", "tag"),
        (b"a: !!set {x}\n", "1:4", "tag"),
        (b"a: *nowhere\n", "1:4", "&nowhere"),
        (b"a: &a [*a]\n", "1:8", "&a"),
        (b"a: &a {x: 1}\n<<: *a\n", "2:1", "write the keys out"),
        (b"? a\n: 1\n", "1:3", "one line"),
        (b"[a]: 1\n", "1:1", "a key must be a word"),
        (b"a: " + b"9" * 5000 + b"\n", "1:4", "too long"),
        (b"a: " + b"[" * 3000 + b"]" * 3000 + b"\n", "1:", "nest"),
    ],
)
def test_what_cannot_be_trusted_is_refused_with_its_place(text: bytes, where: str, what: str) -> None:
    with pytest.raises(Corrupt) as caught:
        parse_bytes(text, "dir/STATE.yaml")
    assert caught.value.message.startswith(f"dir/STATE.yaml:{where}")
    assert what in caught.value.message
    assert "dir/STATE.yaml" in caught.value.fix


def test_a_bomb_of_aliases_is_refused() -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(Corrupt, match="too many values"):
        parse("\n".join(lines), "f")


def test_what_cannot_be_written_is_refused() -> None:
    document = parse("a: 1\n", "f")
    for value in (datetime(2026, 1, 1, tzinfo=UTC), Path("x"), {1: 2}, b"x"):
        with pytest.raises(TypeError):
            document.updated({"a": value})
    with pytest.raises(ValueError, match="half a character"):
        document.updated({"a": "\ud800"})
    with pytest.raises(ValueError, match="key"):
        document.updated({"k" * 2000: 1})


def test_an_update_of_a_small_document_is_cheap() -> None:
    calls = [
        {"step": f"s{n}", "model": "m", "tokens_in": n, "cost": 0.5, "at": "2026-01-02T03:04:05Z"} for n in range(50)
    ]
    document = parse(STATE + dump({"calls": calls}), "STATE.yaml")
    assert len(document.text) > 4000
    first = copy.deepcopy(document.data) | {"updated_at": "2026-01-02T03:04:05Z"}
    second = copy.deepcopy(first) | {"phase": "challenged", "updated_at": "2026-01-02T03:04:06Z"}
    second["run"] |= {"step": "revise", "intent": {"call": "c1", "at": "2026-01-02T03:04:06Z"}}
    second["run"]["counts"]["challenge.needs_revision"] = 2
    took = []
    for _ in range(50):
        start = time.process_time()
        for _ in range(10):
            document = document.updated(first).updated(second)
        took.append((time.process_time() - start) / 20)
    assert min(took) < 0.0004  # about 0.1 ms on a quiet machine; parsing takes thirty times as long


def test_a_byte_order_mark_before_a_list_is_read_over() -> None:
    text = "a:\n\ufeff  - x\nb: 1\n"
    assert parse(text, "f").data == {"a": ["x"], "b": 1}
    assert parse(text, "f").text == text
