"""A disk that fills up at any moment of a landing: it is told, nothing is lost, and the same work lands once there is room."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentd.errors import AgentdError
from agentd.landing import workspace
from agentd.landing.queue import Landed, LandingQueue, Verdict
from agentd.landing.run_branch import RunBranch
from tests.landing.repositories import branch, finished, git, invariant, make, write

STEP = 8 << 10


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)], check=True)
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_landing_on_a_disk_that_fills_up_is_told_and_goes_on_when_there_is_room(disk: Path) -> None:
    root = make(disk)
    before = invariant(root)
    line = branch(root)
    fixes = []
    for number in range(40):
        task, ended = f"T{number}", False
        with Full(disk, number * STEP):
            try:
                attempt(line, task)
                ended = True
            except AgentdError as error:
                fixes.append(error.fix)
            assert invariant(root) == before
        if not ended:
            attempt(line, task)
        assert git(root, "show", f"{line.name}:{task}.txt") == "x" * 5000
        if ended:
            break
    assert len(fixes) > 3
    assert all("df -h" in fix for fix in fixes), fixes
    assert not list(workspace.find_all(root))
    assert git(root, "fsck", "--strict") == ""
    assert invariant(root) == before


def attempt(line: RunBranch, task: str) -> None:
    """What the command does, from its beginning."""
    queue = LandingQueue(line)
    if task not in queue.landed:
        one = workspace.make(line, task)
        write(one.path, {f"{task}.txt": "x" * 5000})
        assert isinstance(queue.land(finished(line, one), lambda commit: Verdict(True)), Landed)
    for one in list(workspace.find_all(line.root)):
        workspace.remove(line.root, one)


class Full:
    """A disk with only so many bytes of room."""

    def __init__(self, disk: Path, room: int) -> None:
        self.path = disk / "filler"
        free = os.statvfs(disk)
        self.size = free.f_bavail * free.f_frsize - room

    def __enter__(self) -> None:
        with open(self.path, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, self.size))

    def __exit__(self, *_: object) -> None:
        self.path.unlink()
