"""What agentd adds to one agent step with tools: its wall time as a ratio to the same agent program on a bare loop.

The step is a whole run of a workflow with one agent step, driven in a process that has loaded agentd, as the second step
of a command is: the run's folder and lock, every durable save, the prompt, the agent's program under its supervisor, its
forwarder, the host of the tools with its imports, one call of a tool, the transcript, the judgement, and the end of all
processes. The bare loop starts the same agent program with the same script, gives it the SDK's own minimal server with
a tool of that name, and waits for its end; it saves nothing. A second bare loop, for honesty, has a server that imports
nothing. No sandbox is around either. All are measured in turns in one run; the best of each counts.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from agentd.agents import scripted
from agentd.app import open_project
from agentd.model.job import Job
from agentd.runs.lifecycle import start

ROUNDS = 8
RATIO_LIMIT = 3.0
HERE = Path(__file__).parent
PAGE = {"path": "oauth.md", "title": "OAuth", "source": "a benchmark", "content": "The state must be compared."}
SCRIPT = {"note": {"tools": [{"write_knowledge": PAGE}]}}
WORKFLOW = """name: bench
starts: {full: note}
steps:
  note: {phase: work, agent: planner, tools: [write_knowledge], next: {done: end}}
  end: {phase: over, end: done}
"""
CONFIG = """project_name = "bench"
[roles]
planner = "scripted"
[scripted]
script = "agentd/script.json"
[sandbox]
mode = "off"
"""


def main() -> int:
    """Print the figures; exit 1 if the ratio is over its limit."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory(prefix="agentd-bench-", dir=os.environ.get("AGENTD_BENCH_DIR")) as folder:
        root = Path(os.path.realpath(folder))
        prepare(root)
        ways: dict[str, Callable[[int], None]] = {
            "agentd": lambda number: step(root, number),
            "bare loop, SDK server": lambda _: bare(root, "_sdk_server.py"),
            "bare loop, free server": lambda _: bare(root, "_free_server.py"),
        }
        times: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(ROUNDS):
            for name, way in ways.items():
                (root / "agentd" / "knowledge" / PAGE["path"]).unlink(missing_ok=True)
                begun = time.perf_counter()
                way(number)
                times[name].append(time.perf_counter() - begun)
                assert (root / "agentd" / "knowledge" / PAGE["path"]).is_file(), name
    best = {name: min(seen) for name, seen in times.items()}
    for name, seconds in best.items():
        print(f"{name:<24}{seconds * 1000:7.0f} ms, agentd is {best['agentd'] / seconds:5.2f} times that")
    ratio = best["agentd"] / best["bare loop, SDK server"]
    print(f"one step with tools: {ratio:.2f} times the bare loop with the SDK's server (at most {RATIO_LIMIT})")
    print(f"best of {ROUNDS} rounds")
    return 0 if ratio <= RATIO_LIMIT else 1


def prepare(root: Path) -> None:
    (root / "agentd" / "workflows").mkdir(parents=True)
    (root / "agentd" / "config.toml").write_text(CONFIG)
    (root / "agentd" / "script.json").write_text(json.dumps(SCRIPT))
    (root / "agentd" / "workflows" / "bench.yaml").write_text(WORKFLOW)


def step(root: Path, number: int) -> None:
    """One run of the workflow, as `agentd run` drives it."""
    report = start(open_project(root), "bench", f"run-{number}", "Note what is to be remembered")
    assert report.phase == "over", report


def bare(root: Path, server: str) -> None:
    """The same agent program, with a server of its own."""
    words = (sys.executable, str(HERE / server))
    job = Job(
        "note-1.1", "note", "planner", 1, "Note it.", str(root), "agentd", server=words, tools=("write_knowledge",)
    )
    command = scripted.command(Job(**{**vars(job), "settings": {"script": "agentd/script.json"}}))
    env = {**os.environ, **command.env}
    done = subprocess.run(command.argv, cwd=root, env=env, input=command.stdin, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


if __name__ == "__main__":
    sys.exit(main())
