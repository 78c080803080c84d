"""Reads the diagnostics of linters, type checkers and compilers, and of programs that could not be started. Pure."""

from collections.abc import Sequence

from agentd.evidence.outputs.summary import Summary, counted
from agentd.evidence.outputs.terminal_text import number
from agentd.model.evidence import Case
from agentd.patterns import regex

_COLONS = regex(r"^(?P<file>(?:[A-Za-z]:)?[^\s:(\[][^:(]*?):(?P<line>\d+)(?::\d+)?:\s+(?P<said>\S.*)$")
_DASH = regex(r"^\s*(?P<file>[^\s:(][^:(]*?):(?P<line>\d+):\d+ - (?P<said>(?:error|warning).*)$")
_BRACKETS = regex(r"^(?P<file>[^\s(][^(]*?)\((?P<line>\d+)(?:,\d+)?\): (?P<said>(?:error|warning).*)$")
_ARROW = regex(r"^\s*--> (?P<file>[^:]+):(?P<line>\d+):\d+$")
_STYLISH = regex(r"^\s+(?P<line>\d+):\d+\s+(?P<said>(?:error|warning)\s+\S.*)$")
_FORMAT = regex(r"^[Ww]ould reformat:? (?P<file>\S.*)$")
_PATH = regex(r"^(?:/|\.{0,2}/|[A-Za-z]:\\|[\w@.-]+/)?\S*\.\w+$")
_WARNING = regex(r"^warning\b")
_ASIDE = regex(r"^(?:note|help|info)\b")
_CLOCK = regex(r"^\d{1,2}$|^\d{4}-\d\d-")
# A program, or a module that it needs to start, is not installed.
_MISSING = regex(
    r"^(?:\S*python[\d.]*: No module named \S+"
    r"|(?:\S*/)?\w*sh: (?:line )?(?:\d+: )?\S+: (?:command )?not found"
    r"|make(?:\[\d+\])?: \S+: (?:No such file or directory|Command not found)"
    r"|npm (?:ERR!|error) (?:npx canceled due to missing packages.*|could not determine executable to run)"
    r"|error: Failed to spawn: `.*`|Command not found: \S+|error: no such command: `.*`"
    r"|error Command \".*\" not found\.|\s*ERR_PNPM_\S+\s+Command \".*\" not found.*"
    r"|go: no such tool .*|error: 'cargo-\S+' is not installed.*)$"
)

_NAMED = regex(
    r"No module named ([\w.]+)|Failed to spawn: `([^`]+)`|Command not found: (\S+)|'(cargo-[^']+)'"
    r'|Command "([^"]+)" not found|no such (?:command|tool)[: ]+["`]?([\w-]+)'
    r"|(?:^|: )([^\s:]+): (?:command not found|not found|No such file or directory|Command not found)$"
)


def read(lines: Sequence[str]) -> Summary:
    """Each problem as a failed case, each warning as a skipped one."""
    cases: list[Case] = []
    file = heading = ""
    for line in lines:
        if match := _ARROW.match(line):
            if heading and not _ASIDE.match(heading):
                cases.append(_problem(match["file"], match["line"], heading))
            heading = ""
        elif match := _BRACKETS.match(line) or _DASH.match(line) or _COLONS.match(line):
            if not _ASIDE.match(match["said"]) and not _CLOCK.match(match["file"]):
                cases.append(_problem(match["file"], match["line"], match["said"]))
        elif (match := _STYLISH.match(line)) and file:
            cases.append(_problem(file, match["line"], " ".join(match["said"].split())))
        elif match := _FORMAT.match(line):
            cases.append(_problem(match["file"], "0", "would be reformatted"))
        elif line and not line[0].isspace():
            file = line if _PATH.match(line) else ""
            heading = line
    return Summary(counted(cases) if cases else None, tuple(cases))


def missing_program(lines: Sequence[str]) -> str:
    """The line that says that a program is not installed, or nothing."""
    return next((line.strip() for line in lines if _MISSING.match(line)), "")


def named(line: str) -> str:
    """The program or module that such a line says is not installed, or nothing."""
    found = _NAMED.search(line)
    return next(filter(None, found.groups()), "") if found else ""


def _problem(file: str, line: str, said: str) -> Case:
    return Case(said, "skipped" if _WARNING.match(said) else "failed", file, number(line))
