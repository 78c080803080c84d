"""Reads what Maven's Surefire and Gradle print. Pure."""

import re
from collections.abc import Sequence

from agentd.evidence.outputs.stack_traces import NOWHERE, Place
from agentd.evidence.outputs.summary import Summary, summarized, tally_of
from agentd.evidence.outputs.terminal_text import number
from agentd.model.evidence import Case, CaseStatus
from agentd.patterns import regex

_LEVEL = regex(r"^\[(?:INFO|WARNING|ERROR)\] ?")
_TOTAL = regex(r"^Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)$")
_PLUGIN = regex(r"^--- (?:maven-)?surefire(?:-plugin)?:\S+:test \(")
_BROKEN = regex(r"^(?P<test>\S+?)(?:\((?P<class>[\w.$]+)\))?\s+(?:--\s+)?Time elapsed: .* <<< (?:FAILURE|ERROR)!$")
_STACK = regex(r"^\s+at (?P<class>[\w.$]+)\.[\w$<>]+\((?P<file>\w+\.\w+):(?P<line>\d+)\)$")


def surefire(lines: Sequence[str]) -> Summary | None:
    """The total of each module; the lines of single classes are left out."""
    told = [_LEVEL.sub("", line) for line in lines]
    counts = []
    for line in told:
        if match := _TOTAL.match(line):
            run, failures, errors, skipped = (number(match[n]) for n in range(1, 5))
            counts.append(tally_of(run, failures + errors, skipped))
    if not counts:
        # It prints nothing about test classes without tests.
        ran = "BUILD SUCCESS" in told and any(_PLUGIN.match(line) for line in told)
        return Summary(nothing=True) if ran or "No tests to run." in told else None
    return summarized(counts, _surefire_cases(told))


def _surefire_cases(lines: Sequence[str]) -> tuple[Case, ...]:
    cases: dict[str, Case] = {}
    for at, line in enumerate(lines):
        if not (match := _BROKEN.match(line)):
            continue
        name = f"{match['class']}.{match['test']}" if match["class"] else match["test"]
        place = _stack_place(lines[at + 1 : at + 60], name.rpartition(".")[0])
        cases[name] = Case(name, "failed", place.file, place.line)
    return tuple(cases.values())


def _stack_place(lines: Sequence[str], owner: str) -> Place:
    """The last frame in the test's own class, up to the next blank line."""
    found = NOWHERE
    for line in lines:
        if not line.strip():
            break
        match = _STACK.match(line)
        if match and match["class"].partition("$")[0] == owner:
            found = Place(match["file"], number(match["line"]))
    return found


_COMPLETED = regex(r"^(\d+) tests? completed(?:, (\d+) failed)?(?:, (\d+) skipped)?$")
_EVENT = regex(r"^(?P<name>[^\s>].*? > .*) (?P<word>PASSED|FAILED|SKIPPED)$")
_WHERE = regex(r"^    \S.* at (\w+\.\w+):(\d+)$")
_STATUS: dict[str, CaseStatus] = {"PASSED": "passed", "FAILED": "failed", "SKIPPED": "skipped"}


def gradle(lines: Sequence[str]) -> Summary | None:
    """Gradle's count, which it prints only if a test failed, or the events that its log shows."""
    counts, cases = [], list[Case]()
    for at, line in enumerate(lines):
        if match := _COMPLETED.match(line):
            counts.append(tally_of(*(number(match[n]) for n in range(1, 4))))
        elif match := _EVENT.match(line):
            where = next((found for each in lines[at + 1 : at + 3] if (found := _WHERE.match(each))), None)
            status = _STATUS[match["word"]]
            place = Place(where[1], number(where[2])) if where and status == "failed" else NOWHERE
            cases.append(Case(match["name"], status, place.file, place.line))
    if not counts and not cases:
        none = any(re.match(r"^> Task \S*:test NO-SOURCE$", line) for line in lines)
        return Summary(nothing=True) if none else None
    return summarized(counts, cases)
