"""Several heavy runs in the threads of one process, each in a slot: what the tests of slots start.

    python -m tests.machine.heavy_runs PROJECT RUNS MIB [--group FOLDER | --within MIB]

It joins a control group, or looks at its own memory as if the machine had no more than that. It prints a line for each run.
"""

import argparse
import os
import sys
import threading
from pathlib import Path

from agentd import process
from agentd.machine import gauges, memory_need, slots
from agentd.machine.gauges import Machine
from agentd.process.tree import memory_below

HEAVY = "import sys, time; kept = b'x' * (int(sys.argv[1]) << 20); time.sleep(0.7)"
COMMAND = "heavy"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("project", type=Path)
    parser.add_argument("runs", type=int)
    parser.add_argument("mib", type=int)
    parser.add_argument("--group", type=Path)
    parser.add_argument("--within", type=int)
    told = parser.parse_args()
    if told.group:
        (told.group / "cgroup.procs").write_text(str(os.getpid()))

    def left() -> Machine:
        """The machine as it would be if all that runs below whoever started this had only so much."""
        total = told.within << 20
        return Machine(total - memory_below(os.getppid())[0], total, 0.0, 0.0, 2)

    read = left if told.within else gauges.read
    lock = threading.Lock()

    def say(text: str) -> None:
        with lock:
            print(text, flush=True)

    def one() -> None:
        with slots.slot(told.project, COMMAND, told.runs, say, threading.Event(), read) as slot:
            words = [sys.executable, "-c", HEAVY, str(told.mib)]
            done = process.run(words, cwd=told.project, timeout=60, watch=slot.watch)
            memory_need.learn(told.project, COMMAND, slot.peak, done.code == 0)
        say(f"exit {done.code}, peak {slot.peak >> 20}")

    threads = [threading.Thread(target=one) for _ in range(told.runs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
