"""One process at a time works on a run, and a dead one never keeps it."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentd.errors import DiskTrouble, Held
from agentd.state import lock

HOLD = (
    "import sys\nfrom pathlib import Path\nfrom agentd.state import lock\n"
    "held = lock.acquire(Path(sys.argv[1]), 'plan add-oauth')\nprint('held', flush=True)\nsys.stdin.readline()\n"
    "held.release()\nprint('free', flush=True)\nsys.stdin.readline()"
)
HOLD_WITHOUT_A_NAME = (
    "import fcntl, sys\nfile = open(sys.argv[1] + '/.lock', 'a')\nfcntl.flock(file, fcntl.LOCK_EX)\n"
    "print('held', flush=True)\nsys.stdin.readline()"
)
Program = subprocess.Popen[str]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], Program]]:
    """Start a program that holds the lock of the test's folder; it ends with the test."""
    started: list[Program] = []

    def run(code: str) -> Program:
        command = [sys.executable, "-c", code, str(tmp_path)]
        started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        assert said(started[-1]) == "held"
        return started[-1]

    yield run
    for program in started:
        program.kill()
        program.communicate()


def said(program: Program) -> str:
    assert program.stdout
    return program.stdout.readline().strip()


def tell(program: Program) -> None:
    assert program.stdin
    program.stdin.write("\n")
    program.stdin.flush()


def test_a_second_process_is_told_who_holds_the_run(tmp_path: Path, start: Callable[[str], Program]) -> None:
    program = start(HOLD)
    with pytest.raises(Held) as caught:
        lock.acquire(tmp_path)
    assert re.fullmatch(
        rf"{tmp_path.name} is held by process {program.pid} on {re.escape(socket.gethostname())} "
        r"since 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ \(agentd plan add-oauth\)\.",
        caught.value.message,
    )
    assert caught.value.fix.startswith(f"agentd status {tmp_path.name}")


def test_the_holder_is_shown_while_it_holds(tmp_path: Path, start: Callable[[str], Program]) -> None:
    assert lock.holder(tmp_path) is None
    program = start(HOLD)
    facts = lock.holder(tmp_path)
    assert facts
    assert (facts["pid"], facts["command"]) == (program.pid, "plan add-oauth")
    tell(program)
    assert said(program) == "free"
    assert lock.holder(tmp_path) is None
    lock.acquire(tmp_path).release()


def test_a_killed_holder_frees_the_run(tmp_path: Path, start: Callable[[str], Program]) -> None:
    program = start(HOLD)
    program.kill()
    program.wait()
    assert lock.holder(tmp_path) is None
    with lock.acquire(tmp_path):
        facts = lock.holder(tmp_path)
        assert facts
        assert facts["pid"] == os.getpid()
    assert lock.holder(tmp_path) is None


def test_a_holder_that_has_not_said_its_name_still_holds(tmp_path: Path, start: Callable[[str], Program]) -> None:
    start(HOLD_WITHOUT_A_NAME)
    assert lock.holder(tmp_path) == {}
    with pytest.raises(Held, match="has not said its name yet"):
        lock.acquire(tmp_path)


@pytest.mark.parametrize("content", [b"", b'{"pid": 1', b"\xff\0", b"[]", b'{"pid": "x"}', b'{"pid": 99999999}'])
def test_a_lock_file_that_says_nothing_true_is_coped_with(
    tmp_path: Path, start: Callable[[str], Program], content: bytes
) -> None:
    start(HOLD_WITHOUT_A_NAME)
    (tmp_path / ".lock").write_bytes(content)
    assert isinstance(lock.holder(tmp_path), dict)
    with pytest.raises(Held, match="has not said its name yet"):
        lock.acquire(tmp_path)


def test_the_name_of_a_killed_holder_is_never_shown_for_the_next(
    tmp_path: Path, start: Callable[[str], Program]
) -> None:
    first = start(HOLD)
    first.kill()
    first.wait()
    start(HOLD_WITHOUT_A_NAME)
    with pytest.raises(Held) as caught:
        lock.acquire(tmp_path)
    assert str(first.pid) not in caught.value.message


def test_a_lock_goes_with_its_folder(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    with lock.acquire(old) as held:
        old.rename(new)
        assert lock.holder(new)
        with pytest.raises(Held):
            lock.acquire(new)
        held.release()
        assert lock.holder(new) is None
    lock.acquire(new).release()
    assert (new / ".lock").read_bytes() == b""


def test_a_run_without_folder_cannot_be_held(tmp_path: Path) -> None:
    with pytest.raises(DiskTrouble, match="its folder is not there"):
        lock.acquire(tmp_path / "gone")
    assert lock.holder(tmp_path / "gone") is None


def test_processes_that_count_under_the_lock_never_lose_one(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from agentd.errors import Held
from agentd.state import lock
folder, mine = Path(sys.argv[1]), 0
while mine < 20:
    try:
        with lock.acquire(folder):
            count = folder / "count"
            count.write_text(str(int(count.read_text()) + 1))
            mine += 1
    except Held:
        lock.holder(folder)
"""
    (tmp_path / "count").write_text("0")
    counters = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(5)]
    assert [counter.wait(60) for counter in counters] == [0] * 5
    assert (tmp_path / "count").read_text() == "100"


def test_asking_who_holds_a_free_run_never_makes_it_look_held(tmp_path: Path) -> None:
    code = "import sys\nfrom pathlib import Path\nfrom agentd.state import lock\nprint('on', flush=True)\nwhile True:\n"
    asker = subprocess.Popen(
        [sys.executable, "-c", code + "    lock.holder(Path(sys.argv[1]))", str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert said(asker) == "on"
        for _ in range(100):
            lock.acquire(tmp_path).release()
    finally:
        asker.kill()
        asker.communicate()


def test_a_lock_is_free_at_once_while_another_thread_starts_a_process(tmp_path: Path) -> None:
    """Between fork and exec the new process has a copy of every open file, this lock's too."""
    held = lock.acquire(tmp_path, "plan a")
    copy = os.dup(held._fd)
    try:
        held.release()
        assert lock.holder(tmp_path) is None
        lock.acquire(tmp_path, "plan b").release()
    finally:
        os.close(copy)
