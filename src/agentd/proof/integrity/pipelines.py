"""Scripts and CI pipelines: their steps that run tests must stay, and must fail when the tests do."""

import re
from collections.abc import Iterator

from agentd.model.evidence import Harm
from agentd.patterns import regex
from agentd.proof.integrity.rules import COMMAND, HIDDEN
from agentd.proof.integrity.shell_commands import RUNS, hides, joined, one_line

_FORGIVEN = regex(r"^\s*-?\s*(continue-on-error|allow_failure|continueOnError)\s*:\s*(true|\$\{\{.*)", re.I)
_PLUS_E = regex(r"^\s*set\s+\+(e|o\s+errexit|o\s+pipefail)")
_EXIT = regex(r"^exit\s+0\s*;?\s*$")
_OFF = regex(r"^\s*(-\s*)?if\s*:\s*(\$\{\{\s*)?false\b")
_STEP = regex(r"^\s*-\s")
_NAME = regex(r"\s*(-\s*)?(name|uses|key|path|image|id|description|with|needs)\s*:|\s*(echo|printf|#)")
_INSTALLS = regex(
    r"\b(pip|uv|npm|yarn|pnpm|cargo|go|apt|apt-get|brew|poetry|pdm|pipx)3?\s+(pip\s+)?(install|add|ci|get|sync)\b"
)
Lines = list[tuple[int, str]]


def audit_lines(file: str, old: str, new: str) -> Iterator[Harm]:
    """What became of the commands that run tests, line by line."""
    lines = list(joined(new))
    before = {_command(line) for _, line in joined(old)}
    runs, piped = RUNS.search(new), "pipefail" not in new and "shell: bash" not in new
    for number, line in lines:
        if _command(line) in before:
            continue
        what = hides(line, piped) if RUNS.search(line) else ""
        if (runs and (_PLUS_E.match(line) or _EXIT.match(line))) or (
            _FORGIVEN.match(line) and RUNS.search(_step(lines, number))
        ):
            what = what or line.strip()
        if what:
            yield Harm(HIDDEN, f"“{what}” hides it when the tests fail", file, number, line.strip())
        elif _OFF.match(line) and RUNS.search(_step(lines, number)):
            yield Harm(COMMAND, "a step that runs tests is switched off", file, number, line.strip())
    yield from _gone(file, old, lines, piped)


def _gone(file: str, old: str, lines: Lines, piped: bool) -> Iterator[Harm]:
    """Commands that ran tests and are not there any more."""
    now = {_command(line) for _, line in lines}
    whole = one_line(" ".join(now))
    before = {_command(line) for _, line in joined(old)}
    added = [(at, line) for at, line in lines if _runs_tests(line) and _command(line) not in before]
    for number, line in joined(old):
        command = _command(line)
        if not _runs_tests(line) or command in now or command.rstrip("\\").strip() in whole:
            continue
        if not added:
            yield Harm(COMMAND, f"tests are no longer run with “{command}”", file, number, line.strip())
        elif not hides(added[0][1], piped):  # else it is reported as hidden
            at, instead = added[0]
            message = f"tests were run with “{command}” and are now with “{_command(instead)}”"
            yield Harm(COMMAND, message, file, at, instead.strip())


def _runs_tests(line: str) -> bool:
    return bool(RUNS.search(line)) and not _is_name(line)


def _is_name(line: str) -> bool:
    """Whether a line of YAML names something, or installs it, and runs no tests."""
    return bool(_NAME.match(line) or _INSTALLS.search(line))


def _step(lines: Lines, number: int) -> str:
    """The step or job of a pipeline that a line belongs to: its neighbours of the same depth or deeper."""
    at = next(place for place, (each, _) in enumerate(lines) if each == number)
    texts = [line for _, line in lines]
    depth = _depth(texts[at])
    first, last = at, at + 1
    while first > 0 and not (_STEP.match(texts[first]) and _depth(texts[first]) == depth):
        if texts[first].strip() and texts[first - 1].strip() and _depth(texts[first - 1]) < depth:
            break
        first -= 1
    while last < len(texts) and (not texts[last].strip() or _depth(texts[last]) >= depth):
        if _STEP.match(texts[last]) and _depth(texts[last]) <= depth and _indent(texts[last]) < depth:
            break
        last += 1
    return "\n".join(line for line in texts[first:last] if not _is_name(line))


def _depth(line: str) -> int:
    """The indentation of a line, with the dash of a list item."""
    return len(line) - len(line.lstrip(" -"))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _command(line: str) -> str:
    """A line without the YAML around its command."""
    return one_line(re.sub(r"^\s*(-\s+)?(run\s*:\s*(?![|>]))?", "", line)).strip("'\"")
