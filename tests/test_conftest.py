"""What the suite's own conftest promises, tried on small test trees."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SKIPS = """
@pytest.mark.skip(reason="by mark")
def test_mark():
    pass

def test_call():
    pytest.skip("by call")

@pytest.fixture
def tool():
    pytest.skip("by fixture")

def test_fixture(tool):
    pass

@pytest.mark.xfail(reason="by expectation")
def test_expected():
    assert False

@pytest.mark.xfail(reason="by wrong expectation")
def test_unexpected():
    pass
"""
SKIPPED_FILE = "pytest.skip('by file', allow_module_level=True)\n"
XDIST = ("-p", "xdist", "-n", "1")


def run(folder: Path, text: str, ci: str, *options: str) -> tuple[int, str]:
    shutil.copy(Path(__file__).with_name("conftest.py"), folder)
    (folder / "test_one.py").write_text(f"import pytest\n\n{text}")
    (folder / "test_two.py").write_text("def test_fine():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(folder)]
    env = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    env |= {"CI": ci, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=env, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("options", [(), XDIST], ids=["alone", "xdist"])
def test_tests_that_did_not_run_fail_on_ci(tmp_path: Path, options: tuple[str, ...]) -> None:
    code, said = run(tmp_path, SKIPS, "true", *options)
    assert code == pytest.ExitCode.TESTS_FAILED
    for why in ("by mark", "by call", "by fixture", "by expectation", "by wrong expectation"):
        assert re.search(f"may not be skipped or expected to fail on CI: .*{why}", said), said
    assert re.search(r"\b1 passed", said), said


def test_a_file_that_did_not_run_fails_on_ci(tmp_path: Path) -> None:
    code, said = run(tmp_path, SKIPPED_FILE, "true", *XDIST)
    assert code != 0, said
    assert "may not be skipped or expected to fail on CI: Skipped: by file" in said


@pytest.mark.parametrize("text", [SKIPS, SKIPPED_FILE], ids=["tests", "file"])
def test_a_test_may_be_skipped_elsewhere(tmp_path: Path, text: str) -> None:
    code, said = run(tmp_path, text, "")
    assert code == 0, said


def test_hypothesis_finds_the_same_examples_on_ci_each_time(tmp_path: Path) -> None:
    shows = "from hypothesis import given, strategies as s\n\n@given(s.integers())\ndef test_it(n):\n    print(n)\n"
    first, second = (run(tmp_path, shows, "true", "-s")[1].split(" in ")[0] for _ in range(2))
    assert first == second
    assert first.count("\n") > 50


def test_the_crash_suite_takes_a_sample_unless_told(tmp_path: Path) -> None:
    shows = "def test_it(pytestconfig):\n    print('crash is', pytestconfig.getoption('crash'))\n"
    assert "crash is sample" in run(tmp_path, shows, "", "-s")[1]
    assert "crash is all" in run(tmp_path, shows, "", "-s", "--crash=all")[1]
    assert run(tmp_path, shows, "", "--crash=some")[0] == pytest.ExitCode.USAGE_ERROR
