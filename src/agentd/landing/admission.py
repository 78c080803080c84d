"""How many tasks run at once, as far as the machine has room for them: one more begins only if memory and processors are free.

The first task begins whatever the machine has; that is the engine's part.
"""

import time
from collections.abc import Callable, Collection

from agentd.machine import gauges
from agentd.machine.gauges import Machine

TASK = 1 << 30  # what an agent and the programs it starts take, if it was never measured
SETTLING = 30.0  # seconds until a task that began has taken most of that
BUSY, SHORT = 0.9, 0.2  # shares of the time in which programs wait for a processor, for memory


def why_waiting(machine: Machine, starting: int = 0, need: int = TASK) -> str:
    """Return why one more task may not begin, with figures, or nothing.

    `starting` tasks have begun and have not yet taken the memory that each of them needs.
    """
    need = min(need, machine.total_memory // 4)
    free = machine.free_memory - starting * need
    if free < need:
        begun = f", {starting} just begun" if starting else ""
        return f"waits for memory: {_gib(machine.free_memory)} GiB free{begun}, a task needs about {_gib(need)}"
    if machine.memory_pressure >= SHORT:
        return f"waits for memory: programs wait for it {machine.memory_pressure:.0%} of the time"
    if machine.cpu_pressure >= BUSY:
        cores = f"{machine.cores} cores" if machine.cores > 1 else "one core"
        return f"waits for a processor: programs wait for one {machine.cpu_pressure:.0%} of the time, with {cores}"
    return ""


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.1f}"


class Admission:
    """The same for the tasks of a run, with the machine's gauges and a clock."""

    def __init__(
        self,
        need: int = TASK,
        read: Callable[[], Machine] = gauges.read,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.need, self.read, self.clock = need, read, clock
        self._since: dict[str, float] = {}

    def why_waiting(self, under_way: Collection[str]) -> str:
        """Return why one more task may not begin beside those under way, or nothing."""
        now = self.clock()
        self._since = {task: self._since.get(task, now) for task in under_way}
        starting = sum(now - since < SETTLING for since in self._since.values())
        return why_waiting(self.read(), starting, self.need)
