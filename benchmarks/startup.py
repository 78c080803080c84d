"""How fast agentd starts: `agentd status` and `agentd --help` as ratios to `python -c pass`, measured in turns in one run.

What is compared is the time on the processor, of the median run: a start waits for nothing, and a busy machine, which makes
the best run of a longer program rarer, changes that ratio least. `_mcp_startup` adds how soon an agent has its tools.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks._mcp_startup import within_limits

ROUNDS = 40
LIMITS = {"agentd --help": 5.0, "agentd status": 8.0}
PYTHON = sys.executable
CASES = {
    "python -c pass": [PYTHON, "-c", "pass"],
    "agentd --help": [str(Path(PYTHON).parent / "agentd"), "--help"],
    "agentd status": [str(Path(PYTHON).parent / "agentd"), "status"],
}


def main() -> int:
    """Print the median of each and the ratios; exit 1 if one is over its limit."""
    times: dict[str, list[float]] = {name: [] for name in CASES}
    with tempfile.TemporaryDirectory(prefix="agentd-bench-") as folder:
        prepare(Path(folder))
        for _ in range(ROUNDS):
            for name, argv in CASES.items():
                begun = used()
                subprocess.run(argv, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, check=True)
                times[name].append(used() - begun)
        served = within_limits(Path(folder), environment())
    bare = median(times["python -c pass"])
    ratios = {name: median(seen) / bare for name, seen in times.items()}
    for name, seen in times.items():
        limit = f" (at most {LIMITS[name]})" if name in LIMITS else ""
        print(f"{name:<16} {median(seen) * 1000:6.1f} ms, {ratios[name]:5.2f} times python -c pass{limit}")
    print(f"median of {ROUNDS} runs each")
    return 0 if served and all(ratios[name] <= limit for name, limit in LIMITS.items()) else 1


def used() -> float:
    """The seconds that processes which have ended were on the processor."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def prepare(folder: Path) -> None:
    """A repository with ten planned changes, so that `status` has something to read."""
    subprocess.run(["git", "init", "-q", folder], check=True)
    for number in range(10):
        run = folder / "agentd" / "changes" / f"change-{number}"
        run.mkdir(parents=True)
        (run / "STATE.yaml").write_text(
            f'change_id: change-{number}\nphase: challenged\nschema_version: "2.0"\n'
            "created_at: 2026-01-19T10:00:00Z\nupdated_at: 2026-01-19T10:00:00Z\n"
            "run:\n  workflow: change\n  step: ready\n  saves: 12\n"
        )


def environment() -> dict[str, str]:
    """The caller's, but with bytecode kept from the first run on, as an installed package has it."""
    unwanted = ("AGENTD_", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}


if __name__ == "__main__":
    sys.exit(main())
