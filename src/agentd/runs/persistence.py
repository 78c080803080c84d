"""A write that has a person's answer in it: where the disk refuses it, it is tried again before anybody is asked again."""

import time
from collections.abc import Callable
from typing import TypeVar

from agentd.errors import DiskTrouble

RETRIES, PAUSE = 3, 0.2  # seconds
T = TypeVar("T")


def persistently(write: Callable[[], T]) -> T:
    """What a write gives, at the latest at its fourth attempt."""
    for _ in range(RETRIES):
        try:
            return write()
        except DiskTrouble:
            time.sleep(PAUSE)
    return write()
