"""Work shared out among processes comes back whole and in order, whatever happens to them."""

import os
import signal
import threading
import time

import psutil
import pytest

from agentd.workers import available, share


def square(number: int) -> int:
    return number * number


@pytest.mark.parametrize("processes", [0, 1, 2, 3, 50])
@pytest.mark.parametrize("many", [0, 1, 7])
def test_results_come_in_the_order_of_the_parts(many: int, processes: int) -> None:
    assert share(square, list(range(many)), processes) == [number * number for number in range(many)]


def test_results_larger_than_a_pipe_come_back() -> None:
    whole = [letter * 3_000_000 for letter in "abc"]
    assert share(lambda part: part * 3_000_000, ["a", "b", "c"], 3) == whole


def test_what_a_killed_worker_did_not_give_back_is_done_by_the_process_that_waits() -> None:
    here = os.getpid()

    def work(part: int) -> int:
        if os.getpid() != here and part == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    assert share(work, list(range(6)), 2) == list(range(6))


def test_an_error_in_a_worker_is_raised_where_it_can_be_seen() -> None:
    def work(part: int) -> int:
        if part == 3:
            raise ValueError("three")
        return part

    for processes in (1, 2):
        with pytest.raises(ValueError, match="three"):
            share(work, list(range(6)), processes)


def test_an_error_here_ends_the_workers_at_once() -> None:
    here = os.getpid()

    def work(part: int) -> int:
        if os.getpid() == here:
            raise KeyboardInterrupt
        time.sleep(600)
        return part

    others = psutil.Process().children()
    with pytest.raises(KeyboardInterrupt):
        share(work, [1, 2], 2)
    assert {*psutil.Process().children()} <= {*others}


def test_beside_another_thread_there_is_one_process() -> None:
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    try:
        assert available() == 1
    finally:
        over.set()
        thread.join()
