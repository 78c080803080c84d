"""What checks that run side by side come to, each in its turn."""

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, wait
from typing import TypeVar

TICK = 0.1
Result = TypeVar("Result")


def results(futures: Iterable[Future[Result]]) -> Iterator[Result]:
    """The results in the order given.

    It never waits for long: a signal that another thread takes does not end a wait of the main thread.
    """
    for future in futures:
        while not future.done():
            wait([future], TICK)
        yield future.result()
