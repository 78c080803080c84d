"""The demonstration of the team workflow keeps what it promises, and its specification can go into the library."""

import json
from pathlib import Path

import pytest

from tests.sandbox import Sandbox

FULL = (
    "You said “I have concerns: the spec does not say in which order ties come”. Understood: changes are requested",
    "↻ review: blocked (AC-003 has no test.)",
    "? [Security] T-002: Security found what needs your decision:",
    "✓ which_risks: fix_now",
    "✓ close: done",
    "→ phase DONE",
)


@pytest.fixture
def away(tmp_path: Path) -> Sandbox:
    """A folder that is no project."""
    (tmp_path / "here").mkdir()
    return Sandbox(tmp_path / "here")


def test_the_full_demonstration_shows_a_gate_a_repair_a_decision_and_two_tasks(away: Sandbox, tmp_path: Path) -> None:
    done = away.run("demo", "--workflow", "team", "--keep", str(tmp_path / "kept"))
    assert done.code == 0, done.out + done.err
    for words in FULL:
        assert words in done.out
    begun = [done.out.index(f"[{name}] ▶ code") for name in ("T-001", "T-002")]
    landed = [done.out.index(f"[{name}] ✓ land: landed") for name in ("T-001", "T-002")]
    assert max(begun) < min(landed), "the tasks were not worked on side by side"
    status = json.loads((tmp_path / "kept" / ".agents-work" / "session" / "status.json").read_text())
    assert status["retry_counts"]["T-001"]["FIX_REVIEW"] == 1


def test_the_specification_of_a_lean_demonstration_is_archived_like_any_other(away: Sandbox, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    done = away.run("demo", "--workflow", "team", "--lean", "--keep", str(kept), "--json")
    assert done.code == 0, done.err
    assert done.data["failed"] == []
    adopted = away.run("deliver", "team/session", "--into-library", "--json", cwd=kept)
    assert adopted.code == 0, adopted.err
    name = adopted.data["change"]
    assert away.run("validate", name, "--strict", cwd=kept).code == 0
    tasks = (kept / "agentd" / "changes" / name / "tasks.md").read_text()
    assert "tally/" not in tasks, "which file belongs to which requirement is not known"
    assert tasks.count("file: .agents-work/session/acceptance.json") == tasks.count("spec_ref: ")
    assert away.run("archive", name, cwd=kept).code == 0
    library = (kept / "agentd" / "specs" / f"{name}.md").read_text()
    assert "### R1 - the longest word is given" in library
    assert "- **WHEN** test: test_the_longest_word_is_given" in library
    assert away.run("undo", name, cwd=kept).code == 0
    again = away.run("deliver", "team/session", "--into-library", cwd=kept)
    assert again.code == 1
    assert "There is a change 'session' already" in again.err


def test_a_session_that_is_not_done_brings_nothing_into_the_library(away: Sandbox, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    assert away.run("demo", "--workflow", "team", "--lean", "--keep", str(kept)).code == 0
    begun = away.run("run", "team", "Something else", "--session", "other", cwd=kept)
    assert begun.code != 0
    refused = away.run("deliver", "team/other", "--into-library", cwd=kept)
    assert refused.code == 1
    assert "not DONE" in refused.err
    assert not (kept / "agentd" / "changes").exists()
