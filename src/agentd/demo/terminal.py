"""The terminal of the demonstration: every command as a person would type it, done in this process and told line by line."""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from agentd.app import open_project
from agentd.errors import AgentdError
from agentd.model.decision import Answer, Decision
from agentd.runs import answer_file
from agentd.runs.project import Project
from agentd.runs.report import Report
from agentd.values import dataclass

# What the person of the demonstration answers, by the step that asks.
ANSWERS = {
    "clarification": ["By the alphabet", "Yes, as a parameter", "Yes, as a function"],
    "git_setup": ["branch"],
    "steer": ["fix"],
}


@dataclass(frozen=True)
class Terminal:
    """A folder that a person works in, and where it is shown what they do and answer; `script` is played in place of the
    project's."""

    folder: Path
    say: Callable[[str], None]
    script: str = ""
    answers: Mapping[str, Any] = field(default_factory=lambda: ANSWERS)

    def type(self, words: str) -> None:
        self.say(f"$ {words}")

    def tell(self, text: str) -> None:
        self.say(f"  {text}".rstrip(" "))

    def run(self, words: str, does: Callable[[Project], Report], brief: bool = False) -> Report:
        """One command; `brief` shows only what it came to. One that did not go well ends the demonstration."""
        self.type(f"agentd {words}")
        report = does(self.project(brief))
        self.tell(f"→ phase {report.phase}" + (f", {report.cost}" if report.cost else "") + "\n")
        if report.exit_code:
            raise AgentdError(f"The demonstration stopped in phase {report.phase}: {report.note}", report.next)
        return report

    def project(self, brief: bool = False) -> Project:
        """The project, with a person there who answers every question as `answers` has it."""
        told = answer_file.from_data(self.answers, "you")

        def ask(decision: Decision) -> Answer | None:
            answer = told(decision)
            header = f"[{decision.header}] " if decision.header else ""
            between = "\n" if "\n" in decision.question else " "
            asked = f"? {header}{decision.question}{between}→ {answer.value if answer else ''}"
            self.tell(asked.replace("\n", "\n    "))
            return answer

        say = (lambda _: None) if brief else self.tell
        project = open_project(self.folder, ask=ask, say=say, attended=True)
        if not self.script:
            return project
        return replace(project, config=project.config.with_settings("scripted", script=self.script))
