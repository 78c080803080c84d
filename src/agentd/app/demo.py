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
from agentd.app import asking, changing
from agentd.app.project import open_project
from agentd.app.report import Report
from agentd.errors import AgentdError, GateClosed, UsageError
from agentd.git.repository import begin_repository
from agentd.model.decision import Answer, Decision
from agentd.state import durable

CHANGE = "add-top-words"
IDEA = "Give the n most frequent words of a text"
# What the person of the demonstration answers, by the step that asks.
ANSWERS = {
    "clarification": ["By the alphabet", "Yes, as a parameter", "Yes, as a function"],
    "git_setup": ["branch"],
    "steer": ["fix"],
}


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
    reports = [_command(folder, say, "plan", CHANGE, IDEA)]
    _show_binding(folder, say)
    reports += [_command(folder, say, *words) for words in (("impl", CHANGE), ("archive", CHANGE))]
    done = process.run(tests(), cwd=folder, timeout=60)
    summary = done.errors[-1] if done.errors else ""
    return Shown(folder, reports[-1].phase, done.ended == "exit" and done.code == 0, summary, tuple(reports))


def _command(folder: Path, say: Callable[[str], None], *words: str) -> Report:
    """One command, with somebody there who answers every question as ANSWERS has it."""
    say(f"$ agentd {shlex.join(words)}")
    told = asking.from_data(ANSWERS, "you")

    def ask(decision: Decision) -> Answer | None:
        answer = told(decision)
        header = f"[{decision.header}] " if decision.header else ""
        say(f"  ? {header}{decision.question} → {answer.value if answer else ''}")
        return answer

    command: Callable[..., Report] = getattr(changing, words[0])
    project = open_project(folder, ask=ask, say=lambda text: say(f"  {text}"), attended=True)
    report = command(project, *words[1:])
    say(f"  → phase {report.phase}" + (f", {report.cost}" if report.cost else "") + "\n")
    if report.exit_code:
        raise AgentdError(f"The demonstration stopped in phase {report.phase}: {report.note}", report.next)
    return report


def _show_binding(folder: Path, say: Callable[[str], None]) -> None:
    """An approval is worth what was approved: a spec that changed since then keeps the gate closed."""
    spec = folder / "agentd" / "changes" / CHANGE / "specs" / "report.md"
    approved = spec.read_bytes()
    say(f"$ echo 'One more wish.' >> {spec.relative_to(folder)}   # after the approval")
    spec.write_bytes(approved + b"\nOne more wish.\n")
    try:
        _command(folder, say, "impl", CHANGE)
    except GateClosed as error:
        say(f"  Error: {error.message}\n")
    else:
        raise AgentdError("A plan that changed after its approval was implemented.")
    finally:
        spec.write_bytes(approved)


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
    return f'''[roles]
{roles}

[scripted]
script = "agentd/demo.yaml"

[[scripted.models]]
id = "small"
model = "scripted-small"
complexity = "medium"
cost_per_1m_input = 0.10
cost_per_1m_output = 0.40

[[scripted.models]]
id = "large"
model = "scripted-large"
complexity = "critical"
cost_per_1m_input = 1.25
cost_per_1m_output = 10.0

[evidence]
test = "{test}"
'''


def tests() -> tuple[str, ...]:
    """The sample's own test command, on the Python that runs agentd."""
    return (sys.executable, "-B", "-m", "unittest", "discover", "-s", "tests", "-t", ".")
