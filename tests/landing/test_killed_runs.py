"""Runs that are killed at any of their writes, steps and calls of git: `resume` ends as if nothing had happened."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agentd.landing import workspace
from tests.landing.repositories import git
from tests.landing.runs import beside, landed, prepare, untouched
from tests.sandbox import AGENTD, Ran, Sandbox

TASKS = "tasks:\n- {id: a, title: Add a}\n- {id: b, title: Add b}\n"
UNTIL_A_HAS_LANDED = "until git -C {root} log agentd/$(basename {run}) | grep -q 'Add a'; do sleep 0.05; done; "
ADD_LINE = "grep -q '# {0}' tally/words.py || sed -i 's/^def count(/# {0}\\n&/' tally/words.py"
USES_COUNT = (
    "printf 'import unittest\\nfrom tally import words\\nclass T(unittest.TestCase):\\n    def test_it(self):\\n"
    '        words.count("a")\\n\' > tests/test_b.py'
)
RENAMES = "sed -i -E 's/\\bcount\\b/counted/' tally/__init__.py tally/words.py tests/test_words.py"
SETUP = "echo made > made.log && mkdir -p node_modules/x && echo 1 > node_modules/x/y"
SHIM = """#!/bin/sh
PATH={path}
if [ -z "$AGENTD_RUN" ]; then
    number=$(flock {room}/lock sh -c 'n=$(($(cat {room}/number 2>/dev/null || echo 0) + 1)); echo $n > {room}/number; echo $n')
    [ "$number" = "$KILL_AT" ] && kill -9 "$PPID"
fi
exec git "$@"
"""


def conflict(sandbox: Sandbox) -> None:
    sandbox.script(
        **{
            "make@a": {"run": ["sh", "-c", ADD_LINE.format("a")]},
            "make@b": {"run": ["sh", "-c", until(sandbox) + ADD_LINE.format("b")]},
            "settle": {"run": ["sed", "-i", "-E", "/^(<<<<<<<|=======|>>>>>>>)/d", "tally/words.py"]},
        }
    )


def red_together(sandbox: Sandbox) -> None:
    sandbox.script(
        **{
            "make@a": {"run": ["sh", "-c", RENAMES]},
            "make@b": {"run": ["sh", "-c", until(sandbox) + USES_COUNT]},
            "mend": {"run": ["sed", "-i", "s/words.count(/words.counted(/", "tests/test_b.py"]},
        }
    )


def setup(sandbox: Sandbox) -> None:
    (sandbox.root / ".gitignore").write_text("__pycache__/\n*.log\nnode_modules/\n")
    sandbox.set("workspace", setup=SETUP, cleanup="rm made.log")
    told = "cat made.log node_modules/x/y > tally/{0}.txt"
    sandbox.script(**{f"make@{item}": {"run": ["sh", "-c", told.format(item)]} for item in "ab"})


def until(sandbox: Sandbox) -> str:
    return UNTIL_A_HAS_LANDED.format(root=sandbox.root, run="$AGENTD_RUN")


WAYS: dict[str, Callable[[Sandbox], None]] = {"conflict": conflict, "red_together": red_together, "setup": setup}


@pytest.fixture(params=WAYS)
def killable(sandbox: Sandbox, request: pytest.FixtureRequest) -> Sandbox:
    prepare(sandbox)
    sandbox.script(split={"documents": {"tasks.yaml": TASKS}})
    WAYS[request.param](sandbox)
    git(sandbox.root, "commit", "--quiet", "--all", "-m", "script")
    return sandbox


@pytest.mark.crash
@pytest.mark.parametrize("moment", ["before", "torn"])
def test_killed_at_any_write_or_step_the_run_goes_on_to_the_same_end(
    killable: Sandbox, tmp_path: Path, moment: str, pytestconfig: pytest.Config
) -> None:
    log = tmp_path / "points"
    wanted = scout(killable, AGENTD_CRASH_LOG=str(log))
    points = len(log.read_text().splitlines())
    for number in chosen(points, 5, moment == "torn", pytestconfig):
        killed_then_resumed(killable, f"k{number}", wanted, AGENTD_CRASH=f"*:{number}:{moment}")


@pytest.mark.crash
def test_killed_at_any_call_of_git_the_run_goes_on_to_the_same_end(
    killable: Sandbox, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    room = tmp_path / "bin"
    room.mkdir()
    shim, path = room / "git", os.environ["PATH"]
    shim.write_text(SHIM.format(path=path, room=room))
    shim.chmod(0o755)
    wanted = scout(killable, PATH=f"{room}:{path}")
    calls = int((room / "number").read_text())
    for number in chosen(calls, 5, False, pytestconfig):
        (room / "number").unlink()
        killed_then_resumed(killable, f"g{number}", wanted, PATH=f"{room}:{path}", KILL_AT=str(number))


def chosen(points: int, few: int, shifted: bool, config: pytest.Config) -> range:
    """Every point, or a few of them."""
    step = 1 if config.getoption("--crash") == "all" else points // few
    return range(1 + (step // 2 if shifted else 0), points + 1, step)


def scout(sandbox: Sandbox, **env: str) -> dict[str, list[str]]:
    """What a run ends with that is not killed."""
    done = sandbox.run("run", "many", "x", "--name", "scout", env=env)
    assert done.code == 0, done.err + done.out
    return lines(sandbox, "scout")


def killed_then_resumed(sandbox: Sandbox, name: str, wanted: dict[str, list[str]], **env: str) -> None:
    before = untouched(sandbox)
    killed = subprocess.run(  # not `Sandbox.run`, which waits for the agents too that it leaves behind
        [*AGENTD, "run", "many", "x", "--name", name],
        cwd=sandbox.root,
        env={**sandbox.env, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=120,
    )
    assert killed.returncode in (-signal.SIGKILL, 0)
    assert untouched(sandbox) == before
    again = resumed(sandbox, name)
    assert again.code == 0, again.err + again.out
    assert landed(sandbox, name) == ["Add a", "Add b"] or sorted(landed(sandbox, name)) == ["Add a", "Add b"]
    assert lines(sandbox, name) == wanted
    assert untouched(sandbox) == before
    assert not list(workspace.find_all(sandbox.root, f"own/{name}"))
    assert not (beside(sandbox) / "tasks").exists()
    assert not list(beside(sandbox).rglob("*.tmp"))
    shutil.rmtree(beside(sandbox), ignore_errors=True)  # the next one makes its template again


def resumed(sandbox: Sandbox, name: str) -> Ran:
    again = sandbox.run("resume", name)
    return sandbox.run("run", "many", "x", "--name", name) if "There is no run" in again.err else again


def lines(sandbox: Sandbox, name: str) -> dict[str, list[str]]:
    """The lines of each file on the branch of a run."""
    names = git(sandbox.root, "ls-tree", "-r", "--name-only", f"agentd/{name}").splitlines()
    return {each: sorted(git(sandbox.root, "show", f"agentd/{name}:{each}").splitlines()) for each in names}
