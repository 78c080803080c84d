"""A command of the project that agentd runs to see how the work stands."""

from dataclasses import field
from typing import Literal

from agentd.values import dataclass

Kind = Literal["test", "lint", "types", "audit"]
KINDS: tuple[Kind, ...] = ("test", "lint", "types", "audit")


@dataclass(frozen=True)
class Command:
    """A command of the project, to be run in a folder below the place of work; `source` is the file that declares it."""

    kind: Kind
    run: str
    folder: str = ""
    source: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """The command as a person would type it."""
        return f"cd {self.folder} && {self.run}" if self.folder else self.run
