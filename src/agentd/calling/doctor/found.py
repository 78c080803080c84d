"""What the doctor says about one thing, and how long it waits for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agentd.runs.project import Project

Level = Literal["ok", "warning", "problem"]


@dataclass(frozen=True)
class Found:
    """One thing that was looked at. A problem is what keeps a role from being played, and nothing else is one."""

    group: str
    name: str
    level: Level
    text: str
    fix: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def to_data(self) -> dict[str, Any]:
        told = {"group": self.group, "name": self.name, "level": self.level, "message": self.text, "fix": self.fix}
        return told | dict(self.facts)


def patience(project: Project, most: float) -> float:
    """How many seconds to wait for a program that has little to do: never longer than for one that has much."""
    return min(most, float(project.config.get("calls", "timeout_secs")))
