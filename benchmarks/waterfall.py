"""Where the time of `plan`, `impl` and `archive` goes: the sample change of the demonstration, taken through by scripted
agents a few times, the medians of what `agentd log --timing --json` tells.

The limit is on agentd's own time of one agent step: everything but the agent and the project's own commands. It is
compared with the least that any wrapper around an agent pays for a durable call, measured in turns in the same run: the
start of one bare interpreter, and two raw saves (the intent before, the outcome after) on the same disk. Both grow with
a slow processor and a slow disk as agentd's own time does.

With --write, the part of docs/performance.md between its markers is written.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parents[1]))

from agentd.cli.timing_rows import length, row
from agentd.demo import CHANGE, make_repository
from benchmarks._openspec import agentd
from benchmarks.startup import environment
from benchmarks.steps import raw_seconds

ROUNDS = int(os.environ.get("AGENTD_BENCH_ROUNDS") or 3)
BARE = 5
SAVES = 50
LIMIT = 4.0
# Detailed enough to need no clarification.
IDEA = "Give the n most frequent words of a text:\n- the most frequent first\n- ties by the alphabet\n- at most n pairs"
COMMANDS = (("plan", CHANGE, IDEA, "--auto"), ("impl", CHANGE, "--auto"), ("archive", CHANGE))
PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
MARKS = ("<!-- made by benchmarks/waterfall.py --write -->", "<!-- end of what is made -->")
START = ("interpreter", "imports", "open", "opening")
CALL = ("gate", "save", "prepare", "prompt", "argv", "launch", "agent", "restore", "judge", "outcome")
SEEN = ("first line", "tools asked for")


def main() -> int:
    """Print the waterfalls and the ratio; exit 1 if it is over its limit."""
    rounds: list[list[dict[str, Any]]] = []
    with tempfile.TemporaryDirectory(prefix="agentd-bench-", dir=os.environ.get("AGENTD_BENCH_DIR")) as folder:
        for number in range(ROUNDS):
            rounds.append(taken_through(Path(folder) / f"round-{number}"))
    ratios = {words[0]: ratio([each[number] for each in rounds]) for number, words in enumerate(COMMANDS[:2])}
    lines = [*page(rounds), "", *map(verdict, ratios, ratios.values())]
    print("\n".join(lines))
    if "--write" in sys.argv[1:]:
        write(lines)
    return 0 if max(ratios.values()) <= LIMIT else 1


def taken_through(folder: Path) -> list[dict[str, Any]]:
    """The commands as `log --timing` tells them, each with what it took as seen from outside and the least measured before."""
    folder.mkdir()
    repository, walls, leasts = make_repository(folder / "repository"), [], []
    for words in COMMANDS:
        leasts.append(least_seconds(folder / f"raw-{words[0]}"))
        begun = time.perf_counter()
        run([*agentd(), *words, "--json"], repository)
        walls.append(time.perf_counter() - begun)
    told = json.loads(run([*agentd(), "log", CHANGE, "--timing", "--json"], repository))["commands"]
    found = zip(told, walls, leasts, strict=True)
    return [{**command, "wall": wall, "least": least} for command, wall, least in found]


def run(argv: Sequence[str], folder: Path) -> bytes:
    done = subprocess.run(argv, cwd=folder, env=environment(), capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(argv[1:3])}: exit {done.returncode}\n{(done.stdout + done.stderr)[-2000:].decode()}")
    return done.stdout


def least_seconds(folder: Path) -> float:
    """One bare interpreter and two raw saves."""
    times = []
    for _ in range(BARE):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], env=environment(), check=True)
        times.append(time.perf_counter() - begun)
    return statistics.median(times) + 2 * raw_seconds(folder, SAVES) / SAVES


def visits(steps: Sequence[dict[str, Any]], depth: int = 1) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Every row below a command in its order: a title, how deep it stands, and the step or the child itself."""
    for step in steps:
        if step["outcome"] != "skip":
            yield step["step"], depth, step
        for child in step.get("children", ()):
            yield child["item"], depth + 1, child
            yield from visits(child["steps"], depth + 2)


def agent_steps(commands: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The steps in which an agent was called."""
    found = [each for command in commands for _, _, each in visits(command["steps"])]
    return [step for step in found if any(part["part"] == "agent" for part in step.get("parts", ()))]


def own_seconds(step: dict[str, Any]) -> float:
    return float(sum(part["seconds"] for part in step["parts"] if part["owner"] == "agentd"))


def page(rounds: Sequence[Sequence[dict[str, Any]]]) -> Iterator[str]:
    """The tables and the waterfalls, by the medians of the rounds."""
    names = [words[0] for words in COMMANDS]
    each = [[one[number] for one in rounds] for number in range(len(names))]
    where = f"{platform.system()}, Python {platform.python_version()}, {os.cpu_count()} cores"
    yield f"Medians of {ROUNDS} rounds; {where}, load {os.getloadavg()[2]:.1f} (how many processes wanted a core)."
    yield "\n### The commands\n"
    yield f"| | {' | '.join(f'`{name}`' for name in names)} |\n|---|{'---:|' * len(names)}"
    yield line("in all, as seen from outside", [[one["wall"] for one in seen] for seen in each])
    yield line("agents", [[one["totals"]["agent"] for one in seen] for seen in each])
    yield line("the project's own commands", [[one["totals"]["project"] for one in seen] for seen in each])
    yield line("agentd itself", [[one["totals"]["agentd"] for one in seen] for seen in each])
    for part in START:
        yield line(f"– {part}", [[of_part(one["parts"], part) for one in seen] for seen in each])
    yield line("– after the last save", [[max(0.0, one["wall"] - one["seconds"]) for one in seen] for seen in each])
    yield "\n### One agent step\n"
    called = [[agent_steps([one]) for one in seen] for seen in each[:2]]
    yield f"| part | {' | '.join(f'`{name}`' for name in names[:2])} |\n|---|---:|---:|"
    for part in CALL:
        yield line(part, [[of_part(step["parts"], part) for steps in seen for step in steps] for seen in called])
        if part == "agent":
            for name in SEEN:
                yield line(f"– until: {name}", [inner(seen, name) for seen in called])
            yield line("– a tool call", [inner(seen) for seen in called])
    for name, seen in zip(names, each, strict=True):
        yield f"\n### `{name}`\n\n```text"
        yield from waterfall(seen)
        yield "```"


def waterfall(seen: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A command by its steps, each where it is in the median of the rounds."""
    whole = statistics.median(one["seconds"] for one in seen)
    start = statistics.median(sum(part["seconds"] for part in one["parts"]) for one in seen)
    yield row("start", 0.0, start, whole, 0).rstrip()
    for same in zip(*(visits(one["steps"], 0) for one in seen), strict=True):
        title, depth, _ = same[0]
        begun, took = (statistics.median(each[key] for _, _, each in same) for key in ("start", "seconds"))
        yield row(title, begun, begun + took, whole, depth).rstrip()


def of_part(parts: Sequence[dict[str, Any]], name: str) -> float:
    return float(sum(part["seconds"] for part in parts if part["part"] == name))


def inner(rounds: Sequence[Sequence[dict[str, Any]]], name: str = "") -> list[float]:
    """What was seen inside of the agents' time under a name; without one, the calls of tools."""
    agents = [part for steps in rounds for step in steps for part in step["parts"] if part["part"] == "agent"]
    found = [one for part in agents for one in part.get("inner", ())]
    return [one["seconds"] for one in found if one["name"] == name or (not name and one["name"] not in SEEN)]


def line(title: str, values: Sequence[Sequence[float]]) -> str:
    return f"| {title} | {' | '.join(length(statistics.median(each)) if each else '' for each in values)} |"


def ratio(seen: Sequence[dict[str, Any]]) -> float:
    """agentd's own time of an agent step of a command as a ratio to the least, by the median of the rounds."""
    owns = (statistics.median(map(own_seconds, agent_steps([one]))) for one in seen)
    return statistics.median(own / float(one["least"]) for own, one in zip(owns, seen, strict=True))


def verdict(name: str, found: float) -> str:
    least = "that of a bare interpreter and two raw saves"
    return f"- agentd's own time of an agent step of `{name}` is {found:.2f} times {least} (at most {LIMIT})."


def write(lines: Sequence[str]) -> None:
    """Put the lines between the markers of the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(MARKS[0])
    _, found, after = rest.partition(MARKS[1])
    if not found:
        sys.exit(f"{PAGE.name} has not both markers.")
    made = "\n".join((MARKS[0], "", *lines, "", MARKS[1]))
    PAGE.write_text(f"{before}{made}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
