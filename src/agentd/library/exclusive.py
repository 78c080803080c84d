"""One process at a time works on the spec library: the lock on it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from agentd.calling.agent_settings import hide
from agentd.errors import AgentdError, Held
from agentd.state import lock

HOME = "agentd"  # its lock is that of the library
WAIT = 60.0


@contextmanager
def holding(root: Path, seconds: float = WAIT) -> Iterator[None]:
    """One process at a time works on the library, for moments only; the others wait for it."""
    if not (root / HOME).is_dir():
        yield
        return
    path = root / HOME / lock.NAME
    new = not path.exists()
    try:
        held = lock.acquire(path.parent, "archive", seconds, deep=False)
    except Held as error:
        what = error.message.removeprefix(f"{HOME} ")
        raise Held(
            f"The spec library {what}", "agentd status   # when that process is over, the same command again"
        ) from None
    with held:
        if new:
            with suppress(AgentdError):  # it would be a pity to be shown, and no more
                hide(path, root / HOME)
        yield
