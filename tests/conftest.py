"""What every test runs under: how Hypothesis looks for examples, how far the crash suite goes, no skipping on CI."""

import gc
import math
import os
from collections import Counter
from collections.abc import Generator

import pytest
from hypothesis import settings

from tests import shared as sharing
from tests.shared import Shared

ON_CI = os.environ.get("CI", "").lower() not in ("", "0", "false")

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if ON_CI else "default")


@pytest.fixture(autouse=True, scope="session")
def own_state_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Notes about projects without git go into a folder of the tests."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """What all workers share."""
    return sharing.find(tmp_path_factory.getbasetemp())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """More workers than cores: a quarter of the time of a test is spent waiting, for disks, clocks and ends of processes."""
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else math.ceil((os.cpu_count() or 1) * 1.5)


def pytest_collection_finish() -> None:
    """What was collected stays to the end: going through all of it is most of what the garbage collector takes, an eighth of
    the time of a property. The young generations are small, and go on as ever."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(700, 10, 1000)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--crash",
        choices=("sample", "all"),
        default="sample",
        help="kill the program at a sample of its durable writes, or at all of them",
    )


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """A test that did not run proved nothing, and on CI nobody would notice."""
    expected = getattr(report, "wasxfail", None)
    if not report.skipped and expected is None:
        return
    why = report.longrepr[2] if isinstance(report.longrepr, tuple) else expected
    report.outcome = "failed"
    report.longrepr = f"{report.nodeid} may not be skipped or expected to fail on CI: {why or 'no reason given'}"
    if expected is not None:
        del report.wasxfail


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if ON_CI:
        refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if ON_CI:
        refuse_skip(report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many crash points were killed, wherever the tests ran: each test notes its own with its report."""
    killed: Counter[str] = Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for name, value in report.user_properties:
                if name.startswith("killed "):
                    killed[name.removeprefix("killed ")] += int(str(value))
    if killed:
        parts = ", ".join(f"{name} {count}" for name, count in sorted(killed.items()))
        terminalreporter.write_line(f"crash suite: killed {killed.total()} points ({parts})")
