"""Looking at runs: archived ones are left alone, unless somebody asks or one was cut off while it was archived."""

from pathlib import Path

import pytest

from agentd.app.looking import overview
from agentd.app.report import Report
from agentd.state.codecs import codec
from agentd.state.store import Store
from tests.app.tree import Tree, state


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "repo")


def archived(tree: Tree, name: str, text: str, lock: str = "") -> Path:
    folder = tree.root / "agentd" / "archive" / name
    folder.mkdir(parents=True)
    (folder / "STATE.yaml").write_text(text)
    (folder / ".lock").write_text(lock)
    return folder


def names(tree: Tree, everything: bool = False) -> list[str]:
    found = overview(tree.project, archived=everything)
    return [entry.name if isinstance(entry, Report) else f"{entry.name}?" for entry in found]


def test_archived_changes_are_not_read_unless_they_are_asked_for(tree: Tree) -> None:
    tree.change("one")
    archived(tree, "two", state("two", "archived"))
    archived(tree, "three", "not a state: [")
    assert names(tree) == ["one"]
    assert names(tree, everything=True) == ["one", "change/three?", "two"]


def test_a_change_whose_process_died_while_it_was_archived_is_still_shown(tree: Tree) -> None:
    archived(tree, "two", state("two", "complete"), lock='{"pid": 1}\n')
    assert names(tree) == ["two"]


def test_a_folder_that_is_no_run_is_no_run(tree: Tree) -> None:
    (tree.root / "agentd" / "changes" / "empty").mkdir()
    (tree.root / "agentd" / "changes" / "a file").write_text("x")
    assert names(tree) == []


def test_a_peek_sees_what_a_load_sees(tree: Tree) -> None:
    folder = tree.change()
    store = Store(folder, codec("change"))
    assert store.peek() == store.load()
    (folder / "STATE.yaml").write_text(state("add-oauth") + "note: {a: [1, 'x', &b c]}\nagain: *b\n")
    assert store.peek() == store.load()
