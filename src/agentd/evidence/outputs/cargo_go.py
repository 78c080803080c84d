"""Reads what cargo test and go test print. Pure."""

from collections.abc import Sequence

from agentd.evidence.outputs.stack_traces import NOWHERE, Place, placed
from agentd.evidence.outputs.summary import Summary, summarized, tally
from agentd.evidence.outputs.terminal_text import number
from agentd.model.evidence import Case, CaseStatus
from agentd.patterns import regex

_RESULT = regex(r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;")
_TEST = regex(r"^test (?P<name>.+?)(?: - should panic)? \.\.\. (?P<word>ok|FAILED|ignored)(?:, .*)?$")
_PANIC = regex(r"^thread '(?P<name>.+?)'.*? panicked at (?:.*', )?(?P<file>[^\s:']+):(?P<line>\d+):\d+:?$")
# Before Rust 1.73 the place came after the message, which may have several lines.
_THREAD = regex(r"^thread '(.+?)' panicked at '")
_AFTER = regex(r"', ([^\s:']+):(\d+):\d+$")
_CARGO: dict[str, CaseStatus] = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}


def cargo(lines: Sequence[str]) -> Summary | None:
    """`cargo test`: the results of all its binaries, added up."""
    counts, cases = [], list[Case]()
    panics: dict[str, Place] = {}
    thread = ""
    for line in lines:
        if match := _RESULT.match(line):
            counts.append(tally(number(match[1]), number(match[2]), number(match[3])))
        elif match := _TEST.match(line):
            cases.append(Case(match["name"], _CARGO[match["word"]]))
        elif match := _PANIC.match(line):
            panics.setdefault(match["name"], Place(match["file"], number(match["line"])))
        elif match := _THREAD.match(line):
            thread = match[1]
        elif thread and (match := _AFTER.search(line)):
            panics.setdefault(thread, Place(match[1], number(match[2])))
            thread = ""
    if not counts:
        return None
    return summarized(counts, (placed(case, panics.get(case.name, NOWHERE)) for case in cases))


_ENDED = regex(r"^(?P<word>ok  |FAIL|\?   )\t(?P<package>\S+)(?P<rest>.*)$")
_CASE = regex(r"^ *--- (PASS|FAIL|SKIP): (\S+) \([\d.]+s\)$")
_RUN = regex(r"^=== (?:RUN|NAME|CONT) +(\S+)$")
_LINE = regex(r"^ +([^\s:]+\.go):(\d+): ")
_GO: dict[str, CaseStatus] = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}


def go(lines: Sequence[str]) -> Summary | None:
    """`go test`, with or without -v: a package that names none of its tests counts as one."""
    cases, seen = list[Case](), False
    start = 0
    for at, line in enumerate(lines):
        if match := _ENDED.match(line):
            seen = True
            cases += _package(lines[start:at], match["word"].strip(), match["package"], match["rest"])
            start = at + 1
    return summarized((), cases) if seen else None


def _package(lines: Sequence[str], word: str, package: str, rest: str) -> list[Case]:
    found: list[tuple[str, CaseStatus]] = []
    places: dict[str, Place] = {}
    current = ""
    for line in lines:
        if match := _RUN.match(line):
            current = match[1]
        elif match := _CASE.match(line):
            current = match[2]
            found.append((current, _GO[match[1]]))
        elif (match := _LINE.match(line)) and current:
            places.setdefault(current, Place(match[1], number(match[2])))
    cases = [placed(Case(f"{package}.{name}", status), places.get(name, NOWHERE)) for name, status in found]
    if word == "FAIL" and not any(case.status == "failed" for case in cases):
        cases.append(Case(package, "failed"))
    elif word == "ok" and not cases and "[no tests to run]" not in rest:
        cases.append(Case(package, "passed"))
    return cases
