"""What a durable step costs: 1,000 no-op steps through the real engine and store, as a ratio to the raw limit of the disk.

The raw limit is the least any durable engine must do for a step: append and sync a journal line, write and sync a 5 KB
snapshot, rename it, sync the folder. Both are measured in turns in one run, on the same disk, with a state file full of
comments that must all survive.
"""

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from agentd.engine.advance import start
from agentd.engine.drive import drive
from agentd.families import own
from agentd.model.workflow import Edge, Step, Workflow
from agentd.runs.config import Config, read_config
from agentd.runs.ports import Ports
from agentd.runs.project import Project
from agentd.runs.work import Work
from agentd.state.codecs import PLAIN
from agentd.state.store import Store, new_state

STEPS = 1000
ROUNDS = 5
RATIO_LIMIT = 2.5
GROWTH_LIMIT = 1.3


def main() -> int:
    """Print the figures; exit 1 if one is over its limit."""
    ratios, growths = [], []
    with tempfile.TemporaryDirectory(prefix="agentd-bench-", dir=os.environ.get("AGENTD_BENCH_DIR")) as folder:
        for number in range(ROUNDS):
            raw = raw_seconds(Path(folder) / f"raw-{number}")
            each = step_seconds(Path(folder) / f"run-{number}")
            ratios.append(sum(each) / raw)
            growths.append(sum(each[-100:]) / sum(each[:100]))
            print(
                f"round {number + 1}: raw {raw:.3f} s, agentd {sum(each):.3f} s, ratio {ratios[-1]:.2f}, growth {growths[-1]:.2f}"
            )
    ratio, growth = statistics.median(ratios), statistics.median(growths)
    print(f"{STEPS} durable steps: {ratio:.2f} times the raw limit (at most {RATIO_LIMIT}), median of {ROUNDS} rounds")
    print(f"the last hundred cost {growth:.2f} times the first hundred (at most {GROWTH_LIMIT})")
    return 0 if ratio <= RATIO_LIMIT and growth <= GROWTH_LIMIT else 1


def raw_seconds(folder: Path, steps: int = STEPS) -> float:
    """The raw limit for as many steps."""
    folder.mkdir()
    line, snapshot = b"x" * 200 + b"\n", b"y" * 5000
    begun = time.perf_counter()
    handle = os.open(folder, os.O_RDONLY)
    journal = os.open(folder / "journal", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for _ in range(steps):
        os.write(journal, line)
        os.fsync(journal)
        temp = os.open(folder / "temp", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.write(temp, snapshot)
        os.fsync(temp)
        os.close(temp)
        (folder / "temp").rename(folder / "state")
        os.fsync(handle)
    os.close(journal)
    os.close(handle)
    return time.perf_counter() - begun


def step_seconds(folder: Path) -> list[float]:
    """What each step took, from the save of its intent to the save of its outcome."""
    workflow = table()
    folder.mkdir()
    store = Store(folder, PLAIN)
    project = Project(folder, Config(read_config(folder, env={}).sections), (own.LAYOUT,))
    state = store.save(new_state(start(workflow, "bench"), description="no-op steps"), project.now(), "start")
    notes = "".join(
        f"# note {number}: what a person wrote here must stay\nkey_{number}: value {number}  # and this\n"
        for number in range(60)
    )
    store.path.write_text(store.path.read_text() + notes)
    state = store.load()
    work = Work(project, own.LAYOUT, workflow, store, state)
    ports = Timed(work)
    drive(workflow, work.state.run, ports)
    times = [end - begin for begin, end in zip(ports.marks, ports.marks[1:], strict=False)]
    text = store.path.read_text()
    assert text.count("what a person wrote") == 60, "a comment was lost"
    assert state.run.step == "step_0"
    assert work.state.run.result == "done"
    assert len(times) == STEPS
    return times


class Timed(Ports):
    """The ports of a run, with the time of each `begin`."""

    marks: list[float]

    def save(self, run, event, **details):  # type: ignore[no-untyped-def]
        """Note the time, then save."""
        if not hasattr(self, "marks"):
            self.marks = []
        if event == "begin":
            self.marks.append(time.perf_counter())
        super().save(run, event, **details)
        if event == "end" and run.result:
            self.marks.append(time.perf_counter())


def table() -> Workflow:
    """A workflow of no-op steps."""
    steps = {
        f"step_{number}": Step(
            f"step_{number}",
            "work",
            "do",
            "nothing",
            {"done": Edge(f"step_{number + 1}" if number + 1 < STEPS else "end")},
        )
        for number in range(STEPS)
    }
    return Workflow("bench", {**steps, "end": Step("end", "over", "end", "done")}, {"full": "step_0"})


if __name__ == "__main__":
    sys.exit(main())
