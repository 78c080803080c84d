"""Reads what Maven's Surefire and Gradle print. Pure."""

import re
from collections.abc import Sequence

from agentd.evidence.outputs.lines import NOWHERE, Place, number
from agentd.evidence.outputs.summary import Summary, counted, summed, tally
from agentd.model.evidence import Case, CaseStatus

_LEVEL = re.compile(r"^\[(?:INFO|WARNING|ERROR)\] ?")
_TOTAL = re.compile(r"^Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)$")
_PLUGIN = re.compile(r"^--- (?:maven-)?surefire(?:-plugin)?:\S+:test \(")
_BROKEN = re.compile(r"^(?P<test>\S+?)(?:\((?P<class>[\w.$]+)\))?\s+(?:--\s+)?Time elapsed: .* <<< (?:FAILURE|ERROR)!$")
_STACK = re.compile(r"^\s+at (?P<class>[\w.$]+)\.[\w$<>]+\((?P<file>\w+\.\w+):(?P<line>\d+)\)$")


def surefire(lines: Sequence[str]) -> Summary | None:
    """The total of each module; the classes' own lines say when they ended and are left out."""
    told = [_LEVEL.sub("", line) for line in lines]
    counts = []
    for line in told:
        if match := _TOTAL.match(line):
            run, failures, errors, skipped = (number(match[n]) for n in range(1, 5))
            failed = failures + errors
            counts.append(tally(max(0, run - failed - skipped), failed, skipped, run))
    if not counts:
        # It says nothing at all about test classes that hold no test.
        ran = "BUILD SUCCESS" in told and any(_PLUGIN.match(line) for line in told)
        return Summary(nothing=True) if ran or "No tests to run." in told else None
    total = summed(counts)
    return Summary(total, _surefire_cases(told), nothing=total.total == 0)


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
    """The last frame in the test's own class, before the output goes on with something else."""
    found = NOWHERE
    for line in lines:
        if not line.strip():
            break
        match = _STACK.match(line)
        if match and match["class"].partition("$")[0] == owner:
            found = Place(match["file"], number(match["line"]))
    return found


_COMPLETED = re.compile(r"^(\d+) tests? completed(?:, (\d+) failed)?(?:, (\d+) skipped)?$")
_EVENT = re.compile(r"^(?P<name>[^\s>].*? > .*) (?P<word>PASSED|FAILED|SKIPPED)$")
_WHERE = re.compile(r"^    \S.* at (\w+\.\w+):(\d+)$")
_STATUS: dict[str, CaseStatus] = {"PASSED": "passed", "FAILED": "failed", "SKIPPED": "skipped"}


def gradle(lines: Sequence[str]) -> Summary | None:
    """Gradle's count, printed only where a test failed, or the events that its log was told to show."""
    counts, cases = [], list[Case]()
    for at, line in enumerate(lines):
        if match := _COMPLETED.match(line):
            run, failed, skipped = (number(match[n] or "0") for n in range(1, 4))
            counts.append(tally(max(0, run - failed - skipped), failed, skipped, run))
        elif match := _EVENT.match(line):
            where = next((found for each in lines[at + 1 : at + 3] if (found := _WHERE.match(each))), None)
            status = _STATUS[match["word"]]
            place = Place(where[1], number(where[2])) if where and status == "failed" else NOWHERE
            cases.append(Case(match["name"], status, place.file, place.line))
    if not counts and not cases:
        none = any(re.match(r"^> Task \S*:test NO-SOURCE$", line) for line in lines)
        return Summary(nothing=True) if none else None
    total = summed(counts) if counts else counted(cases)
    return Summary(total, tuple(cases), nothing=total.total == 0)
