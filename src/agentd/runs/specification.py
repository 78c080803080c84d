"""What a run has specified and built: the matter that one family hands over to the library of another."""

from agentd.values import dataclass


@dataclass(frozen=True)
class Criterion:
    """Something that holds now, and how it is seen."""

    title: str
    seen: str


@dataclass(frozen=True)
class Specification:
    """What was wanted, what holds now, which files were changed, the run it comes from, and its document with the criteria."""

    goal: str
    criteria: tuple[Criterion, ...]
    files: tuple[str, ...]
    source: str
    document: str
