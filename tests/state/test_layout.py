"""Where things live, and that no name leads anywhere else."""

from pathlib import Path

import pytest

from agentd.app import LAYOUTS
from agentd.errors import Corrupt, UsageError
from agentd.families import change
from agentd.runs.layout import Layout
from agentd.state.layout import child_folder, find_root


def test_the_nearest_folder_with_agentds_files_is_the_root(tmp_path: Path) -> None:
    for folder in ("", "packages/api"):
        (tmp_path / folder / "agentd" / "changes").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    deep = tmp_path / "packages" / "api" / "src"
    deep.mkdir()
    assert find_root(deep) == tmp_path / "packages" / "api"
    assert find_root(tmp_path / "packages") == tmp_path


def test_without_agentds_files_the_top_of_the_checkout_is_the_root(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: elsewhere")
    (tmp_path / "a" / "agentd").mkdir(parents=True)
    assert find_root(tmp_path / "a") == tmp_path


@pytest.mark.parametrize("name", ["..", ".", "a/b", "/etc", "", "a\x00", "a\n", "-a", ".git", "x" * 101, "é"])
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_name_that_is_a_path_is_refused(tmp_path: Path, layout: Layout, name: str) -> None:
    with pytest.raises(UsageError):
        layout.place(tmp_path, name)


@pytest.mark.parametrize("item", ["..", "a/b", "", "."])
def test_an_item_that_is_a_path_is_refused(tmp_path: Path, item: str) -> None:
    with pytest.raises(Corrupt):
        child_folder(tmp_path, "work", item)


def test_an_archived_change_is_found_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "agentd" / "archive" / "old").mkdir(parents=True)
    assert change.LAYOUT.place(tmp_path, "old").folder == tmp_path / "agentd" / "archive" / "old"
    assert change.LAYOUT.place(tmp_path, "new").folder == tmp_path / "agentd" / "changes" / "new"


def test_every_family_has_its_home(tmp_path: Path) -> None:
    folders = ("agentd/changes/a", "agentd/archive/b", ".agents-work/2026-01-01_c", ".agents/tmp", "agentd/runs/e")
    for folder in folders:
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "agentd" / "changes" / "a-file").write_text("")
    assert [(found.family, found.name) for layout in LAYOUTS for found in layout.places(tmp_path)] == [
        ("change", "a"),
        ("change", "b"),
        ("team", "2026-01-01_c"),
        ("staged", "tmp"),
        ("own", "e"),
    ]
