"""The demonstration of the team workflow: scripted roles, a person at the gates, two tasks side by side, evidence at the end."""

import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agentd import process
from agentd.demo import make_repository, tests
from agentd.demo.terminal import Terminal
from agentd.families.team.session_documents import tasks
from agentd.landing import delivery
from agentd.runs import commands
from agentd.runs.report import Report
from agentd.values import dataclass

NAME = "session"
SIDE_BY_SIDE = "\n[runs]\nwait_when_busy = false\n"
GOALS = {
    False: "Give the n most frequent words of a text, also of a text in a file",
    True: "Give the longest word of a text",
}
# What the person says, by the step that asks. Words of their own are shown back before they count.
ANSWERS: Mapping[str, Any] = {
    "approve_design": ["I have concerns: the spec does not say in which order ties come", "approved"],
    "confirm_design": ["spec"],
    "choose_strategy": ["per-batch"],
    "which_risks": ["fix_now"],
}


@dataclass(frozen=True)
class Shown:
    """The result of the demonstration."""

    folder: Path
    lean: bool
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


def demonstrate(keep: Path | None, say: Callable[[str], None], lean: bool) -> Shown:
    """Make the repository, take one session through it, deliver what landed, and run the tests from outside."""
    terminal = Terminal(make_repository(keep, "team-lean" if lean else "team", SIDE_BY_SIDE), say, answers=ANSWERS)
    say(f"A small git repository: {terminal.folder}\n")
    mode = "lean" if lean else ""
    words = f"run team {shlex.quote(GOALS[lean])}{' --lean' if lean else ''} --session {NAME}"
    report = terminal.run(words, lambda project: commands.run(project, "team", GOALS[lean], NAME, mode))
    terminal.type(f"agentd deliver team/{NAME}")
    project = terminal.project()
    found = delivery.prepare(project, f"team/{NAME}")
    into = delivery.merge(project, found)
    terminal.tell(f"✓ {into} is at {found.tip[:12]}, the tip of {found.branch.name}\n")
    done = process.run(tests(), cwd=terminal.folder, timeout=60)
    folder = terminal.folder / ".agents-work" / NAME
    listed = tasks((folder / "tasks.yaml").read_text(encoding="utf-8"))
    kept = {
        "the_session_is_done": report.phase == "DONE",
        "every_task_is_completed": all(one.status == "completed" for one in listed),
        "its_tests_are_green": done.ended == "exit" and done.code == 0,
        "no_workspace_is_left": not (terminal.folder.parent / f"{terminal.folder.name}-agentd" / "tasks").exists(),
    }
    return Shown(terminal.folder, lean, report, done.errors[-1] if done.errors else "", kept)


def lines(shown: Shown) -> list[str]:
    """What a person is told at the end."""
    me = Path(sys.argv[0]).name if Path(sys.argv[0]).suffix != ".py" else "agentd"
    wrong = [f"It did not go as it should: {', '.join(shown.failed)}"] if shown.failed else []
    return [
        f"The sample's own tests: {shown.tests}",
        *wrong,
        "",
        f"What happened is in {shown.folder}:",
        f"  .agents-work/{NAME}/   spec, criteria,{'' if shown.lean else ' design,'} tasks, report, status.json",
        "  agentd/demo.yaml       what the scripted roles were told to do",
        "",
        "Try next:",
        f"  cd {shown.folder}",
        "  git log --stat",
        f"  {me} log team/{NAME}",
        f"  {me} cost team/{NAME} --by step",
        f"  {me} workflow show team --diagram",
    ]
