"""The end of the demonstration by itself: it proves what it shows, and says what was not so."""

import json
from pathlib import Path

import pytest
import yaml

from agentd.demo import Shown, make_repository
from agentd.demo.disputing import FIRST, OWN, SECOND, SENTENCES, SPEC, Dispute, dispute, library
from agentd.demo.terminal import Terminal
from agentd.errors import MergeConflict
from agentd.families.change.archive.commands import archive
from agentd.library import spec
from agentd.model.change import Requirement, Scenario, Spec

NOW = "2026-01-19T10:00:00Z"
TOP = '''

def top(text: str, n: int, without: tuple[str, ...] = ()) -> list[tuple[str, int]]:
    """The n most frequent words."""
    unwanted = set(without)
    found = [pair for pair in count(text).items() if pair[0] not in unwanted]
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:n]
'''


def after_the_first_change(folder: Path) -> Path:
    """The demonstration's repository, with what its first change brings."""
    root = make_repository(folder / "agentd-demo")
    said = yaml.safe_load((root / "agentd" / "demo.yaml").read_text("utf-8"))["revise"]["tools"][0]["create_spec"]
    requirements = tuple(Requirement(**each) for each in said["requirements"])
    scenarios = tuple(Scenario(**each) for each in said["scenarios"])
    page = Spec(SPEC, said["title"], said["overview"], requirements, scenarios, created_at=NOW, updated_at=NOW)
    (root / "agentd" / "specs").mkdir()
    (root / "agentd" / "specs" / f"{SPEC}.md").write_text(spec.render(page), "utf-8")
    with (root / "tally" / "words.py").open("a", encoding="utf-8") as words:
        words.write(TOP)
    (root / "tally" / "__init__.py").write_text('from tally.words import count, top\n\n__all__ = ["count", "top"]\n')
    return root


def test_two_changes_on_one_spec_conflict_are_settled_and_undone_and_can_be_archived_again(tmp_path: Path) -> None:
    said: list[str] = []
    terminal = Terminal(after_the_first_change(tmp_path), said.append)
    found = dispute(terminal, lambda told: [f"{one.id} {[each.change for each in one.events]}" for one in told.stories])
    assert set(found.kept.values()) == {True}, found.kept
    data = json.loads(json.dumps(found.to_data()))
    assert (data["refused"]["error"], data["refused"]["exit"]) == ("MergeConflict", 1)
    assert [(one["spec"], one["part"]) for one in data["refused"]["conflicts"]] == [(f"{SPEC}.md", "R1")]
    assert data["phase_after_undo"] == "complete"
    assert f"  R1 {[FIRST, SECOND]}" in said
    theirs, _, both = SENTENCES
    page = terminal.folder / "agentd" / "specs" / f"{SPEC}.md"
    assert [text in page.read_text("utf-8") for text in (theirs, both, *OWN)] == [True, False, True, False]
    assert archive(terminal.project(), SECOND).phase == "archived"
    assert [text in page.read_text("utf-8") for text in (theirs, both, *OWN)] == [False, True, True, True]


def test_what_was_promised_and_is_not_so_is_named() -> None:
    conflict = MergeConflict("They disagree.", "agentd archive b --edit", (), ())
    shown = Shown(Path(), "archived", True, "OK", (), Dispute({"kept": True, "broken": False}, conflict, "complete"))
    assert shown.failed == ("broken",)
    assert Shown(Path(), "complete", False, "FAILED", (), Dispute({}, conflict, "")).failed == (
        "the_change_is_archived",
        "its_tests_are_green",
    )


@pytest.mark.parametrize("path", ["a.md", "deep/b.md"])
def test_one_byte_and_one_empty_folder_make_another_library(tmp_path: Path, path: str) -> None:
    home = tmp_path / "agentd" / "specs"
    (home / "deep").mkdir(parents=True)
    for name in ("a.md", "deep/b.md"):
        (home / name).write_bytes(b"text\n")
    before = library(tmp_path)
    (home / path).write_bytes(b"text\r\n")
    assert library(tmp_path) != before
    (home / path).write_bytes(b"text\n")
    assert library(tmp_path) == before
    (home / "empty").mkdir()
    assert library(tmp_path) != before
