"""Output lines without colours, and the places in a project that they name. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from agentd.model.evidence import Case, CaseStatus

# Longer lines are data, not reports; cut, so that no pattern takes long on them.
LONGEST = 2000
HUGE_NUMBER = 9

_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
# pnpm -r: `packages/web test: …`; turbo: `web:test: …`
_PACKAGE = re.compile(r"^(?:[@\w./-]+ test|[@\w./-]+:test)(?::[\w:-]+)?: ?")
_FOREIGN = re.compile(
    r"(?:^|[\\/])(?:site-packages|dist-packages|node_modules|\.venv|venv|rustc|lib[\\/]python3?[\d.]*|\.cargo)[\\/]"
)
_FRAME = re.compile(r'^\s*File "([^"]+)", line (\d+)')
_AT = re.compile(r"^\s*(?:at |❯ |async )?(?:.*?\()?(?:file://)?((?:[A-Za-z]:)?[^\s():]+):(\d+):\d+\)?\s*$")


@dataclass(frozen=True)
class Place:
    """A file and a line; neither where the output tells none."""

    file: str = ""
    line: int = 0


NOWHERE = Place()
# What runners put in front of a test in a tree of them; any other mark is one that was not run.
MARKS: dict[str, CaseStatus] = {"✔": "passed", "✓": "passed", "✖": "failed", "✕": "failed", "×": "failed"}


def plain(line: str) -> str:
    """The line without the codes that colour it, and without what it overwrites."""
    shown = _ANSI.sub("", line) if "\x1b" in line else line
    return shown.rstrip("\r\n").rpartition("\r")[2]


def clean(lines: Iterable[str]) -> tuple[str, ...]:
    """The lines as a person sees them, each cut at a length that no report reaches."""
    return tuple(plain(line[: 4 * LONGEST])[:LONGEST].rstrip() for line in lines)


def regrouped(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines of each package together and without its name, where a workspace's runs were printed side by side."""
    groups: dict[str, list[str]] = {"": []}
    for line in lines:
        match = _PACKAGE.match(line)
        groups.setdefault(match[0] if match else "", []).append(line[match.end() :] if match else line)
    return tuple(line for group in groups.values() for line in group)


def number(text: str) -> int:
    """A number in an output; 0 where it is none that could be meant."""
    return int(text) if text.isdecimal() and len(text) <= HUGE_NUMBER else 0


def own(file: str, root: str) -> bool:
    """Whether a file that a stack trace names is the project's own."""
    if file.startswith(("node:", "<")) or _FOREIGN.search(file.removeprefix(root)):
        return False
    return file.startswith(root) if root and file.startswith("/") else True


def python_place(lines: Sequence[str], root: str) -> Place:
    """The last frame of a Python traceback that is the project's own."""
    found = NOWHERE
    for line in lines:
        match = _FRAME.match(line)
        if match and own(match[1], root):
            found = Place(match[1], number(match[2]))
    return found


def script_place(lines: Sequence[str], root: str) -> Place:
    """The first frame of a JavaScript stack that is the project's own."""
    for line in lines:
        match = _AT.match(line)
        if match and own(match[1], root):
            return Place(match[1], number(match[2]))
    return NOWHERE


def placed(case: Case, place: Place) -> Case:
    """A failed case with its place; any other as it is."""
    return replace(case, file=place.file, line=place.line) if case.status == "failed" else case
