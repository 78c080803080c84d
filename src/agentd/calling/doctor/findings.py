"""What the doctor reports about one thing, and how long it waits for a program."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from agentd.runs.project import Project
from agentd.values import dataclass

Level = Literal["ok", "warning", "problem"]


@dataclass(frozen=True)
class Found:
    """One thing that was checked. It is a problem only if it keeps a role from being played."""

    group: str
    name: str
    level: Level
    text: str
    fix: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def to_data(self) -> dict[str, Any]:
        told = {"group": self.group, "name": self.name, "level": self.level, "message": self.text, "fix": self.fix}
        return told | dict(self.facts)


def time_limit(project: Project, most: float) -> float:
    """The seconds to wait for a program with little to do: at most as many, and never more than for a call."""
    return min(most, float(project.config.get("calls", "timeout_secs")))
