"""Agents that no sandbox confines: what changes in the person's checkout while they work is named."""

from pathlib import Path

import pytest

from tests.sandbox import make_sandbox
from tests.staged.runs import Staged, code


@pytest.mark.parametrize("mode", ["off", "workspaces"])
def test_what_changed_in_the_checkout_meanwhile_is_named_where_nothing_confines_the_agent(
    tmp_path: Path, mode: str
) -> None:
    run = Staged(make_sandbox(tmp_path))
    run.sandbox.set("sandbox", mode=mode)
    (run.root / "notes.txt").write_text("mine\n")
    write = f"echo theirs >> {run.root}/notes.txt; echo theirs > {run.root}/planted.txt"
    run.script(implement=code(1, run=["sh", "-c", f"({write}) 2>/dev/null || true"]))
    ran = run.start("--from-stage", "IMPLEMENT")
    told = "in your checkout changed, by you or by" in ran.out and "notes.txt, planted.txt" in ran.out
    written = "theirs" in (run.root / "notes.txt").read_text()
    assert told == written
    assert told or mode == "workspaces"
