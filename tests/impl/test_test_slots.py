"""The project's tests take their turn on the machine, and what memory they need is known the next time."""

import json
import threading
from pathlib import Path

from agentd.machine.slots import INSIDE, slot
from tests.impl.coding import APPROVED, HONEST
from tests.sandbox import CHANGE, Sandbox


def test_a_test_run_waits_for_its_slot_says_so_once_and_is_measured(planned: Sandbox, tmp_path: Path) -> None:
    planned.script(implement=HONEST, review=APPROVED)
    planned.set("evidence", at_once=1)
    over = threading.Event()
    held = threading.Event()

    def hold() -> None:
        with slot(tmp_path / "other", "test", 1, print, threading.Event()):
            held.set()
            over.wait(5)

    other = threading.Thread(target=hold)
    other.start()
    assert held.wait(10)
    done = planned.run("impl", CHANGE)
    over.set()
    other.join()
    assert done.code == 0, done.out + done.err
    assert done.out.count("the test run waits for a slot: one test run is under way on this machine") == 1
    (file,) = (planned.root / ".git" / "agentd" / "memory").iterdir()
    peaks = json.loads(file.read_text())["peaks"]
    assert len(peaks) >= 2
    assert all(1 << 20 < peak < 1 << 30 for peak in peaks)


def test_only_tests_run_in_a_slot_and_can_see_it(planned: Sandbox) -> None:
    planned.script(implement=HONEST, review=APPROVED)
    seen = planned.root.parent / "seen"
    note = f"sh -c 'echo {{}} ${INSIDE} >> {seen}; {{}}'"
    tests = note.format("test", "python3 -m unittest -v")
    planned.set("evidence", test=tests, lint=note.format("lint", "true"))
    done = planned.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    assert {*seen.read_text().splitlines()} == {"test 1", "lint"}
