"""The demonstration of the staged workflow: explorers and tasks side by side, a plan that is corrected, a stage done again."""

import json
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agentd import process
from agentd.demo import make_repository, tests
from agentd.demo.terminal import Terminal
from agentd.landing import delivery
from agentd.runs import commands
from agentd.runs.report import Report
from agentd.values import dataclass

NAME = "tmp"
TASK = "Give the most frequent words, the longest word and the average length of the words of a text"
# What only the TEST stage runs: a promise of the whole package, which no task sees.
PROMISES = '''"""What holds for every function of the package."""

import importlib
import pkgutil
import unittest

import tally


class Promises(unittest.TestCase):
    def test_every_function_takes_an_empty_text(self) -> None:
        for found in pkgutil.iter_modules(tally.__path__):
            module = importlib.import_module(f"tally.{found.name}")
            for name in getattr(module, "__all__", ()):
                getattr(module, name)("")
'''


@dataclass(frozen=True)
class Shown:
    """The result of the demonstration."""

    folder: Path
    report: Report
    tests: str
    kept: Mapping[str, bool]

    @property
    def failed(self) -> tuple[str, ...]:
        """What was promised and is not so."""
        return tuple(name for name, so in self.kept.items() if not so)

    def to_data(self) -> dict[str, Any]:
        return {
            "folder": str(self.folder),
            "phase": self.report.phase,
            "tests": self.tests,
            "kept": dict(self.kept),
            "failed": list(self.failed),
        }


def demonstrate(keep: Path | None, say: Callable[[str], None], more: str = "") -> Shown:
    """Make the repository, take one task through all stages, deliver what landed, and run the tests from outside.

    `more` are other settings of the workflow.
    """
    checks = shlex.join("checks" if word == "tests" else word for word in tests())
    settings = (
        f'at_once = 3\n\n[runs]\nwait_when_busy = false\n\n[staged]\ntest = "{checks}"\n{more}'  # below [evidence]
    )
    promises = {"checks/__init__.py": "", "checks/test_promises.py": PROMISES}
    terminal = Terminal(make_repository(keep, "staged", settings, promises), say)
    say(f"A small git repository: {terminal.folder}\n")
    words = f"run staged {shlex.quote(TASK)}"
    report = terminal.run(words, lambda project: commands.run(project, "staged", TASK, NAME))
    terminal.type(f"agentd deliver staged/{NAME}")
    project = terminal.project()
    found = delivery.prepare(project, f"staged/{NAME}")
    into = delivery.merge(project, found)
    terminal.tell(f"✓ {into} is at {found.tip[:12]}, the tip of {found.branch.name}\n")
    done = process.run(tests(), cwd=terminal.folder, timeout=60)
    state = json.loads((terminal.folder / ".agents" / NAME / "state.json").read_text(encoding="utf-8"))
    stages = state["stages"]
    kept = {
        "the_run_is_completed": state["status"] == "completed",
        "implement_was_restarted_once": stages["IMPLEMENT"]["restartCount"] == 1,
        "its_tests_are_green": done.ended == "exit" and done.code == 0,
        "no_workspace_is_left": not (terminal.folder.parent / f"{terminal.folder.name}-agentd" / "tasks").exists(),
    }
    return Shown(terminal.folder, report, done.errors[-1] if done.errors else "", kept)


def lines(shown: Shown) -> list[str]:
    """What a person is told at the end."""
    me = Path(sys.argv[0]).name if Path(sys.argv[0]).suffix != ".py" else "agentd"
    wrong = [f"It did not go as it should: {', '.join(shown.failed)}"] if shown.failed else []
    return [
        f"The sample's own tests: {shown.tests}",
        *wrong,
        "",
        f"What happened is in {shown.folder}:",
        f"  .agents/{NAME}/phases/   findings, brainstorm, plan, reviews, test results",
        f"  .agents/{NAME}/state.json",
        "  agentd/demo.yaml       what the scripted agents were told to do",
        "",
        "Try next:",
        f"  cd {shown.folder}",
        "  git log --stat",
        f"  {me} status staged/{NAME} --verbose",
        f"  {me} log staged/{NAME}",
        f"  {me} workflow show staged --diagram",
    ]
