"""Tests printed as a tree: a mark before each, and the titles of its suites above it, by indentation. Pure."""

from agentd.model.evidence import CaseStatus

# Any other mark is a test that was not run.
MARKS: dict[str, CaseStatus] = {"✔": "passed", "✓": "passed", "✖": "failed", "✕": "failed", "×": "failed"}


class Titles:
    """The titles above the current line."""

    def __init__(self) -> None:
        self._titles: dict[int, str] = {}

    def enter(self, depth: int, title: str) -> None:
        """A suite begins; those as deep or deeper have ended."""
        self._titles = {each: name for each, name in self._titles.items() if each < depth} | {depth: title}

    def at(self, depth: int) -> str | None:
        """The title of the suite at a depth."""
        return self._titles.get(depth)

    def name(self, depth: int, name: str) -> str:
        """The name of a test with the titles above it."""
        return " > ".join([*(title for each, title in sorted(self._titles.items()) if each < depth), name])


def indent(line: str) -> int:
    """How far a line is indented."""
    return len(line) - len(line.lstrip())
