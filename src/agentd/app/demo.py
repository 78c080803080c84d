"""The demonstration: a small real repository and a change taken through it by scripted agents, from idea to archive."""

import shlex
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from agentd import process
from agentd.app import commands
from agentd.app.project import open_project
from agentd.app.report import Report
from agentd.errors import AgentdError, UsageError
from agentd.git.repository import begin_repository
from agentd.state import durable

CHANGE = "add-top-words"
IDEA = "Give the n most frequent words of a text"


@dataclass(frozen=True)
class Shown:
    """What the demonstration came to."""

    folder: Path
    phase: str
    tests_green: bool
    tests: str
    reports: tuple[Report, ...]

    def to_data(self) -> dict[str, Any]:
        return {
            "folder": str(self.folder),
            "phase": self.phase,
            "tests_green": self.tests_green,
            "tests": self.tests,
            "steps": [{"phase": report.phase, "next": report.next} for report in self.reports],
        }


def demonstrate(keep: Path | None, say: Callable[[str], None]) -> Shown:
    """Make the repository, run plan, impl and archive in it, and run its tests once more from outside."""
    folder = make_repository(keep)
    say(f"A small git repository: {folder}\n")
    reports = []
    for words in (("plan", CHANGE, IDEA), ("impl", CHANGE), ("archive", CHANGE)):
        say(f"$ agentd {shlex.join(words)}")
        command: Callable[..., Report] = getattr(commands, words[0])
        report = command(open_project(folder, say=lambda text: say(f"  {text}")), *words[1:])
        reports.append(report)
        say(f"  → phase {report.phase}\n")
        if report.exit_code:
            raise AgentdError(f"The demonstration stopped in phase {report.phase}: {report.note}", report.next)
    done = process.run(tests(), cwd=folder, timeout=60)
    summary = done.errors[-1] if done.errors else ""
    return Shown(folder, reports[-1].phase, done.ended == "exit" and done.code == 0, summary, tuple(reports))


def make_repository(keep: Path | None) -> Path:
    """A new git repository with the sample package and a configuration in which every role is scripted."""
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise UsageError(f"{keep} is not empty.", f"agentd demo --keep {keep}-2")
    folder = (keep or Path(tempfile.mkdtemp(prefix="agentd-demo-"))).resolve()
    sample = Path(__file__).parent / "sample"
    files = yaml.safe_load((sample / "project.yaml").read_text(encoding="utf-8"))
    files["agentd/demo.yaml"] = (sample / "script.yaml").read_text(encoding="utf-8")
    files["agentd/config.toml"] = config()
    for name, text in files.items():
        durable.make_folder((folder / name).parent)
        (folder / name).write_text(text, encoding="utf-8")
    begin_repository(folder, "A package that counts words")
    return folder


def config() -> str:
    roles = "\n".join(f'{role} = "scripted"' for role in ("planner", "challenger", "implementer", "reviewer"))
    test = shlex.join(tests())
    return f'[roles]\n{roles}\n\n[scripted]\nscript = "agentd/demo.yaml"\n\n[evidence]\ntest = "{test}"\n'


def tests() -> tuple[str, ...]:
    """The sample's own test command, on the Python that runs agentd."""
    return (sys.executable, "-B", "-m", "unittest", "discover", "-s", "tests", "-t", ".")
