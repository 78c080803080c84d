"""A landing that is killed at any of its writes: the same command ends as if nothing had happened."""

import itertools
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentd.landing import workspace
from agentd.runs.worktree import workspaces_folder
from tests.landing.repositories import branch, git, invariant, make

LANDING = """
import sys
from pathlib import Path
from agentd.landing.queue import LandingQueue, Verdict
from tests.landing.repositories import branch, finished
from agentd.landing import workspace
line = branch(Path(sys.argv[1]))
queue = LandingQueue(line)
for task in ("T1", "T2"):
    one = workspace.make(line, task)
    (one.path / f"{task}.txt").write_text(task)
    work = finished(line, one)
    if work.commit:
        print(queue.land(work, lambda commit: Verdict(True)))
    workspace.remove(line.root, one)
"""


@pytest.mark.crash
def test_killed_at_any_moment_of_a_landing_the_same_command_ends_the_same(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    log = tmp_path / "crashes"
    template = make(tmp_path / "template")
    scout = shutil.copytree(template, tmp_path / "scout" / "project", symlinks=True)
    before = invariant(scout)
    command(scout, AGENTD_CRASH_LOG=str(log))
    points = [line.split()[0] for line in log.read_text().splitlines()]
    assert points.count("landing") == 4
    wanted = git(scout, "ls-tree", "-r", "agentd/r1")
    moments = list(itertools.product(range(1, len(points) + 1), ("before", "after")))
    for number, moment in moments if pytestconfig.getoption("--crash") == "all" else moments[::3]:
        root = shutil.copytree(template, tmp_path / f"{number}-{moment}" / "project", symlinks=True)
        killed = command(root, AGENTD_CRASH=f"*:{number}:{moment}")
        assert killed.returncode == -signal.SIGKILL
        assert invariant(root) == before
        assert command(root).returncode == 0
        line = branch(root)
        assert list(line.landed()) == ["T1", "T2"]
        assert git(root, "ls-tree", "-r", line.name) == wanted
        assert not list(workspace.find_all(root))
        assert not workspaces_folder(root, line.key).exists()
        assert invariant(root) == before


def command(root: Path, **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-c", LANDING, str(root)], env={**os.environ, **env}, capture_output=True)
