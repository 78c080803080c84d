"""When the system started this process, and the moments of its start. It reads the system's clocks and nothing else."""

import os
import time
from typing import NamedTuple

_noted: dict[str, float] = {}


class Startup(NamedTuple):
    """The start of a process: when the system began it, when agentd was loaded, when its command was."""

    process: float
    program: float
    command: float


def note_command(program: float) -> None:
    """A command begins now, its code is loaded; agentd's own first line ran at `program`."""
    _noted.update(program=program, command=time.monotonic())


def startup() -> Startup | None:
    """The start of this process, for the first that asks; None where no command was started, as in a server."""
    if "command" not in _noted:
        return None
    program, command = _noted.pop("program"), _noted.pop("command")
    return Startup(min(process_start(), program), program, command)


def process_start(stat: str = "/proc/self/stat") -> float:
    """The monotonic time at which the system started this process; where it does not tell, as long ago as the process has
    used its processor, which is at least how long it has been there."""
    now, least = time.monotonic(), time.process_time()
    try:
        with open(stat, "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        age = least
    return now - max(age, least)
