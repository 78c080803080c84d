"""A task is done when its file is, whatever anybody says of it."""

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentd.model.change import Action, Task
from agentd.proof.task_done import undone

SHA1 = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
SHA256 = "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"


def why(action: Action, path: str, before: dict[str, str], now: dict[str, str]) -> str:
    return undone(Task("logic", 1, "Do it", path, action, "auth:R1"), before, now)


@pytest.mark.parametrize("path", ["tally/words.py", "./tally/words.py", " tally//words.py "])
@pytest.mark.parametrize(
    ("action", "before", "now", "expected"),
    [
        ("CREATE", "", "1", ""),
        ("CREATE", "", "", "tally/words.py is not there"),
        ("CREATE", "1", "", "tally/words.py is not there"),
        ("CREATE", "1", "1", "tally/words.py has not changed"),
        ("CREATE", "1", "2", ""),
        ("CREATE", "", SHA1, "tally/words.py is empty"),
        ("CREATE", "1", SHA256, "tally/words.py is empty"),
        ("MODIFY", "1", "2", ""),
        ("MODIFY", "", "1", ""),
        ("MODIFY", "1", "1", "tally/words.py has not changed"),
        ("MODIFY", "1", "", "tally/words.py is not there"),
        ("MODIFY", "", "", "tally/words.py is not there"),
        ("DELETE", "1", "", ""),
        ("DELETE", "", "", ""),
        ("DELETE", "1", "2", "tally/words.py is still there"),
        ("RENAME", "1", "", ""),
        ("RENAME", "", "1", ""),
        ("RENAME", "1", "1", "tally/words.py is still there"),
        ("RENAME", "", "", "tally/words.py is not there"),
    ],
)
def test_a_task_on_a_file_is_done_when_the_file_is(
    path: str, action: Action, before: str, now: str, expected: str
) -> None:
    rest = {"tally/other.py": "9", "tally/words.pyc": "9"}
    then = {"tally/words.py": before} if before else {}
    there = {"tally/words.py": now} if now else {}
    assert why(action, path, {**rest, **then}, {**rest, **there}) == expected


@pytest.mark.parametrize("arrow", [" -> ", " → ", "→", "->", " ->  "])
def test_a_renaming_is_done_when_the_old_file_is_gone_and_the_new_one_there(arrow: str) -> None:
    path = f"./src/old.py{arrow}src/new.py"
    assert why("RENAME", path, {"src/old.py": "1"}, {"src/new.py": "1"}) == ""
    assert why("RENAME", path, {"src/old.py": "1"}, {"src/new.py": "2"}) == ""
    assert why("RENAME", path, {"src/old.py": "1"}, {}) == "src/new.py is not there"
    assert why("RENAME", path, {"src/old.py": "1"}, {"src/old.py": "1"}) == "src/old.py is still there"
    both = {"src/old.py": "1", "src/new.py": "1"}
    assert why("RENAME", path, {"src/old.py": "1"}, both) == "src/old.py is still there"


def test_a_folder_is_renamed_with_all_that_is_in_it() -> None:
    assert why("RENAME", "old/ -> new/", {"old/a": "1", "old/b": "2"}, {"new/a": "1", "new/b": "2"}) == ""
    assert (
        why("RENAME", "old -> new", {"old/a": "1", "old/b": "2"}, {"new/a": "1", "old/b": "2"})
        == "old/b is still there"
    )


def test_a_folder_may_move_into_itself() -> None:
    assert why("RENAME", "src -> src/core", {"src/a": "1", "src/b": "1"}, {"src/core/a": "1", "src/core/b": "1"}) == ""
    said = why("RENAME", "src -> src/core", {"src/a": "1", "src/b": "1"}, {"src/core/a": "1", "src/b": "1"})
    assert said == "src/b is still there"


@pytest.mark.parametrize(
    "path", ["src/deep/", "src/deep", "./src/deep", "src/**/", "src/*/*.py", "**/*.py", "src/deep/?.py"]
)
def test_of_a_folder_or_a_pattern_something_has_to_change(path: str) -> None:
    before = {"src/deep/a.py": "1", "src/deeper/a.txt": "1", "b.txt": "1"}
    shown = path.removeprefix("./")
    assert why("MODIFY", path, before, {**before, "b.txt": "2"}) == f"{shown} has not changed"
    assert why("CREATE", path, before, before) == f"{shown} has not changed"
    for action in ("MODIFY", "CREATE"):
        assert why(action, path, before, {**before, "src/deep/a.py": "2"}) == ""
        assert why(action, path, before, {**before, "src/deep/n.py": "2"}) == ""
        assert why(action, path, {}, {}) == f"{shown} is not there"
    assert why("CREATE", path, before, {**before, "src/deep/n.py": SHA1}) == f"{shown} is empty"
    one_gone = {"src/deep/b.py": "1", **before}
    assert why("MODIFY", path, one_gone, before) == ""
    assert why("CREATE", path, one_gone, before) == f"{shown} has not changed"
    assert why("DELETE", path, one_gone, before) == "src/deep/a.py is still there"


def test_the_whole_project_is_a_folder() -> None:
    assert why("MODIFY", "./", {"a": "1"}, {"a": "1"}) == ". has not changed"
    assert why("MODIFY", ".", {"a": "1"}, {"a": "2"}) == ""


def test_a_star_does_not_reach_into_folders_and_brackets_are_plain() -> None:
    assert why("CREATE", "src/*.py", {}, {"src/deep/a.py": "1"}) == "src/*.py is not there"
    assert why("CREATE", "app/[id]/page.tsx", {}, {"app/i/page.tsx": "1"}) == "app/[id]/page.tsx is not there"
    assert why("CREATE", "app/[id]/page.tsx", {}, {"app/[id]/page.tsx": "1"}) == ""
    assert why("CREATE", "odd*name", {"odd*name": "1", "odd-name": "1"}, {"odd*name": "1", "odd-name": "2"}) == (
        "odd*name has not changed"
    )


@pytest.mark.parametrize("name", ["tally/__init__.py", "py.typed", "data/.gitkeep"])
def test_some_files_are_meant_to_be_empty(name: str) -> None:
    assert why("CREATE", name, {}, {name: SHA1}) == ""


NAMES = st.sampled_from(["a", "a.py", "b", "src/a.py", "src/b.py", "src/deep/a.py", "[x]"])
FILES = st.dictionaries(NAMES, st.sampled_from(["1", "2", SHA1]))
ACTIONS = st.sampled_from(get_args(Action))
PATHS = NAMES | st.sampled_from(["src", "src/", "src/*.py", "**", "a -> b", "src/ → b", "nowhere", "*"])


@given(action=ACTIONS, path=PATHS, before=FILES, now=FILES)
def test_other_files_do_not_matter_and_neither_do_dots(
    action: Action, path: str, before: dict[str, str], now: dict[str, str]
) -> None:
    said = why(action, path, before, now)
    assert why(action, f"./{path}", before, now) == said
    if "*" not in path:
        assert why(action, path, {**before, "x/else": "1"}, {**now, "x/else": "2", "x/more": "1"}) == said
    assert "\n" not in said


@given(action=st.sampled_from(["CREATE", "MODIFY"]), path=PATHS, files=FILES)
def test_where_nothing_changed_nothing_was_created_or_modified(
    action: Action, path: str, files: dict[str, str]
) -> None:
    assert why(action, path, files, files)


@given(path=NAMES, before=FILES, now=FILES)
def test_a_modified_file_differs_and_a_deleted_one_is_gone(
    path: str, before: dict[str, str], now: dict[str, str]
) -> None:
    assume(path in before or path in now)
    assert (why("MODIFY", path, before, now) == "") == (path in now and now[path] != before.get(path))
    assert (why("DELETE", path, before, now) == "") == (path not in now)
    created = path in now and now[path] not in (before.get(path), SHA1)
    assert (why("CREATE", path, before, now) == "") == created


@given(action=ACTIONS, path=PATHS, before=FILES, now=FILES)
def test_what_anybody_says_of_the_task_does_not_matter(
    action: Action, path: str, before: dict[str, str], now: dict[str, str]
) -> None:
    task = Task("logic", 1, "Do it", path, action, "none")
    claimed = replace(task, status="completed", title="Done", description="All is done.")
    assert undone(task, before, now) == undone(claimed, before, now)
