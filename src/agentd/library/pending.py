"""What is under way in the library: the lock on it, and the note that an archive or an undo was decided."""

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentd.errors import AgentdError, Corrupt, Held
from agentd.state import durable, layout, lock

WAIT = 60.0
Deed = Literal["archive", "undo"]


@dataclass(frozen=True)
class Pending:
    """What is under way, and was decided: it is finished, or taken back as a whole."""

    deed: Deed
    change: str


@contextmanager
def holding(root: Path, seconds: float = WAIT) -> Iterator[None]:
    """One process at a time works on the library, for moments only; the others wait for it."""
    if not (root / layout.OWN).is_dir():
        yield
        return
    path = root / layout.OWN / lock.NAME
    new = not path.exists()
    try:
        held = lock.acquire(path.parent, "archive", seconds, deep=False)
    except Held as error:
        what = error.message.removeprefix(f"{layout.OWN} ")
        raise Held(
            f"The spec library {what}", "agentd status   # when that process is over, the same command again"
        ) from None
    with held:
        if new:
            from agentd.calling.agent_settings import hide

            with suppress(AgentdError):  # it would be a pity to be shown, and no more
                hide(path, root / layout.OWN)
        yield


def read(root: Path) -> Pending | None:
    """What an earlier command left unfinished."""
    path = root / layout.PENDING
    try:
        data = json.loads(path.read_bytes())
        if not layout.CHANGE_ID.fullmatch(data["change"]):
            raise ValueError
        return Pending({"archive": "archive", "undo": "undo"}[data["deed"]], data["change"])  # type: ignore[arg-type]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise durable.trouble(path, error, "read") from error
    except (ValueError, TypeError, KeyError):
        fix = f"rm {shlex.quote(str(path))}   # then agentd archive, or agentd undo, of the change that was under way"
        raise Corrupt(f"{path}: it does not say which archive is under way.", fix) from None


def decide(root: Path, deed: Deed, change: str) -> None:
    """Say what is under way. From when the change has its record, it will be done, by this process or by the next."""
    durable.replace(root / layout.PENDING, json.dumps({"deed": deed, "change": change}).encode() + b"\n", "pending")


def settle(root: Path) -> None:
    """Nothing is under way any more."""
    durable.remove(root / layout.PENDING, "pending")
