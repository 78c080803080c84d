"""What runners, linters and audits printed, recorded, is read as what it says; any text at all is survived."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agentd.evidence import outputs
from agentd.model.command import KINDS, Kind

HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
READINGS = yaml.safe_load((HERE / "readings.yaml").read_text("utf-8"))
CASES = [(name, kind) for kind, table in READINGS.items() for name in table]


def recorded(name: str) -> list[str]:
    return (RECORDED / f"{name}.txt").read_text("utf-8").splitlines()


def test_every_recorded_output_is_in_the_table() -> None:
    assert sorted(name for name, _ in CASES) == sorted(path.stem for path in RECORDED.iterdir())


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_recorded_output_says_what_the_table_says(name: str, kind: Kind) -> None:
    wanted = READINGS[kind][name]
    found = outputs.read(kind, recorded(name), "/project")
    counts = found.counts
    assert {
        "counts": [counts.total, counts.passed, counts.failed, counts.skipped] if counts else None,
        "nothing": found.nothing,
        "trouble": bool(found.trouble),
        "failed": [f"{case.name} @ {case.file}:{case.line}" for case in found.cases if case.status == "failed"],
    } == {"counts": None, "nothing": False, "trouble": False, "failed": [], **wanted}


@pytest.mark.parametrize(
    "name", ["pytest-v-red", "node-tap-green", "jest-green", "mocha-green", "go-v-green", "cargo-green"]
)
def test_passing_tests_are_named_too(name: str) -> None:
    found = outputs.read("test", recorded(name), "/project")
    assert found.counts is not None
    assert sum(case.status == "passed" for case in found.cases) == found.counts.passed
    assert sum(case.status == "skipped" for case in found.cases) == found.counts.skipped


def test_colours_change_nothing() -> None:
    colours = [f"\x1b[1m\x1b[31m{line}\x1b[0m" for line in recorded("pytest-q-red")]
    assert outputs.read("test", colours, "/project") == outputs.read("test", recorded("pytest-q-red"), "/project")


def test_runs_of_the_same_runner_are_added_up() -> None:
    twice = outputs.read("test", recorded("unittest-green") * 2)
    assert twice.counts is not None
    assert (twice.counts.total, twice.counts.passed, twice.counts.skipped) == (6, 4, 2)


def test_a_jest_file_that_cannot_run_is_a_failure() -> None:
    said = [
        "FAIL src/a.js",
        "  ● Test suite failed to run",
        "",
        "Test Suites: 1 failed, 1 total",
        "Tests:       0 total",
    ]
    found = outputs.read("test", said)
    assert found.counts is not None
    assert (found.counts.failed, found.nothing) == (1, False)


def test_suites_are_not_tests() -> None:
    tap = [
        "TAP version 13",
        "# Subtest: suite",
        "    # Subtest: one",
        "    ok 1 - one",
        "      ---",
        "      ...",
        "    1..1",
    ]
    tap += [
        "ok 1 - suite",
        "  ---",
        "  type: 'suite'",
        "  ...",
        "1..1",
        "# tests 1",
        "# suites 1",
        "# pass 1",
        "# fail 0",
    ]
    assert [case.name for case in outputs.read("test", tap).cases] == ["suite > one"]
    spec = ["▶ suite", "  ✔ one (0.1ms)", "✔ suite (0.2ms)", "ℹ tests 1", "ℹ suites 1", "ℹ pass 1", "ℹ fail 0"]
    assert [case.name for case in outputs.read("test", spec).cases] == ["suite > one"]


def test_what_a_test_printed_between_its_name_and_its_end_is_passed_over() -> None:
    said = ["test_a (tests.T.test_a) ... hello", "ok", "test_b (tests.T)", "What it is for ... FAIL", ""]
    said += ["Ran 2 tests in 0.001s", "", "FAILED (failures=1)"]
    found = outputs.read("test", said)
    assert [(case.name, case.status) for case in found.cases] == [
        ("tests.T.test_a", "passed"),
        ("tests.T.test_b", "failed"),
    ]


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("12 passed, 3 failed, 1 skipped", (16, 12, 3, 1)),
        ("5 examples, 2 failures, 1 pending", (5, 2, 2, 1)),
        ("4 runs, 9 assertions, 0 failures, 1 errors, 1 skips", (4, 2, 1, 1)),
        ("ok | 3 passed | 0 failed (5ms)", (3, 3, 0, 0)),
        ("     Summary [   0.5s] 3 tests run: 2 passed, 1 failed, 0 skipped", (3, 2, 1, 0)),
        ("100% tests passed, 0 tests failed out of 5", (5, 5, 0, 0)),
        ("Passed!  - Failed:     0, Passed:     4, Skipped:     1, Total:     5", (5, 4, 0, 1)),
        ("OK (5 tests, 7 assertions)", (5, 5, 0, 0)),
        (" 10%\r 90%\r2 passed, 1 failed", (3, 2, 1, 0)),
        ("2 failed logins were counted", None),
        ("0 failed", None),
        ("1 error", None),
        ("compiled with 3 errors", None),
    ],
)
def test_a_plain_line_is_read_where_no_runner_is_known(line: str, counts: tuple[int, ...] | None) -> None:
    found = outputs.read("test", ["starting", line, "bye"]).counts
    assert (found and (found.total, found.passed, found.failed, found.skipped)) == counts


def test_an_older_rust_says_the_place_after_the_message() -> None:
    said = ["running 1 test", "test off ... FAILED", "", "---- off stdout ----"]
    said += [
        "thread 'off' panicked at 'assertion failed: `(left == right)`",
        "  left: `110`,",
        " right: `90`', tests/a.rs:5:9",
    ]
    said += ["", "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"]
    (case,) = outputs.read("test", said).cases
    assert (case.name, case.status, case.file, case.line) == ("off", "failed", "tests/a.rs", 5)


def test_the_trees_of_several_runs_are_all_read() -> None:
    said = [
        "> a@1.0.0 test",
        "> node --test",
        *recorded("node-spec-red"),
        "> b@1.0.0 test",
        *recorded("node-spec-green"),
    ]
    found = outputs.read("test", said, "/project")
    assert found.counts is not None
    assert (found.counts.total, len(found.cases)) == (6, 6)


@pytest.mark.parametrize(
    "line",
    [
        "/usr/bin/python3: No module named pytest",
        "sh: 1: jest: not found",
        "/bin/sh: line 1: jest: command not found",
        "make: pytest: No such file or directory",
        'npm error npx canceled due to missing packages and no YES option: ["eslint@10.0.0"]',
        "error: Failed to spawn: `pytest`",
        "Command not found: pytest",
        'error Command "eslint" not found.',
        ' ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL  Command "eslint" not found',
        "error: 'cargo-clippy' is not installed for the toolchain 'stable'",
    ],
)
def test_a_program_that_is_not_there_is_noticed(line: str) -> None:
    assert outputs.read("test", ["", line]).trouble == line.strip()
    assert outputs.read("lint", [line, ""]).trouble == line.strip()


def test_tap_of_any_program_is_read() -> None:
    found = outputs.read(
        "test", ["1..3", "ok 1 adds", "not ok 2 subtracts", "# (in test file)", "ok 3 divides # SKIP later"]
    )
    assert [(case.name, case.status) for case in found.cases] == [
        ("adds", "passed"),
        ("subtracts", "failed"),
        ("divides", "skipped"),
    ]


def test_what_a_failing_test_printed_is_not_counted() -> None:
    said = [
        "=== FAILURES ===",
        "___ test_a ___",
        "3 failed in 0.1s",
        "FAILED x.py::test_z",
        "=== short test summary info ===",
    ]
    found = outputs.read("test", [*said, "FAILED a.py::test_a", "1 failed, 1 passed in 0.1s"])
    assert found.counts is not None
    assert (found.counts.total, [case.name for case in found.cases]) == (2, ["a.py::test_a"])


PIECES = sorted({line for path in RECORDED.iterdir() for line in path.read_text("utf-8").splitlines()})
any_lines = st.lists(st.sampled_from(PIECES) | st.text(max_size=60), max_size=30)


@given(st.sampled_from(KINDS), any_lines)
def test_no_text_is_too_odd_to_be_read(kind: Kind, lines: list[str]) -> None:
    found = outputs.read(kind, lines, "/project")
    if found.counts is not None:
        counts = found.counts
        assert counts.total >= counts.passed + counts.failed + counts.skipped
        assert min(counts.total, counts.passed, counts.failed, counts.skipped) >= 0


@given(st.sampled_from(KINDS), st.data())
def test_a_line_changed_anywhere_is_read_too(kind: Kind, data: st.DataObject) -> None:
    lines = recorded(data.draw(st.sampled_from([name for name, _ in CASES])))
    at = data.draw(st.integers(0, max(0, len(lines) - 1)))
    outputs.read(kind, [*lines[:at], data.draw(st.text(max_size=20)), *lines[at + 1 :]], "")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "line", ["x" * 3_000_000, "{" * 200_000, '{"a":' * 50_000, "9" * 5000 + " passed", "a::" * 100_000, "( " * 100_000]
)
def test_a_huge_line_takes_no_time(kind: Kind, line: str) -> None:
    outputs.read(kind, [line, f"FAILED {line}", f"    at {line}", f"test {line} ... ok"], "/project")
