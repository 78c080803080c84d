"""One more task begins only if the machine has room for it, and whoever waits is told the figures."""

from dataclasses import replace

from agentd.landing.admission import SETTLING, Admission, why_waiting
from agentd.machine.gauges import Machine

GIB = 1 << 30
IDLE = Machine(8 * GIB, 16 * GIB, 0.1, 0.0, 4)


def test_on_a_machine_with_room_a_task_begins() -> None:
    assert why_waiting(IDLE) == ""
    assert why_waiting(IDLE, starting=7) == ""


def test_a_task_that_does_not_fit_into_memory_waits_and_says_how_much_is_missing() -> None:
    tight = replace(IDLE, free_memory=GIB * 4 // 10)
    assert why_waiting(tight, need=GIB * 11 // 10) == "waits for memory: 0.4 GiB free, a task needs about 1.1"


def test_memory_that_tasks_just_begun_will_take_is_not_free() -> None:
    assert why_waiting(IDLE, starting=8) == "waits for memory: 8.0 GiB free, 8 just begun, a task needs about 1.0"


def test_a_small_machine_is_not_expected_to_have_more_than_a_quarter_for_a_task() -> None:
    assert why_waiting(Machine(GIB // 2, GIB, 0.0, 0.0, 1)) == ""
    assert why_waiting(Machine(GIB // 5, GIB, 0.0, 0.0, 1)) != ""


def test_a_task_waits_while_programs_wait_for_memory_or_a_processor() -> None:
    assert why_waiting(replace(IDLE, memory_pressure=0.35)) == "waits for memory: programs wait for it 35% of the time"
    busy = "waits for a processor: programs wait for one 96% of the time, with 4 cores"
    assert why_waiting(replace(IDLE, cpu_pressure=0.96)) == busy
    assert why_waiting(replace(IDLE, cpu_pressure=0.96, cores=1)).endswith("with one core")
    assert why_waiting(replace(IDLE, cpu_pressure=0.5, memory_pressure=0.1)) == ""


def test_tasks_count_as_just_begun_until_they_have_taken_what_they_need() -> None:
    now = 100.0
    admission = Admission(GIB, lambda: replace(IDLE, free_memory=2 * GIB), lambda: now)
    assert admission.why_waiting(["a"]) == ""
    assert admission.why_waiting(["a", "b"]).startswith("waits for memory: 2.0 GiB free, 2 just begun")
    now += SETTLING
    assert admission.why_waiting(["a", "b"]) == ""
    assert admission.why_waiting(["b", "c", "d"]) != ""
    assert admission.why_waiting(["d"]) == "", "who is over takes no memory"
