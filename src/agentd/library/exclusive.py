"""One process at a time works on the spec library: the lock on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentd.errors import Held
from agentd.state import lock

HOME = "agentd"  # its lock is that of the library
WAIT = 60.0


@contextmanager
def holding(root: Path, seconds: float = WAIT) -> Iterator[None]:
    """One process at a time works on the library, for moments only; the others wait for it."""
    if not (root / HOME).is_dir():
        yield
        return
    try:
        held = lock.acquire(root / HOME, "archive", seconds, deep=False)
    except Held as error:
        what = error.message.removeprefix(f"{HOME} ")
        raise Held(
            f"The spec library {what}", "agentd status   # when that process is over, the same command again"
        ) from None
    with held:
        yield
