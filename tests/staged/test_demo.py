"""The demonstration of the staged workflow keeps what it promises."""

import json
from pathlib import Path

import pytest

from tests.landing.repositories import git
from tests.sandbox import Sandbox

SHOWN = (
    "↻ review_plan: needs_revision (One task cannot be proved.)",
    "✓ review_plan: approved",
    "↻ run_tests: source_is_wrong",
    "the code of IMPLEMENT so far is set aside as refs/agentd/staged/tmp/aside/implement-1",
    "✓ review_all: approved",
    "→ phase COMPLETE",
    "✓ main is at ",
)


@pytest.fixture
def away(tmp_path: Path) -> Sandbox:
    """A folder that is no project."""
    (tmp_path / "here").mkdir()
    return Sandbox(tmp_path / "here")


def side_by_side(out: str, step: str, end: str, *names: str) -> None:
    begun = [out.index(f"[{name}] ▶ {step}") for name in names]
    ended = [out.index(f"[{name}] ✓ {end}") for name in names]
    assert max(begun) < min(ended), f"{step}: they were not at work side by side"


def test_the_demonstration_shows_explorers_and_tasks_side_by_side_a_corrected_plan_and_a_restart(
    away: Sandbox, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    done = away.run("demo", "--workflow", "staged", "--keep", str(kept))
    assert done.code == 0, done.out + done.err
    at = [done.out.index(words) for words in SHOWN]
    assert at == sorted(at)
    side_by_side(done.out, "explore", "explore: done", "query-1", "query-2", "query-3", "query-4")
    # The second time: no test run has to be waited for before a task begins.
    side_by_side(done.out.partition("set aside")[2], "implement", "land: landed", "task-1", "task-2", "task-3")
    state = json.loads((kept / ".agents" / "tmp" / "state.json").read_text())
    assert state["stages"]["IMPLEMENT"]["restartCount"] == 1
    assert "max(1," in git(kept, "show", "main:tally/average.py")
    assert "max(1," not in git(kept, "show", "refs/agentd/staged/tmp/aside/implement-1:tally/average.py")


def test_the_demonstration_tells_programs_what_it_kept(away: Sandbox) -> None:
    done = away.run("demo", "--workflow", "staged", "--json")
    assert done.code == 0, done.err
    assert done.data["failed"] == []
    assert done.data["phase"] == "COMPLETE"
