"""OpenSpec as the benchmarks compare with it: installed from npm at one version, and a tree of changes in its own format."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PACKAGE = "@fission-ai/openspec@1.13.2"
CACHE = Path(__file__).parent / ".cache" / PACKAGE.replace("/", "-")
WHY = "It lets a person do this without having to wait for anybody else, which people have asked for many times."


def command() -> list[str]:
    """How to call it; installed on first use."""
    program = CACHE / "node_modules" / "@fission-ai" / "openspec" / "bin" / "openspec.js"
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        sys.exit("This benchmark compares with OpenSpec and needs node and npm.")
    if not program.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        words = [npm, "install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(CACHE)]
        subprocess.run([*words, PACKAGE], check=True, stdout=subprocess.DEVNULL)
    return [node, str(program)]


def agentd() -> list[str]:
    """How people call agentd, if it is installed beside this Python."""
    script = Path(sys.executable).parent / "agentd"
    return [str(script)] if script.exists() else [sys.executable, "-m", "agentd"]


def make_tree(root: Path, specs: int, changes: int) -> None:
    """Specs of three requirements, and changes of a proposal, a spec of three requirements and three tasks."""
    for number in range(specs):
        _write(
            root / f"openspec/specs/spec-{number:04}/spec.md",
            f"# spec-{number:04}\n\n## Purpose\n{WHY}\n\n## Requirements\n{_requirements()}",
        )
    for number in range(changes):
        folder = root / f"openspec/changes/change-{number:04}"
        _write(
            folder / "proposal.md",
            f"# Change: change-{number:04}\n\n## Why\n{WHY}\n\n## What Changes\n- The first thing\n- The second thing\n\n"
            f"## Impact\n- Affected specs: spec-{number:04}\n- Affected code: src/thing.py\n",
        )
        _write(folder / f"specs/spec-{number:04}/spec.md", f"## ADDED Requirements\n{_requirements('New t')}")
        tasks = "".join(f"- [ ] 1.{task} Do thing {task} in src/thing.py\n" for task in (1, 2, 3))
        _write(folder / "tasks.md", f"## 1. Implementation\n{tasks}")


def make_finished(root: Path, changes: int) -> None:
    """Changes whose tasks are done; each rewords a requirement of one spec of the library and adds three more to it."""
    make_tree(root, 0, changes)
    for number in range(changes):
        folder = root / f"openspec/changes/change-{number:04}"
        delta = f"## MODIFIED Requirements\n{_requirements(numbers=(1,), when='at once')}\n"
        delta += f"## ADDED Requirements\n{_requirements('New t')}"
        _write(folder / f"specs/spec-{number:04}/spec.md", delta)
        tasks = (folder / "tasks.md").read_text(encoding="utf-8")
        _write(folder / "tasks.md", tasks.replace("[ ]", "[x]"))


def commit(root: Path) -> None:
    """Make the tree a git repository with everything in one commit."""
    who = ("-c", "user.name=Bench", "-c", "user.email=bench@example.invalid", "-c", "commit.gpgsign=false")
    for words in (("init", "--quiet"), ("add", "--all"), (*who, "commit", "--quiet", "--message", "All of it")):
        subprocess.run(["git", *words], cwd=root, check=True)


def _requirements(word: str = "T", numbers: Sequence[int] = (1, 2, 3), when: str = "when a person asks for it") -> str:
    return "\n".join(
        f"### Requirement: {word}hing {number}\nThe system SHALL do thing {number} {when}.\n\n"
        f"#### Scenario: It is asked for {number}\n- **WHEN** a person asks for thing {number}\n"
        f"- **THEN** thing {number} is done\n"
        for number in numbers
    )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def in_turns(cases: Mapping[str, tuple[Sequence[str], Path]], rounds: int) -> dict[str, float]:
    """The best time of each command in its folder; all are measured in turns. One that fails ends the benchmark."""

    def always(words: Sequence[str]) -> Callable[[int], Sequence[str]]:
        return lambda _: words

    return each_in_turns({name: (always(words), folder) for name, (words, folder) in cases.items()}, rounds)


def each_in_turns(cases: Mapping[str, tuple[Callable[[int], Sequence[str]], Path]], rounds: int) -> dict[str, float]:
    """The same for commands that differ from round to round."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    unwanted = ("AGENTD_", "PYTHONDONTWRITEBYTECODE")
    env = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    env |= {"OPENSPEC_TELEMETRY": "0", "DO_NOT_TRACK": "1", "CI": "1"}
    for turn in range(rounds):
        for name, (words, folder) in cases.items():
            argv = [*words(turn)]
            begun = time.perf_counter()
            done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, check=False)
            times[name].append(time.perf_counter() - begun)
            if done.returncode:
                sys.exit(
                    f"{name}: exit {done.returncode}\n{done.stdout[-2000:].decode()}{done.stderr[-2000:].decode()}"
                )
    return {name: min(seen) for name, seen in times.items()}


def tell(best: Mapping[str, float], against: str, limit: float) -> int:
    """Print every time as a ratio to one; 1 if one is over the limit."""
    worst = 0.0
    for name, seconds in best.items():
        ratio = seconds / best[against]
        worst = max(worst, ratio if name != against else 0.0)
        print(f"{name:<44} {seconds * 1000:7.0f} ms, {ratio:5.3f} times {against}")
    print(f"at most {limit} is allowed")
    return 0 if worst <= limit else 1
