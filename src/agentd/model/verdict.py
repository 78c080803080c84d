"""Verdicts and issues as values, and when a review contradicts itself. The families decide what a verdict comes to.

A word that is none of the known is no verdict: None, which is never an approval.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from agentd.model.change import ReviewStatus
from agentd.model.evidence import Status
from agentd.model.severity import SEVERITIES, Severity
from agentd.values import dataclass

PlanVerdict = Literal["APPROVED", "NEEDS_REVISION", "REJECTED"]
CodeVerdict = Literal["APPROVED", "NEEDS_CHANGES", "MAJOR_ISSUES"]
TestStatus = Literal["PASS", "FAIL", "PARTIAL", "UNKNOWN"]
SecurityStatus = Literal["CLEAN", "WARNINGS", "VULNERABILITIES", "NOT_RUN"]

PLAN_VERDICTS: tuple[PlanVerdict, ...] = ("APPROVED", "NEEDS_REVISION", "REJECTED")
CODE_VERDICTS: tuple[CodeVerdict, ...] = ("APPROVED", "NEEDS_CHANGES", "MAJOR_ISSUES")
TEST_STATUSES: tuple[TestStatus, ...] = ("PASS", "FAIL", "PARTIAL", "UNKNOWN")
SECURITY_STATUSES: tuple[SecurityStatus, ...] = ("CLEAN", "WARNINGS", "VULNERABILITIES", "NOT_RUN")

PLAN_WORDS: Mapping[str, PlanVerdict] = {verdict: verdict for verdict in PLAN_VERDICTS}
CODE_WORDS: Mapping[str, CodeVerdict] = {
    "NEEDS_FIX": "NEEDS_CHANGES",
    **{verdict: verdict for verdict in CODE_VERDICTS},
}
_SEVERITY_WORDS: Mapping[str, Severity] = {"MED": "Medium", **{severity.upper(): severity for severity in SEVERITIES}}
_STATUS_OF: Mapping[PlanVerdict, ReviewStatus] = {
    "APPROVED": "approved",
    "NEEDS_REVISION": "needs_revision",
    "REJECTED": "rejected",
}
_OF_STATUS: Mapping[str, PlanVerdict] = {status: verdict for verdict, status in _STATUS_OF.items()}


@dataclass(frozen=True)
class Issue:
    """One thing a reviewer found. A plan's issue names a spec, an implementation's a file.

    `ungrounded` says why the place it names does not exist; nothing, if it does or names none. `quote` is the code
    that it is about, in the words of the file.
    """

    severity: Severity
    title: str
    description: str
    suggestion: str = ""
    spec_reference: str = ""
    location: str = ""
    category: str = ""
    file_path: str = ""
    line_number: int | None = None
    line: int = field(default=0, compare=False)
    ungrounded: str = ""
    quote: str = ""


@dataclass(frozen=True)
class TestResults:
    """What the reviewer says the tests gave."""

    __test__ = False  # pytest collects what is named like this

    status: TestStatus = "UNKNOWN"
    total: int = 0
    passed: int = 0
    failed: int = 0
    skipped: int = 0


@dataclass(frozen=True)
class Challenge:
    """CHALLENGE.md."""

    change_id: str
    verdict: PlanVerdict | None
    issues: tuple[Issue, ...] = ()
    summary: str = ""
    next_steps: str = ""


@dataclass(frozen=True)
class CodeReview:
    """REVIEW.md, its issues by severity. `files` maps each file that was reviewed to its hash, `call` wrote it.

    What is behind `call` is agentd's own, never the reviewer's: the `tree` that was reviewed, what agentd saw itself
    (`evidence`), what it has to say about the review (`remarks`), what all of it came to (`decision`), and who chose that
    nobody reviews it (`unreviewed`).
    """

    change_id: str
    verdict: CodeVerdict | None
    issues: tuple[Issue, ...] = ()
    summary: str = ""
    tests: TestResults | None = None
    security: SecurityStatus | None = None
    next_steps: str = ""
    iteration: int = 0
    call: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    tree: str = ""
    evidence: str = ""
    remarks: tuple[str, ...] = ()
    decision: str = ""
    unreviewed: str = ""


def severity(word: str) -> Severity | None:
    """The severity that a word means."""
    return _SEVERITY_WORDS.get(_folded(word))


def verdict_of(status: ReviewStatus) -> PlanVerdict | None:
    """What a review with this status decided; one that was resolved decides nothing any more."""
    return _OF_STATUS.get(status)


def status_of(verdict: PlanVerdict) -> ReviewStatus:
    """The status of a review that decides this."""
    return _STATUS_OF[verdict]


def count(issues: tuple[Issue, ...]) -> dict[Severity, int]:
    """How many issues there are of each severity."""
    found = Counter(issue.severity for issue in issues)
    return {each: found[each] for each in SEVERITIES}


def only_minor(issues: tuple[Issue, ...]) -> bool:
    """Whether nothing is High and at most one issue is Medium."""
    found = count(issues)
    return found["High"] == 0 and found["Medium"] <= 1


def contradictions(
    verdict: PlanVerdict | CodeVerdict | None,
    issues: tuple[Issue, ...],
    tests: TestResults | None = None,
    security: SecurityStatus | None = None,
) -> tuple[str, ...]:
    """What a review says against itself: reasons not to approve beside an approval, counts that do not add up."""
    found = []
    if verdict == "APPROVED":
        if count(issues)["High"]:
            found.append("the verdict APPROVED goes with no High issue")
        if tests and (tests.status == "FAIL" or tests.failed > 0):
            found.append("the verdict APPROVED goes with no failing test")
        if security == "VULNERABILITIES":
            found.append("the verdict APPROVED goes with no security status VULNERABILITIES")
    if tests and 0 < tests.total < tests.passed + tests.failed + tests.skipped:
        counts = f"{tests.passed} passed, {tests.failed} failed and {tests.skipped} skipped"
        found.append(f"{counts} are more tests than the total of {tests.total}")
    return tuple(found)


def overclaimed(said: TestResults | None, failed: int, total: int, status: Status) -> str:
    """What a reviewer reported of the tests that agentd saw otherwise, as a sentence, or nothing.

    `failed` and `total` are what agentd counted, 0 where it could not. A reviewer that reported worse, or no numbers,
    claimed nothing.
    """
    if said is None:
        return ""
    better = said.status == "PASS" and status != "green"
    fewer = said.failed < failed and (said.status == "PASS" or bool(said.total or said.passed or said.failed))
    more = said.passed > total - failed and (total > 0 or status == "none")
    if not (better or fewer or more):
        return ""
    counts = [f"{number} {word}" for number, word in ((said.passed, "passed"), (said.failed, "failed")) if number]
    reported = f"{said.status} with {' and '.join(counts)}" if counts else said.status
    return f"The reviewer reported {reported}; {_seen(failed, total, status)}."


def _seen(failed: int, total: int, status: Status) -> str:
    if status == "none":
        return "agentd saw no test run"
    if status == "unknown":
        return "agentd could not run the tests"
    if status == "red" and not failed:
        return "agentd saw the tests fail"
    return f"agentd saw {failed or 'none'} of {total} fail"


def _folded(word: str) -> str:
    return re.sub(r"[\s_-]+", "_", word.strip()).upper()
