"""Reads what jest, vitest and mocha print. Pure."""

from collections.abc import Mapping, Sequence

from agentd.evidence.outputs.stack_traces import NOWHERE, Place, placed, script_place
from agentd.evidence.outputs.summary import Summary, summarized, tally
from agentd.evidence.outputs.terminal_text import number, section
from agentd.evidence.outputs.title_tree import MARKS, Titles, indent
from agentd.model.evidence import Case, CaseStatus, Counts
from agentd.patterns import regex

_PART = regex(r"(\d+) (failed|passed|skipped|todo|total)")
_FILE = regex(r"^(?:PASS|FAIL) +(\S+)(?: \([\d.]+ m?s\))?$")
_JEST = regex(r"^(?P<in> +)(?P<mark>[✓✕○✎√×]) (?P<name>.*?)(?: \([\d.]+ m?s\))?$")
_BULLET = regex(r"^  ● (.+)$")


def _parts(line: str) -> dict[str, int]:
    return {word: number(count) for count, word in _PART.findall(line)}


def _tally(parts: Mapping[str, int], files: Mapping[str, int], total: int) -> Counts:
    """The counts of tests; a file that cannot run at all counts as one failed test."""
    failed = parts.get("failed", 0) or files.get("failed", 0)
    return tally(parts.get("passed", 0), failed, parts.get("skipped", 0) + parts.get("todo", 0), total)


def jest(lines: Sequence[str], root: str) -> Summary | None:
    """jest's summary and tree."""
    counts: list[Counts] = []
    suites: dict[str, int] = {}
    for line in lines:
        if line.startswith("Test Suites:") and "total" in line:
            suites = _parts(line)
        elif line.startswith("Tests:") and "total" in line:
            parts = _parts(line)
            counts.append(_tally(parts, suites, parts.get("total", 0)))
    if not counts:
        return Summary(nothing=True) if any(line.startswith("No tests found") for line in lines) else None
    return summarized(counts, _jest_cases(lines, root))


def _jest_cases(lines: Sequence[str], root: str) -> tuple[Case, ...]:
    cases: dict[str, Case] = {}
    file, titles = "", Titles()
    for at, line in enumerate(lines):
        if match := _FILE.match(line):
            file, titles = match[1], Titles()
        elif bullet := _BULLET.match(line):
            name = f"{file} > {bullet[1].replace(' › ', ' > ')}"
            place = script_place(section(lines, at + 1, _BULLET), root)
            cases[name] = placed(Case(name, "failed"), place or Place(file))
        elif (match := _JEST.match(line)) and file:
            words = match["name"].removeprefix("skipped ").removeprefix("todo ")
            name = f"{file} > {titles.name(len(match['in']), words)}"
            cases.setdefault(name, Case(name, MARKS.get(match["mark"], "skipped"), file))
        elif line.startswith("  ") and line.strip():
            titles.enter(indent(line), line.strip())
    return tuple(cases.values())


_VITEST = regex(r"^\s+Tests\s+(?:no tests|(.*?) ?\((\d+)\))$")
_FILES = regex(r"^\s+Test Files\s+(.*?) ?\(\d+\)$")
_TREE = regex(r"^\s*(?P<mark>[✓×↓]) (?P<name>\S+ > .*?)(?:\s+\d+m?s)?$")
_FAIL = regex(r"^\s*FAIL\s+(\S+)(?: > (.*?))?(?: \[ .* \])?$")


def vitest(lines: Sequence[str], root: str) -> Summary | None:
    """vitest's summary, its verbose tree and its list of failures."""
    counts: list[Counts] = []
    files: dict[str, int] = {}
    for line in lines:
        if match := _FILES.match(line):
            files = _parts(match[1])
        elif match := _VITEST.match(line):
            counts.append(_tally(_parts(match[1] or ""), files, number(match[2])))
    if not counts:
        return Summary(nothing=True) if any(line.startswith("No test files found") for line in lines) else None
    cases: dict[str, Case] = {}
    for at, line in enumerate(lines):
        if match := _FAIL.match(line):
            name = f"{match[1]} > {match[2]}" if match[2] else match[1]
            place = script_place([each for each in section(lines, at + 1, _FAIL) if "❯" in each], root)
            cases[name] = placed(Case(name, "failed"), place or Place(match[1]))
        elif match := _TREE.match(line):
            file = match["name"].partition(" > ")[0]
            status = MARKS.get(match["mark"], "skipped")
            cases.setdefault(match["name"], Case(match["name"], status, file))
    return summarized(counts, cases.values())


_ENDING = regex(r"^ +(\d+) (passing|failing|pending)(?: \(.*\))?$")
_MOCHA = regex(r"^(?P<in> +)(?:(?P<mark>[✔✓]) |(?P<fail>\d+)\) |(?P<skip>- ))(?P<name>.*?)(?: \(\d+ms\))?$")
_NUMBERED = regex(r"^ {2}(\d+)\) ")


def mocha(lines: Sequence[str], root: str) -> Summary | None:
    """mocha's tree and its count of what passes, is pending and fails."""
    ends = [n for n, line in enumerate(lines) if (match := _ENDING.match(line)) and match[2] == "passing"]
    counts, cases, start = list[Counts](), list[Case](), 0
    for end in ends:
        parts = {match[2]: number(match[1]) for line in lines[end : end + 4] if (match := _ENDING.match(line))}
        counts.append(tally(parts["passing"], parts.get("failing", 0), parts.get("pending", 0)))
        cases += _mocha_cases(lines, start, end, root)
        start = end + 1
    return summarized(counts, cases) if counts else None


def _mocha_cases(lines: Sequence[str], start: int, end: int, root: str) -> list[Case]:
    cases: list[Case] = []
    titles = Titles()
    for line in lines[start:end]:
        depth = indent(line)
        if match := _MOCHA.match(line):
            name = titles.name(depth, match["name"])
            status: CaseStatus = "passed" if match["mark"] else "failed" if match["fail"] else "skipped"
            place = _mocha_place(lines[end:], match["fail"], root) if status == "failed" else NOWHERE
            cases.append(placed(Case(name, status), place))
        elif depth and line.strip():
            titles.enter(depth, line.strip())
    return cases


def _mocha_place(lines: Sequence[str], which: str, root: str) -> Place:
    starts = [(n, match[1]) for n, line in enumerate(lines) if (match := _NUMBERED.match(line))]
    for (at, label), (following, _) in zip(starts, [*starts[1:], (len(lines), "")], strict=True):
        if label == which:
            return script_place(lines[at + 1 : following], root)
    return NOWHERE
