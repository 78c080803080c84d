"""The places in the project's own files that stack traces name. Pure."""

import re
from collections.abc import Sequence
from dataclasses import replace

from agentd.evidence.outputs.terminal_text import number
from agentd.model.evidence import Case
from agentd.patterns import regex
from agentd.values import dataclass

_FOREIGN = regex(
    r"(?:^|[\\/])(?:site-packages|dist-packages|node_modules|\.venv|venv|rustc|lib[\\/]python3?[\d.]*|\.cargo)[\\/]"
)
_FRAME = regex(r'^\s*File "([^"]+)", line (\d+)')
_AT = regex(r"^\s*(?:at |❯ |async )?(?:.*?\()?(?:file://)?((?:[A-Za-z]:)?[^\s():]+):(\d+):\d+\)?\s*$")


@dataclass(frozen=True)
class Place:
    """A file and a line; false if the output names none."""

    file: str = ""
    line: int = 0

    def __bool__(self) -> bool:
        return bool(self.file)


NOWHERE = Place()


def is_own(file: str, root: str) -> bool:
    """Whether a file that a stack trace names belongs to the project."""
    if file.startswith(("node:", "<")) or _FOREIGN.search(file.removeprefix(root)):
        return False
    return file.startswith(root) if root and file.startswith("/") else True


def own_places(lines: Sequence[str], root: str, pattern: re.Pattern[str]) -> list[Place]:
    """The places that lines name with a file and a line number, if they are the project's own."""
    matches = (match for line in lines if (match := pattern.match(line)))
    return [Place(match[1], number(match[2])) for match in matches if is_own(match[1], root)]


def python_place(lines: Sequence[str], root: str) -> Place:
    """The last own frame of a Python traceback."""
    return [NOWHERE, *own_places(lines, root, _FRAME)][-1]


def script_place(lines: Sequence[str], root: str) -> Place:
    """The first own frame of a JavaScript stack."""
    return [*own_places(lines, root, _AT), NOWHERE][0]


def placed(case: Case, place: Place) -> Case:
    """A failed case with its place; any other as it is."""
    return replace(case, file=place.file, line=place.line) if case.status == "failed" else case
