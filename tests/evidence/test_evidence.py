"""Evidence is what agentd saw a command do: green, red, or unknown, and unknown is never green."""

import sys
from pathlib import Path

import pytest

from agentd.evidence.tests import Evidence, run_tests


def see(command: str, folder: Path, timeout: float = 30.0) -> Evidence:
    return run_tests(command, folder, {}, "2026-01-01T00:00:00Z", timeout, None)


@pytest.mark.parametrize(("code", "status"), [(0, "green"), (1, "red"), (5, "red"), (137, "red")])
def test_the_exit_code_decides(tmp_path: Path, code: int, status: str) -> None:
    found = see(f"{sys.executable} -c 'import sys; print(\"all tests pass\"); sys.exit({code})'", tmp_path)
    assert (found.status, found.exit_code) == (status, code)
    assert "all tests pass" in found.output
    assert found.to_data()["command"].endswith(f"sys.exit({code})'")


@pytest.mark.parametrize("command", ["", "   ", "no-such-program-anywhere --all"])
def test_a_command_that_cannot_run_is_unknown(tmp_path: Path, command: str) -> None:
    found = see(command, tmp_path)
    assert (found.status, found.exit_code) == ("unknown", None)
    assert found.note


def test_a_command_that_does_not_end_is_unknown(tmp_path: Path) -> None:
    found = see(f"{sys.executable} -c 'import time; time.sleep(60)'", tmp_path, timeout=0.5)
    assert found.status == "unknown"
    assert "timeout" in found.note


def test_a_command_killed_from_outside_is_red(tmp_path: Path) -> None:
    found = see(f"{sys.executable} -c 'import os; os.kill(os.getpid(), 9)'", tmp_path)
    assert (found.status, found.exit_code) == ("red", -9)
