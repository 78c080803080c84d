"""TEST runs the project's commands and those of the stage itself; what fails goes to who can repair it."""

import shlex
import sys
from pathlib import Path

import pytest

from agentd import demo
from tests.landing.repositories import git, write
from tests.plan.plans import Spy, spied
from tests.sandbox import copy_sandbox, make_sandbox
from tests.staged.runs import ROLES, Staged, code, plan, task

# A test that only TEST runs, and that is older than the run.
WHOLE = """import unittest


class Whole(unittest.TestCase):
    def test_the_whole(self) -> None:
        try:
            from tally.part1 import PART
        except ImportError:
            return
        self.assertEqual(PART, 1)
"""
# A test with a mistake of its own, which no earlier stage runs, and the same test repaired.
MISTAKEN = """import unittest

from tally.part1 import PART


class Part(unittest.TestCase):
    def test_again(self) -> None:
        self.assertEqual(PART, ONE)
"""
REPAIRED = MISTAKEN.replace("ONE", "1")
SIMPLIFIED = "# Simplified\n\nOne number less.\n"


@pytest.fixture(scope="module")
def checked_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose TEST stage has a command of its own, and in which a run begins with its tasks."""
    staged = Staged(make_sandbox(tmp_path_factory.mktemp("prepared")))
    write(staged.root, {"checks/__init__.py": "", "checks/test_whole.py": WHOLE})
    staged.sandbox.set("staged", test=shlex.join(demo.tests()).replace("-s tests", "-s checks"), without=["FINAL"])
    git(staged.root, "add", "--all")
    git(staged.root, "commit", "--quiet", "--amend", "--no-edit")
    return staged.root


@pytest.fixture
def checked(checked_once: Path, tmp_path: Path) -> Staged:
    return Staged(copy_sandbox(checked_once, tmp_path))


def start(staged: Staged, *files: str) -> list[str]:
    path = staged.root.parent / "plan.md"
    path.write_text(plan(task(1, ("tally/part1.py", "tests/test_part1.py", *files))))
    return staged.start("--plan", str(path)).out.splitlines()


def watched(staged: Staged) -> Spy:
    spy = spied(staged.sandbox)
    staged.sandbox.set("roles", **dict.fromkeys(ROLES, "spy"))
    return spy


def ran(staged: Staged, kind: str) -> list[tuple[str, str]]:
    return [
        (one["command"], one["status"])
        for one in staged.data("3.1-test-results.json")["commands"]
        if one["kind"] == kind
    ]


@pytest.mark.requirement(241, 242)
def test_the_commands_of_the_project_and_of_the_stage_are_run_and_a_green_run_needs_no_analysis(
    checked: Staged,
) -> None:
    lint = shlex.join([sys.executable, "-c", "print('tidy')"])
    checked.sandbox.set("staged", lint=lint)
    lines = start(checked)
    assert checked.state["status"] == "completed", lines
    found = checked.data("3.1-test-results.json")
    assert found["passed"] is True
    assert found["failure"] is None
    assert [status for _, status in ran(checked, "test")] == ["green", "green"]
    assert [command for command, _ in ran(checked, "test")][1].endswith("-s checks -t .")
    assert ran(checked, "lint") == [(lint, "green")]
    assert "analyze_failures" not in checked.calls()
    assert "3.2-analysis.md" not in checked.phases()
    assert checked.state["stages"]["TEST"]["phases"]["3.2"]["status"] == "skipped"


@pytest.mark.requirement(242, 257)
def test_a_failure_in_a_test_file_is_analysed_and_repaired_and_the_tests_are_run_again(checked: Staged) -> None:
    spy = watched(checked)
    wrong = code(1)
    wrong["files"]["checks/test_part1.py"] = MISTAKEN
    analysis = {"files": {"checks/test_part1.py": REPAIRED}, "say": "# Analysis\n\nONE is no name.\n"}
    checked.script(**{"implement@task-1": wrong}, analyze_failures=analysis)
    lines = start(checked, "checks/test_part1.py")
    assert checked.state["status"] == "completed", lines
    assert "NameError" in spy.of("analyze_failures")[0]["prompt"]
    assert checked.phase("3.2-analysis.md") == "# Analysis\n\nONE is no name.\n"
    assert checked.data("3.1-test-results.json")["passed"] is True
    assert checked.state["stages"]["IMPLEMENT"]["restartCount"] == 0
    assert "ONE" not in git(checked.root, "show", "agentd/tmp:checks/test_part1.py")


@pytest.mark.requirement(242)
def test_a_test_that_stays_wrong_is_the_persons_decision(checked: Staged) -> None:
    checked.sandbox.set("staged", phase_retries=1)
    wrong = code(1)
    wrong["files"]["checks/test_part1.py"] = MISTAKEN
    checked.script(**{"implement@task-1": wrong})
    lines = start(checked, "checks/test_part1.py")
    assert checked.state["status"] == "blocked", lines
    assert checked.calls().count("analyze_failures") == 1
    assert checked.state["failure"]["phase"] == "3.1"
    failure = checked.data("3.1-test-results.json")["failure"]
    assert failure["is"] == "test_is_wrong"
    assert failure["sure"] == "high"
    assert failure["places"] == ["checks/test_part1.py:8"]


@pytest.mark.requirement(257)
def test_a_failure_in_a_source_file_restarts_implement_which_is_told_why(checked: Staged) -> None:
    spy = watched(checked)
    test = code(1)["files"]["tests/test_part1.py"].replace("PART, 1", "PART, 0")
    files = {"tally/part1.py": "PART = 1 - 1\n", "tests/test_part1.py": test}
    checked.script(simplify=[{"files": files, "say": SIMPLIFIED}, {"say": SIMPLIFIED}])
    lines = start(checked)
    assert checked.state["status"] == "completed", lines
    assert checked.state["stages"]["IMPLEMENT"]["restartCount"] == 1
    assert "analyze_failures" not in checked.calls()
    first, second = spy.of("implement")
    assert "why_the_stage_was_restarted" not in first["prompt"]
    assert "checks/test_whole.py" in second["prompt"].partition("why_the_stage_was_restarted")[2]
    (aside,) = checked.state["set_aside"]
    assert aside["stage"] == "IMPLEMENT"
    assert git(checked.root, "show", f"{aside['ref']}:tally/part1.py") == "PART = 1 - 1"
    assert git(checked.root, "show", "agentd/tmp:tally/part1.py") == "PART = 1"


@pytest.mark.requirement(238)
def test_what_the_simplifier_did_is_written_down_proved_and_lands(checked: Staged) -> None:
    simpler = {"files": {"tally/part1.py": "PART = int(1)\n"}, "say": f"Here it is.\n{SIMPLIFIED}"}
    checked.script(simplify=simpler)
    lines = start(checked)
    assert checked.state["status"] == "completed", lines
    assert checked.phase("2.2-simplify.md") == SIMPLIFIED
    assert checked.state["files"]["2.2-simplify.md"] == ".agents/tmp/phases/2.2-simplify.md"
    assert git(checked.root, "show", "agentd/tmp:tally/part1.py") == "PART = int(1)"
    assert [line.partition(":")[0] for line in checked.landed()] == ["task-1", "implement"]


@pytest.mark.requirement(238)
def test_a_simplifier_that_only_talks_is_asked_again(checked: Staged) -> None:
    checked.script(simplify=[{"say": "All is simple already."}, {"say": SIMPLIFIED}])
    lines = start(checked)
    assert checked.state["status"] == "completed", lines
    assert checked.calls().count("simplify") == 2
    assert checked.phase("2.2-simplify.md") == SIMPLIFIED
