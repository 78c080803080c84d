"""A command's result is what was seen: not found is not red, exit 0 is not green where the output says otherwise."""

import shlex
import sys
import threading
from pathlib import Path

import pytest

from agentd.evidence.runner import run_command
from agentd.model.command import Command, Kind
from agentd.model.evidence import Counts, Result

PYTHON = shlex.quote(sys.executable)
HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
BARE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # a run compiles whatever it loads


def see(run: str, place: Path, kind: Kind = "test", folder: str = "", timeout: float = 60.0, **env: str) -> Result:
    return run_command(Command(kind, run, folder), place, {**BARE, **env}, timeout, None)


def saying(text: str, code: int = 0) -> str:
    return f"{PYTHON} -c {shlex.quote(f'import sys; print({text!r}); sys.exit({code})')}"


def repeat(name: str, code: int) -> str:
    """A command that prints a recorded output and exits with that code."""
    script = f"import sys; sys.stdout.write(open({str(RECORDED / name)!r} + '.txt').read()); sys.exit({code})"
    return f"{PYTHON} -c {shlex.quote(script)}"


@pytest.mark.parametrize(
    ("name", "code", "status", "note"),
    [
        ("pytest-q-rA-green", 0, "green", ""),
        ("pytest-q-red", 1, "red", ""),
        ("pytest-q-red", 0, "red", "it exits 0 although 4 failed"),
        ("pytest-q-rA-green", 2, "red", ""),
        ("pytest-none", 5, "none", "it collected no tests"),
        ("jest-none", 1, "none", "it collected no tests"),
        ("jest-pass-none", 0, "none", "it collected no tests"),
        ("go-none", 0, "none", "it collected no tests"),
        ("go-broken", 2, "red", ""),
        ("cargo-broken", 101, "red", ""),
        ("cargo-none", 0, "none", "it collected no tests"),
        ("maven-none", 0, "none", "it collected no tests"),
        ("make-none", 0, "none", "it collected no tests"),
        ("maven-q-green", 0, "green", "its output names no tests"),
        ("gradle-quiet-green", 0, "green", "its output names no tests"),
        ("gradle-none", 0, "none", "it collected no tests"),
    ],
)
def test_what_the_tests_came_to(tmp_path: Path, name: str, code: int, status: str, note: str) -> None:
    found = see(repeat(name, code), tmp_path)
    assert (found.status, found.exit_code, found.note) == (status, code, note)


def test_tests_that_were_all_skipped_are_none(tmp_path: Path) -> None:
    found = see(saying("3 skipped in 0.01s"), tmp_path)
    assert (found.status, found.counts) == ("none", Counts(3, 0, 0, 3))


def test_an_output_without_counts_says_so(tmp_path: Path) -> None:
    found = see(saying("all is well"), tmp_path)
    assert (found.status, found.counts, found.note) == ("green", None, "its output names no tests")
    assert found.output == ("all is well",)


@pytest.mark.parametrize(
    ("name", "code", "status", "failed"),
    [
        ("pip-audit-red", 1, "red", 2),
        ("npm-audit-red", 1, "red", 3),
        ("yarn-audit-red", 16, "red", 1),
        ("cargo-audit-red", 1, "red", 1),
        ("govulncheck-red", 3, "red", 1),
        ("govulncheck-green", 0, "green", 0),
        ("npm-audit-clean", 0, "green", 0),
        ("npm-audit-json-clean", 0, "green", 0),
        ("npm-audit-red", 0, "green", 3),
    ],
)
def test_what_an_audit_found(tmp_path: Path, name: str, code: int, status: str, failed: int) -> None:
    found = see(repeat(name, code), tmp_path, "audit")
    assert found.counts is not None
    assert (found.status, found.counts.failed) == (status, failed)
    assert bool(found.note) == (code == 0 and failed > 0)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("pip-audit-skipped", 0),
        ("pip-audit-json-skipped", 0),
        ("pip-audit-offline", 1),
        ("npm-audit-offline", 1),
        ("npm-audit-json-offline", 1),
        ("npm-audit-nolock", 1),
        ("pnpm-audit-offline", 1),
        ("yarn-audit-offline", 1),
        ("govulncheck-offline", 1),
    ],
)
def test_an_audit_that_could_not_audit_is_unknown(tmp_path: Path, name: str, code: int) -> None:
    found = see(repeat(name, code), tmp_path, "audit")
    assert (found.status, found.exit_code) == ("unknown", code)
    assert found.note.startswith("it could not audit: ")


def test_an_audit_that_fails_without_a_word_is_unknown(tmp_path: Path) -> None:
    found = see(saying("oh", 3), tmp_path, "audit")
    assert (found.status, found.note) == ("unknown", "it exited 3 and named no vulnerability")


def test_an_audit_told_to_stay_offline_is_unknown(tmp_path: Path) -> None:
    found = see(f"{saying('found 0 vulnerabilities')} --offline", tmp_path, "audit")
    assert (found.status, found.note) == ("unknown", "it could not audit: it was told to stay offline")


def test_an_audit_by_npm_asks_its_service_whatever_its_settings_say(tmp_path: Path) -> None:
    script = "import os; print(os.environ['npm_config_offline'])"
    found = see(f"{PYTHON} -c {shlex.quote(script)}", tmp_path, "audit", npm_config_offline="true")
    assert found.output == ("false",)


@pytest.mark.parametrize(
    ("name", "code", "status", "failed"), [("eslint-red", 1, "red", 1), ("eslint-green", 0, "green", 0)]
)
def test_what_a_linter_found(tmp_path: Path, name: str, code: int, status: str, failed: int) -> None:
    found = see(repeat(name, code), tmp_path, "lint")
    assert found.counts is not None
    assert (found.status, found.counts.failed) == (status, failed)


def test_a_linter_that_finds_nothing_counts_nothing(tmp_path: Path) -> None:
    assert see(saying("All checks passed!"), tmp_path, "lint").counts == Counts()


@pytest.mark.parametrize(
    ("run", "note"),
    [
        ("", "there is no command"),
        ("   ", "there is no command"),
        ("pytest 'half", "the command cannot be read: No closing quotation"),
        ("no-such-program-anywhere --all", "The program no-such-program-anywhere is not on the PATH."),
        ("true && false", "&& is for a shell: write sh -c '…', or a target of a Makefile"),
        ("sh -c 'exit 127'", "exit 127: it could not run"),
        ("sh -c 'exit 126'", "exit 126: it could not run"),
    ],
)
def test_a_command_that_cannot_run_is_unknown(tmp_path: Path, run: str, note: str) -> None:
    found = see(run, tmp_path)
    assert (found.status, found.note) == ("unknown", note)


def test_a_runner_that_is_not_installed_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("lint:\n\tno-such-linter .\n\ntest:\n\t@sh -c 'no-such-runner; exit 1'\n")
    module = see(f"{PYTHON} -m no_such_runner", tmp_path)
    target, script = see("make lint", tmp_path, "lint"), see("make test", tmp_path)
    assert [each.status for each in (module, target, script)] == ["unknown"] * 3
    assert module.note.endswith("No module named no_such_runner")
    assert "no-such-linter" in target.note
    assert "no-such-runner" in script.note


def test_a_program_missing_beside_tests_that_ran_is_red(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("test:\n\t@echo '3 passed in 0.1s'\n\tno-such-program\n")
    assert see("make test", tmp_path).status == "red"


@pytest.mark.parametrize("folder", ["nowhere", "..", "/", "../other"])
def test_a_folder_that_is_not_there_or_outside_is_unknown(tmp_path: Path, folder: str) -> None:
    assert see("true", tmp_path, folder=folder).status == "unknown"


def test_a_command_that_does_not_end_is_unknown(tmp_path: Path) -> None:
    found = see(f"{PYTHON} -c 'import time; time.sleep(60)'", tmp_path, timeout=0.5)
    assert (found.status, found.exit_code) == ("unknown", None)
    assert "timeout" in found.note


def test_a_command_that_is_stopped_is_unknown(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    found = run_command(Command("test", f"{PYTHON} -c 'import time; time.sleep(60)'"), tmp_path, {}, 60.0, stop)
    assert (found.status, found.exit_code) == ("unknown", None)


def test_a_command_killed_from_outside_is_red(tmp_path: Path) -> None:
    found = see(f"{PYTHON} -c 'import os; os.kill(os.getpid(), 9)'", tmp_path)
    assert (found.status, found.exit_code) == ("red", -9)


def test_what_starts_the_command_is_put_around_it(tmp_path: Path) -> None:
    command = Command("test", "1 passed")
    found = run_command(command, tmp_path, {}, 60.0, None, around=lambda words: ("echo", *words))
    assert (found.status, found.command, found.output) == ("green", command, ("1 passed",))


def test_only_the_last_lines_are_kept_and_all_are_read(tmp_path: Path) -> None:
    lines = "1 failed in 0.1s" + "\n" + "\n".join(f"line {n}" for n in range(3000))
    found = see(saying(lines), tmp_path)
    assert (found.status, len(found.output), found.output[-1]) == ("red", 40, "line 2999")


PASSING = "import pytest\n\ndef test_one(): pass\n\n@pytest.mark.skip\ndef test_two(): pass\n"
FAILING = PASSING + "\ndef test_three():\n    print('3 failed in 0.1s')\n    assert 1 == 2\n"


def pytest_project(root: Path, tests: str, folder: str = "") -> Path:
    place = root / folder
    place.mkdir(parents=True, exist_ok=True)
    (place / "pytest.ini").write_text("[pytest]\n")
    (place / "test_it.py").write_text(tests)
    (place / "Makefile").write_text(f"test:\n\t{PYTHON} -m pytest -q -p no:cacheprovider\n")
    return root


@pytest.mark.parametrize("run", [f"{PYTHON} -m pytest -p no:cacheprovider -q", "make test", f"{PYTHON} -m pytest"])
def test_pytest_names_its_tests_however_it_is_started(tmp_path: Path, run: str) -> None:
    found = see(run, pytest_project(tmp_path, PASSING))
    assert (found.status, found.counts) == ("green", Counts(2, 1, 0, 1))
    assert [(case.name, case.status) for case in found.cases] == [
        ("test_it.py::test_one", "passed"),
        ("test_it.py:5", "skipped"),
    ]
    assert found.command.run == run


def test_what_people_told_pytest_is_kept(tmp_path: Path) -> None:
    found = see(f"{PYTHON} -m pytest -q", pytest_project(tmp_path, PASSING), PYTEST_ADDOPTS="-k two")
    assert (found.status, found.counts) == ("none", Counts(1, 0, 0, 1))


def test_a_failure_is_placed_from_the_place_of_work(tmp_path: Path) -> None:
    found = see("make test", pytest_project(tmp_path, FAILING, "api"), folder="api")
    assert (found.status, found.exit_code, found.counts) == ("red", 2, Counts(3, 1, 1, 1))
    failed = [case for case in found.cases if case.status == "failed"]
    assert [(case.name, case.file, case.line) for case in failed] == [("test_it.py::test_three", "api/test_it.py", 10)]


@pytest.mark.parametrize(("more", "cases"), [("", 1), (" -v", 1), (" -q", 0)])
def test_unittest_is_made_to_name_its_tests_unless_it_was_told_how(tmp_path: Path, more: str, cases: int) -> None:
    (tmp_path / "test_it.py").write_text(
        "import unittest\n\nclass T(unittest.TestCase):\n    def test_one(self): pass\n"
    )
    found = see(f"{PYTHON} -m unittest discover{more}", tmp_path)
    assert (found.status, found.counts, len(found.cases)) == ("green", Counts(1, 1, 0, 0), cases)
    assert found.command.run == f"{PYTHON} -m unittest discover{more}"
