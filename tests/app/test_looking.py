"""Looking at runs: archived ones are left alone, unless somebody asks or one was cut off while it was archived."""

from pathlib import Path

import pytest

from agentd.cli.list import archived_rows
from agentd.families.change import LAYOUT
from agentd.families.change.archive import records
from agentd.families.change.archive.records import Archived, Record, Touched
from agentd.model.merge import Delta
from agentd.runs.overview import overview
from agentd.runs.report import Report
from agentd.state.store import Store
from tests.app.tree import NOW, Tree, state


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "repo")


def archived(tree: Tree, name: str, text: str) -> Path:
    folder = tree.root / "agentd" / "archive" / name
    folder.mkdir(parents=True)
    (folder / "STATE.yaml").write_text(text)
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


def test_a_folder_that_is_no_run_is_no_run(tree: Tree) -> None:
    (tree.root / "agentd" / "changes" / "empty").mkdir()
    (tree.root / "agentd" / "changes" / "a file").write_text("x")
    assert names(tree) == []


def test_a_peek_sees_what_a_load_sees(tree: Tree) -> None:
    folder = tree.change()
    store = Store(folder, LAYOUT.codec)
    assert store.peek() == store.load()
    (folder / "STATE.yaml").write_text(state("add-oauth") + "note: {a: [1, 'x', &b c]}\nagain: *b\n")
    assert store.peek() == store.load()


def recorded(tree: Tree, name: str, at: str, **specs: Touched) -> Path:
    folder = archived(tree, name, state(name, "archived"))
    records.write(folder, Record(name, at, "somebody", {f"{key}.md": touched for key, touched in specs.items()}))
    return folder


def test_the_archive_is_told_newest_first_and_what_is_not_archived_is_no_part_of_it(tree: Tree) -> None:
    tree.change("one")
    recorded(tree, "late", "2026-02-01T10:00:00.5Z")
    recorded(tree, "latest", "2026-02-01T12:30:00+02:00")
    recorded(tree, "early", "2026-02-01T10:00:00Z")
    archived(tree, "old", state("old", "archived"))
    rows = archived_rows(records.archived(tree.project))
    assert [row["run"] for row in rows] == ["change/latest", "change/late", "change/early", "change/old"]
    assert rows[-1]["at"] == NOW


def test_what_an_archive_did_is_told_of_each_spec(tree: Tree) -> None:
    delta = Delta(added=("R1",))
    recorded(
        tree,
        "all",
        NOW,
        fresh=Touched(None, "a", delta),
        other=Touched("a", "b", Delta(other=True)),
        gone=Touched("a", None),
    )
    (entry,) = records.archived(tree.project)
    assert isinstance(entry, Archived)
    found = {name: (touched.what, touched.delta) for name, touched in entry.specs.items() if touched}
    assert found == {
        "fresh.md": ("added", delta),
        "other.md": ("changed", Delta(other=True)),
        "gone.md": ("removed", Delta()),
    }


def test_a_record_or_a_state_that_cannot_be_read_hides_no_other(tree: Tree) -> None:
    (recorded(tree, "a", NOW) / records.NAME).write_text('{"specs": {}}')
    recorded(tree, "b", NOW)
    archived(tree, "c", "not a state: [")
    altered = recorded(tree, "d", NOW, one=Touched("a", "b")) / records.NAME
    altered.write_text(altered.read_text().replace('"before": "a"', '"before": "x"'))
    assert [(row["run"], row["doing"]) for row in archived_rows(records.archived(tree.project))] == [
        ("change/b", "finished"),
        ("change/a", "unreadable"),
        ("change/c", "unreadable"),
        ("change/d", "unreadable"),
    ]


def test_of_a_change_archived_without_a_record_only_the_names_of_its_specs_are_told(tree: Tree) -> None:
    folder = archived(tree, "old", state("old", "archived"))
    (folder / "specs" / "deep").mkdir(parents=True)
    (folder / "specs" / "deep" / "one.md").write_text("# One\n")
    assert list(records.archived(tree.project)) == [Archived("old", NOW, {"deep/one.md": None})]
