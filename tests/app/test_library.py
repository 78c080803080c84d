"""agentd as a library: ten names, light to import, and a whole change through them."""

import subprocess
import sys
from pathlib import Path

import pytest

import agentd
from tests.sandbox import CHANGE, IDEA, make_sandbox


def test_the_library_is_at_most_ten_names_and_each_is_there() -> None:
    assert len(agentd.__all__) <= 10
    for name in agentd.__all__:
        assert getattr(agentd, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'fly'"):
        _ = agentd.fly


def test_importing_agentd_imports_nothing_else() -> None:
    code = "import sys, agentd; print([name for name in sys.modules if name.startswith(('agentd.', 'yaml', 'click'))])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_change_is_planned_step_by_step_through_the_library(tmp_path: Path) -> None:
    told: list[str] = []
    project = agentd.load(make_sandbox(tmp_path).root, say=told.append)
    fields = {"clarification": "skipped: a test"}
    agentd.start(project, "change", CHANGE, IDEA, command="plan", steps=1, fields=fields)
    assert agentd.status(project, CHANGE).step == "clarify"
    before = ("write_answers", "choose_git", "set_up_git", "generate", "propose", "review_proposal", "specify")
    for step in (*before, "break_down"):
        report = agentd.resume(project, CHANGE, steps=1)
        assert (report.step, report.why) == (step, "paused")
    report = agentd.resume(project, CHANGE)
    assert (report.phase, report.why) == ("challenged", "elsewhere")
    assert agentd.resume(project, CHANGE).phase == "challenged"
    assert next(line for line in told if line.startswith("▶ ")) == "▶ propose"
    with pytest.raises(agentd.AgentdError):
        agentd.start(project, "change", CHANGE, IDEA)
