"""Slots for heavy runs such as test suites, shared by all agentd processes of a user on this machine.

A slot is a file that its holder has locked; the kernel frees it when the holder dies. The file says how much memory the run
needs and how much it has, so that no run is started that does not fit beside those under way. One run always may.
"""

import fcntl
import hashlib
import json
import os
import re
import stat
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from agentd.errors import Interrupted
from agentd.machine import gauges, memory_need
from agentd.machine.gauges import Machine
from agentd.state import layout
from agentd.values import dataclass

INSIDE = "AGENTD_SLOT"  # what runs in a slot finds this in its environment, and takes no second one
ASSUMED = 1 << 30  # of a run whose need is unknown, at most
PAUSE = 0.1
_SIZE = 256
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Holder:
    """A run that has a slot: a name for its project, what it will need (None if that is unknown) and what it has now."""

    project: str
    need: int | None
    now: int = 0


class Slot:
    """A slot that is held."""

    def __init__(self, fd: int, holder: Holder) -> None:
        self._fd, self._holder = fd, holder
        self.peak = 0
        self._sign(0)

    def watch(self, now: int, most: int) -> None:
        """Note how much memory the run has."""
        self.peak = max(self.peak, now, most)
        self._sign(now)

    def release(self) -> None:
        if self._fd >= 0:
            _let_go(self._fd)
            self._fd = -1

    def _sign(self, now: int) -> None:
        if self._fd >= 0:
            facts = {"project": self._holder.project, "need": self._holder.need, "now": now, "pid": os.getpid()}
            with suppress(OSError):  # on a full disk the slot is still held
                os.pwrite(self._fd, json.dumps(facts).ljust(_SIZE).encode(), 0)


@contextmanager
def slot(
    project: Path,
    command: str,
    at_once: int,
    say: Callable[[str], None],
    stop: threading.Event,
    read: Callable[[], Machine] = gauges.read,
) -> Iterator[Slot]:
    """Wait for a slot and hold it; `at_once` is how many there are, 0 for half of the cores.

    A run that waits says why, once for each reason. Where slots cannot be kept, that is said, and the run goes on without.
    """
    name = hashlib.sha256(os.fsencode(project)).hexdigest()[:16]

    def mine() -> Holder:
        return Holder(name, memory_need.known(project, command))

    taken = Slot(-1, mine())
    if not os.environ.get(INSIDE):
        try:
            taken = _wait(_home(), mine, at_once, say, stop, read)
        except OSError as error:
            place = error.filename or layout.state_folder()
            say(f"⚠ test runs of other agentd processes are not waited for: {place}: {error.strerror}")
    try:
        yield taken
    finally:
        taken.release()


def why_waiting(mine: Holder, others: Collection[Holder], machine: Machine, at_once: int) -> str:
    """Return why a run may not begin beside others; nothing if it may, as it always may when it is alone."""
    near = [other for other in others if other.project == mine.project]
    if not others:
        return ""
    if len(others) >= (at_once or max(1, machine.cores // 2)):
        return f"waits for a slot: {_runs(len(others))} under way on this machine"
    if near and mine.need is None:
        return "waits for the other test runs of this project, as its memory has to be measured alone"
    if any(other.need is None for other in near):
        return "waits for another test run of this project, whose memory is being measured"
    assumed = min(ASSUMED, machine.total_memory // 4)
    need = assumed if mine.need is None else mine.need
    coming = sum(max(0, (assumed if other.need is None else other.need) - other.now) for other in others)
    if need + coming <= machine.free_memory:
        return ""
    more = f", {_gib(coming)} of it for those under way" if coming else ""
    return f"waits for memory: {_gib(machine.free_memory)} GiB free{more}, it needs about {_gib(need)}"


def _runs(count: int) -> str:
    return f"{count} test runs are" if count > 1 else "one test run is"


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.1f}"


def _home() -> Path:
    """The folder of the slots, this user's alone. A home may be on several machines."""
    host = re.sub(r"[^A-Za-z0-9.-]", "_", os.uname().nodename)
    folder = layout.state_folder() / f"slots-{host}"
    os.makedirs(folder.parent, exist_ok=True)
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise PermissionError(1, "it is not a folder of this user alone", str(folder))
    return folder


def _wait(
    folder: Path,
    mine: Callable[[], Holder],
    at_once: int,
    say: Callable[[str], None],
    stop: threading.Event,
    read: Callable[[], Machine],
) -> Slot:
    told: set[str] = set()
    while True:
        if stop.is_set():
            raise Interrupted(15)
        found = _try(folder, mine(), at_once, read)
        if isinstance(found, Slot):
            return found
        reason = found.partition(": ")[0]
        if found and reason not in told:
            told.add(reason)
            say(f"the test run {found}")
        stop.wait(PAUSE)


def _try(folder: Path, mine: Holder, at_once: int, read: Callable[[], Machine]) -> Slot | str:
    """Take a slot, or say why not; nothing is said while another process decides."""
    gate = _lock(folder / "gate")
    if gate is None:
        return ""
    free: list[int] = []
    try:
        others = []
        known = [int(name[5:]) for name in os.listdir(folder) if re.fullmatch(r"slot-\d{1,4}", name)]
        for number in range(1 + max(known, default=0)):
            path = folder / f"slot-{number}"
            fd = _lock(path)
            if fd is None:
                others.append(_read(path))
            else:
                free.append(fd)
        why = why_waiting(mine, others, read(), at_once)
        if why:
            return why
        fd = free.pop(0) if free else _lock(folder / f"slot-{len(others)}")
        return Slot(fd, mine) if fd is not None else ""
    finally:
        for fd in (*free, gate):
            _let_go(fd)


def _lock(path: Path) -> int | None:
    """The file, locked; None if another one has it."""
    fd = os.open(path, _FLAGS, 0o600)
    found = os.fstat(fd)
    try:
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise PermissionError(1, "it is not a file of this user", str(path))
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    except OSError:
        os.close(fd)
        raise
    return fd


def _let_go(fd: int) -> None:
    """Unlock, not only close: a process that another thread is just starting holds a copy for a moment."""
    with suppress(OSError):
        fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)


def _read(path: Path) -> Holder:
    """What the holder of a slot says; if that cannot be read, a run whose need is unknown."""
    try:
        with open(path, "rb") as file:
            facts = json.loads(file.read(_SIZE))
        return Holder(str(facts["project"]), None if facts["need"] is None else int(facts["need"]), int(facts["now"]))
    except (OSError, ValueError, LookupError, TypeError):
        return Holder("", None)
