"""Heavy runs of all processes share the slots and the memory of the machine, and a dead process holds nothing."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from agentd.errors import Interrupted
from agentd.machine import gauges, slots
from agentd.machine.gauges import Machine
from agentd.machine.memory_need import learn
from agentd.machine.slots import Holder, slot, why_waiting
from agentd.process.tree import memory_below

GIB = 1 << 30
IDLE = Machine(8 * GIB, 16 * GIB, 0.0, 0.0, 8)
PATIENCE = 30
ROOT = Path(__file__).parents[2]


def idle() -> Machine:
    return IDLE


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The slots of each test are its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv(slots.INSIDE, raising=False)
    return tmp_path / "state" / "agentd"


@pytest.mark.parametrize("at_once", [0, 1, 9])
def test_a_run_that_is_alone_begins_whatever_it_needs(at_once: int) -> None:
    full = Machine(0, GIB, 1.0, 1.0, 1)
    assert why_waiting(Holder("a", 50 * GIB), (), full, at_once) == ""
    assert why_waiting(Holder("a", None), (), full, at_once) == ""


def test_half_of_the_cores_run_tests_unless_a_number_is_set() -> None:
    mine, others = Holder("a", 1), [Holder("b", 1)] * 4
    assert why_waiting(mine, others[:3], IDLE, 0) == ""
    assert why_waiting(mine, others, IDLE, 0) == "waits for a slot: 4 test runs are under way on this machine"
    assert why_waiting(mine, others, IDLE, 5) == ""
    assert why_waiting(mine, others[:1], IDLE, 1) == "waits for a slot: one test run is under way on this machine"


def test_a_run_of_unknown_need_is_alone_in_its_project() -> None:
    unknown, known = Holder("a", None), Holder("a", 1)
    assert why_waiting(unknown, [known], IDLE, 0).endswith("has to be measured alone")
    assert why_waiting(known, [unknown], IDLE, 0).endswith("whose memory is being measured")
    assert why_waiting(unknown, [Holder("b", 1)], IDLE, 0) == ""
    assert why_waiting(known, [Holder("b", None)], IDLE, 0) == ""


def test_what_runs_under_way_will_still_take_is_not_free() -> None:
    mine, machine = Holder("a", 2 * GIB), Machine(4 * GIB, 8 * GIB, 0.0, 0.0, 8)
    assert why_waiting(mine, [Holder("a", 3 * GIB, now=GIB)], machine, 0) == ""
    told = "waits for memory: 4.0 GiB free, 2.5 of it for those under way, it needs about 2.0"
    assert why_waiting(mine, [Holder("a", 3 * GIB, now=GIB // 2)], machine, 0) == told
    assert why_waiting(mine, [Holder("a", GIB, now=5 * GIB)], machine, 0) == "", "more than it needs is no gift"
    assert why_waiting(Holder("a", 5 * GIB), [Holder("a", 1, 1)], machine, 0).startswith("waits for memory: 4.0 GiB")


def test_of_a_run_of_another_project_that_was_never_measured_some_need_is_assumed() -> None:
    unknown = Holder("b", None)
    assert why_waiting(Holder("a", GIB), [unknown], Machine(2 * GIB, 8 * GIB, 0, 0, 8), 0) == ""
    assert why_waiting(Holder("a", GIB + 1), [unknown], Machine(2 * GIB, 8 * GIB, 0, 0, 8), 0) != ""


def test_who_waits_says_why_once_and_begins_when_a_slot_is_free(tmp_path: Path) -> None:
    told: list[str] = []
    begun = threading.Event()

    def wait() -> None:
        with slot(tmp_path / "b", "test", 1, told.append, threading.Event(), idle):
            begun.set()

    with slot(tmp_path / "a", "test", 1, told.append, threading.Event(), idle):
        waiting = threading.Thread(target=wait)
        waiting.start()
        assert not begun.wait(5 * slots.PAUSE)
    assert begun.wait(PATIENCE)
    waiting.join(PATIENCE)
    assert told == ["the test run waits for a slot: one test run is under way on this machine"]


def test_no_more_than_the_slots_are_held_at_a_time(tmp_path: Path) -> None:
    learn(tmp_path, "test", 1, typical=True)
    lock, now, most = threading.Lock(), 0, 0

    def one() -> None:
        nonlocal now, most
        with slot(tmp_path, "test", 3, lambda text: None, threading.Event(), idle):
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(2 * slots.PAUSE)
            with lock:
                now -= 1

    threads = [threading.Thread(target=one) for _ in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert most == 3


def test_a_stop_ends_the_waiting(tmp_path: Path) -> None:
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    with (
        slot(tmp_path / "a", "test", 1, lambda text: None, threading.Event(), idle),
        pytest.raises(Interrupted),
        slot(tmp_path / "b", "test", 1, lambda text: None, stop, idle),
    ):
        pass


def test_a_killed_process_holds_no_slot(tmp_path: Path) -> None:
    hold = (
        "import sys, threading, time; from pathlib import Path; from agentd.machine import slots\n"
        "with slots.slot(Path(sys.argv[1]), 'test', 1, print, threading.Event()):\n"
        "    print('held', flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", hold, str(tmp_path)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        told: list[str] = []
        threading.Timer(0.5, other.send_signal, [signal.SIGKILL]).start()
        with slot(tmp_path, "test", 1, told.append, threading.Event(), idle):
            assert told == ["the test run waits for a slot: one test run is under way on this machine"]
            assert other.wait(PATIENCE) == -signal.SIGKILL


def test_what_runs_in_a_slot_takes_no_second_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with slot(tmp_path, "test", 1, lambda text: None, threading.Event(), idle):
        monkeypatch.setenv(slots.INSIDE, "1")
        with slot(tmp_path, "test", 1, pytest.fail, threading.Event(), idle):
            pass


def test_the_files_of_the_slots_are_this_users_alone(tmp_path: Path, home: Path) -> None:
    with slot(tmp_path, "test", 1, pytest.fail, threading.Event(), idle):
        (folder,) = home.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        assert {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()} == {"gate": 0o600, "slot-0": 0o600}


@pytest.mark.parametrize("what", ["folder", "gate", "slot-0"])
def test_a_link_in_the_place_of_the_slots_is_not_followed_and_the_run_goes_on(
    tmp_path: Path, home: Path, what: str
) -> None:
    with slot(tmp_path, "test", 1, pytest.fail, threading.Event(), idle):
        (folder,) = home.iterdir()
    place = folder if what == "folder" else folder / what
    target = tmp_path / "target"
    if what == "folder":
        target.mkdir()
        place.rename(tmp_path / "away")
    else:
        target.write_text("precious")
        place.unlink()
    place.symlink_to(target)
    told: list[str] = []
    with slot(tmp_path, "test", 1, told.append, threading.Event(), idle):
        pass
    assert len(told) == 1
    assert "not waited for" in told[0]
    assert str(place) in told[0]
    assert not [*target.iterdir()] if what == "folder" else target.read_text() == "precious"


def test_a_folder_that_others_may_write_to_is_not_used(tmp_path: Path, home: Path) -> None:
    with slot(tmp_path, "test", 1, pytest.fail, threading.Event(), idle):
        (folder,) = home.iterdir()
    folder.chmod(0o777)
    told: list[str] = []
    with slot(tmp_path, "test", 1, told.append, threading.Event(), idle):
        assert "not a folder of this user alone" in told[0]


def test_a_holder_that_says_nothing_readable_counts_as_one_of_unknown_need(tmp_path: Path, home: Path) -> None:
    learn(tmp_path / "b", "test", 7 * GIB, typical=True)
    told: list[str] = []
    stop = threading.Event()
    with slot(tmp_path / "a", "test", 2, told.append, threading.Event(), idle):
        (file,) = home.glob("*/slot-0")
        file.write_text("{torn")
        threading.Timer(0.3, stop.set).start()
        with pytest.raises(Interrupted), slot(tmp_path / "b", "test", 2, told.append, stop, idle):
            pass
    assert told == ["the test run waits for memory: 8.0 GiB free, 1.0 of it for those under way, it needs about 8.4"]


@pytest.fixture
def limit(pytestconfig: pytest.Config) -> int:
    """MiB of memory for ten runs that need a quarter of it each; a tenth of it takes a third of the time."""
    return 4096 if pytestconfig.getoption("--crash") == "all" else 400


@pytest.fixture
def group(limit: int) -> Iterator[Path | None]:
    """A control group with little memory, inside the one of the tests; None where none can be made."""
    for own in (*gauges._groups(Path("/"), "memory"), *gauges._groups(Path("/"), "")):
        made = own / f"agentd-test-{os.getpid()}"
        with suppress(OSError):
            made.mkdir()
            try:
                for name in ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.max", "memory.swap.max"):
                    if (made / name).exists():
                        (made / name).write_text("0" if "swap" in name else str(limit << 20))
                if (made / "memory.max").exists() or (made / "memory.limit_in_bytes").exists():
                    yield made
                    return
            finally:
                _remove(made)
        break
    yield None


def _remove(group: Path) -> None:
    end = time.monotonic() + PATIENCE
    while group.exists() and time.monotonic() < end:
        for pid in (group / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        with suppress(OSError):
            group.rmdir()
        time.sleep(0.02)


def killed_for_memory(group: Path) -> int:
    files = [path for path in (group / "memory.events", group / "memory.oom_control") if path.exists()]
    return int(re.search(r"oom_kill (\d+)", "".join(path.read_text() for path in files))[1])  # type: ignore[index]


@pytest.mark.parametrize("in_slots", [True, False])
def test_ten_runs_that_do_not_fit_together_are_not_killed_for_memory(
    tmp_path: Path, group: Path | None, limit: int, in_slots: bool
) -> None:
    """In two processes, in a control group. Without slots they are killed, so the group is as small as it has to be. Where
    there is no group, their memory is measured from outside."""
    room = ["--group", str(group)] if group else ["--within", str(limit)]
    words = [sys.executable, "-m", "tests.machine.heavy_runs", str(tmp_path), "5", str(limit // 4), *room]
    env = {**os.environ, **({} if in_slots else {slots.INSIDE: "1"})}
    most, out = 0, ""
    both = [subprocess.Popen(words, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    while any(one.poll() is None for one in both):
        most = max(most, memory_below(os.getpid())[0])
        time.sleep(0.05)
    for one in both:
        assert one.stdout is not None
        out += one.stdout.read()
        one.stdout.close()
    well = len(re.findall(r"^exit 0", out, re.M))
    fits = killed_for_memory(group) == 0 if group else most <= limit << 20
    assert (well == 10 and fits) if in_slots else not fits, (out, most >> 20)
    if in_slots:
        assert len(re.findall("waits for (the other|another)", out)) >= 2, "who came first was measured alone"
        assert "waits for memory: " in out
