"""A call that is forked is told from one that is started by its speed alone."""

import signal
import subprocess
from pathlib import Path

import pytest

from tests import forked
from tests.plan.plans import spied
from tests.sandbox import CHANGE, IDEA, Sandbox, make_sandbox


def started(sandbox: Sandbox, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*forked.AGENTD, *words],
        cwd=sandbox.root,
        env={**sandbox.env, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "words",
    [
        ("--version",),
        (),
        ("list",),
        ("status", "nobody", "--json"),
        ("statsu",),
        ("plan",),
        ("validate", "--json"),
        ("workflow", "show", "change"),
    ],
)
def test_it_says_the_same_and_ends_the_same(tmp_path: Path, words: tuple[str, ...]) -> None:
    sandbox = make_sandbox(tmp_path)
    ran, real = sandbox.run(*words), started(sandbox, *words)
    assert (ran.code, ran.out, ran.err) == (real.returncode, real.stdout, real.stderr)


def test_it_dies_where_it_is_told_to(tmp_path: Path) -> None:
    sandbox = make_sandbox(tmp_path)
    assert sandbox.run("plan", CHANGE, IDEA, env={"AGENTD_CRASH": "state:2:before"}).code == -signal.SIGKILL
    assert sandbox.run("plan", CHANGE, IDEA).code == 0


def test_a_call_with_another_python_environment_is_started(tmp_path: Path) -> None:
    sandbox = make_sandbox(tmp_path)
    ran = sandbox.run("list", env={"PYTHONVERBOSE": "1"})
    assert "import 'agentd.cli.list'" in ran.err


def test_one_that_does_not_end_is_killed(tmp_path: Path) -> None:
    sandbox = make_sandbox(tmp_path)
    propose = sandbox.entry("propose")
    sandbox.script(propose={"wait_for": "what never comes"})
    with pytest.raises(subprocess.TimeoutExpired):
        forked.run(["plan", CHANGE, IDEA], sandbox.root, sandbox.env, timeout=1)
    sandbox.script(propose=propose)
    assert sandbox.plan().code == 0  # nobody holds its lock


def test_packages_that_a_call_adds_are_found_and_do_not_stay(tmp_path: Path) -> None:
    sandbox = make_sandbox(tmp_path)
    spy = spied(sandbox)
    assert sandbox.plan().code == 0
    assert spy.of("propose")
    del sandbox.env["PYTHONPATH"]
    assert "spy" in sandbox.run("plan", "another", IDEA).err


def test_a_call_with_a_package_in_place_of_a_loaded_one_is_started(tmp_path: Path) -> None:
    sandbox = make_sandbox(tmp_path)
    site = tmp_path / "site"
    site.mkdir()
    (site / "click.py").write_text("raise SystemExit('the wrong one')\n")
    assert "the wrong one" in sandbox.run("list", env={"PYTHONPATH": str(site)}).err
