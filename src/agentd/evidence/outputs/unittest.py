"""Reads what unittest prints, with its option -v and without. Pure."""

import re
from collections.abc import Sequence

from agentd.evidence.outputs.stack_traces import python_place
from agentd.evidence.outputs.summary import Summary, summarized, tally_of
from agentd.evidence.outputs.terminal_text import number, section
from agentd.model.evidence import Case, CaseStatus, Counts
from agentd.patterns import regex

_RAN = regex(r"^Ran (\d+) tests? in [\d.]+s$")
_ENDED = regex(r"^(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$")
_RESULT = r"(?P<word>ok|FAIL|ERROR|skipped\b.*|expected failure|unexpected success)"
_VERBOSE = regex(rf"^(?P<name>\S+) \((?P<id>[^\s()]+)\)(?P<sub> [(\[].*[)\]])? \.\.\. {_RESULT}$")
_OPENED = regex(r"^(?P<name>\S+) \((?P<id>[^\s()]+)\)(?: \.\.\..*)?$")
_CLOSED = regex(rf"^(?:.*\.\.\. )?{_RESULT}$")
_BLOCK = regex(r"^(?:FAIL|ERROR): (?P<name>\S+) \((?P<id>[^\s()]+)\)")
_DOUBLE = regex(r"^={20,}$")


def read(lines: Sequence[str], root: str) -> Summary | None:
    """The last lines of each run, the verbose lines, and the blocks of failures. Subtests count as their test."""
    counts: list[Counts] = []
    cases: dict[str, Case] = {}
    start, seen = 0, False
    for at, line in enumerate(lines):
        if "Start directory is not importable" in line:
            seen = True
        if not (ran := _RAN.match(line)):
            continue
        block = _cases(lines[start:at], root)
        ending = next((end for each in lines[at + 1 : at + 5] if (end := _ENDED.match(each))), None)
        counts.append(_counts(number(ran[1]), ending[1] if ending else "", block))
        cases |= block
        start = at + 1
    if not counts:
        return Summary(nothing=True) if seen else None
    return summarized(counts, cases.values())


def _counts(ran: int, ending: str | None, cases: dict[str, Case]) -> Counts:
    parts = dict[str, int]()
    for part in (ending or "").split(", "):
        word, _, count = part.partition("=")
        parts[word] = number(count)
    skipped = parts.get("skipped", 0) + parts.get("expected failures", 0)
    said = parts.get("failures", 0) + parts.get("errors", 0)
    named = sum(case.status == "failed" for case in cases.values())
    failed = (named if said and named else said) + parts.get("unexpected successes", 0)
    return tally_of(ran, failed, skipped)


def _cases(lines: Sequence[str], root: str) -> dict[str, Case]:
    cases: dict[str, Case] = {}
    pending = ""
    for at, line in enumerate(lines):
        if block := _BLOCK.match(line):
            name = _dotted(block)
            place = python_place(section(lines, at + 1, _DOUBLE), root)
            if cases.get(name, Case("", "passed")).line == 0:
                cases[name] = Case(name, "failed", place.file, place.line)
        elif verbose := _VERBOSE.match(line.strip()):
            name = _dotted(verbose)
            cases.setdefault(name, Case(name, _status(verbose["word"])))
            pending = ""
        elif opened := _OPENED.match(line):
            pending = _dotted(opened)
        elif pending and (closed := _CLOSED.match(line)):
            cases.setdefault(pending, Case(pending, _status(closed["word"])))
            pending = ""
    return cases


def _status(word: str) -> CaseStatus:
    if word in ("FAIL", "ERROR", "unexpected success"):
        return "failed"
    return "passed" if word == "ok" else "skipped"


def _dotted(match: "re.Match[str]") -> str:
    """The dotted name of a test; before Python 3.11 it is printed without its last part."""
    name, where = match["name"], match["id"]
    return where if where == name or where.endswith(f".{name}") else f"{where}.{name}"
