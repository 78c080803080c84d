"""The demonstration: a small real repository, and changes taken through it by scripted agents from idea to archive."""

import shlex
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from agentd import process
from agentd.demo.disputing import Dispute, dispute
from agentd.demo.terminal import Terminal
from agentd.errors import AgentdError, GateClosed, UsageError
from agentd.families.change.archive.commands import archive
from agentd.families.change.archive.history import History
from agentd.families.change.impl import impl
from agentd.families.change.plan import plan
from agentd.git.repository import begin_repository
from agentd.runs.report import Report
from agentd.state import durable
from agentd.values import dataclass

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
    dispute: Dispute

    @property
    def failed(self) -> tuple[str, ...]:
        """What was promised and is not so."""
        kept = {"the_change_is_archived": self.phase == "archived", "its_tests_are_green": self.tests_green}
        return tuple(name for name, so in {**kept, **self.dispute.kept}.items() if not so)

    def to_data(self) -> dict[str, Any]:
        return {
            "folder": str(self.folder),
            "phase": self.phase,
            "tests_green": self.tests_green,
            "tests": self.tests,
            "steps": [{"phase": report.phase, "next": report.next} for report in self.reports],
            "dispute": self.dispute.to_data(),
            "failed": list(self.failed),
        }


def demonstrate(keep: Path | None, say: Callable[[str], None], lines_of: Callable[[History], Iterable[str]]) -> Shown:
    """Make the repository, take one change through it and then two that disagree, and run its tests from outside."""
    terminal = Terminal(make_repository(keep), say)
    say(f"A small git repository: {terminal.folder}\n")
    words = f"plan {CHANGE} {shlex.quote(IDEA)}"
    planned = terminal.run(words, lambda project: plan(project, CHANGE, IDEA))
    _show_binding(terminal)
    built = terminal.run(f"impl {CHANGE}", lambda project: impl(project, CHANGE))
    archived = terminal.run(f"archive {CHANGE}", lambda project: archive(project, CHANGE))
    disputed = dispute(terminal, lines_of)
    done = process.run(tests(), cwd=terminal.folder, timeout=60)
    summary = done.errors[-1] if done.errors else ""
    green = done.ended == "exit" and done.code == 0
    return Shown(terminal.folder, archived.phase, green, summary, (planned, built, archived), disputed)


def _show_binding(terminal: Terminal) -> None:
    """An approval is worth what was approved: a spec that changed since then keeps the gate closed."""
    spec = terminal.folder / "agentd" / "changes" / CHANGE / "specs" / "report.md"
    approved = spec.read_bytes()
    terminal.type(f"echo 'One more wish.' >> {spec.relative_to(terminal.folder)}   # after the approval")
    spec.write_bytes(approved + b"\nOne more wish.\n")
    try:
        terminal.run(f"impl {CHANGE}", lambda project: impl(project, CHANGE))
    except GateClosed as error:
        terminal.tell(f"Error: {error.message}\n")
    else:
        raise AgentdError("A plan that changed after its approval was implemented.")
    finally:
        spec.write_bytes(approved)


def make_repository(
    keep: Path | None, script: str = "script", settings: str = "", more: Mapping[str, str] | None = None
) -> Path:
    """A new git repository with the sample package, more files, and a configuration in which every role plays this script."""
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise UsageError(f"{keep} is not empty.", f"agentd demo --keep {keep}-2")
    folder = (keep or Path(tempfile.mkdtemp(prefix="agentd-demo-"))).resolve()
    sample = Path(__file__).parent / "sample"
    files = yaml.safe_load((sample / "project.yaml").read_text(encoding="utf-8"))
    files["agentd/demo.yaml"] = (sample / f"{script}.yaml").read_text(encoding="utf-8")
    files |= {"agentd/config.toml": config() + settings, **(more or {})}
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
