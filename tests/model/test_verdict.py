"""What a review says of itself, and whether that goes together and with what agentd saw."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.model.change import REVIEW_STATUSES
from agentd.model.evidence import Status
from agentd.model.verdict import (
    CODE_VERDICTS,
    PLAN_VERDICTS,
    TEST_STATUSES,
    CodeVerdict,
    Issue,
    SecurityStatus,
    TestResults,
    TestStatus,
    contradictions,
    count,
    only_minor,
    overclaimed,
    severity,
    status_of,
    verdict_of,
)


def test_a_status_of_a_review_stands_for_its_verdict_and_a_resolved_one_for_none() -> None:
    assert {status: verdict_of(status) for status in REVIEW_STATUSES} == {
        "approved": "APPROVED",
        "needs_revision": "NEEDS_REVISION",
        "rejected": "REJECTED",
        "resolved": None,
    }
    assert [verdict_of(status_of(verdict)) for verdict in PLAN_VERDICTS] == list(PLAN_VERDICTS)


@pytest.mark.parametrize(("word", "known"), [("HIGH", "High"), ("med", "Medium"), (" low", "Low"), ("critical", None)])
def test_a_severity_is_known_in_any_case(word: str, known: str | None) -> None:
    assert severity(word) == known


@pytest.mark.requirement(51)
def test_issues_are_counted_by_severity() -> None:
    issues = tuple(Issue(each, "x", "y") for each in ("High", "Low", "High"))
    assert count(issues) == {"High": 2, "Medium": 0, "Low": 1}
    assert list(count(())) == ["High", "Medium", "Low"]


def test_one_medium_issue_is_minor_and_two_or_a_high_one_are_not() -> None:
    low, medium, high = Issue("Low", "x", "y"), Issue("Medium", "x", "y"), Issue("High", "x", "y")
    assert only_minor(())
    assert only_minor((low, low, medium))
    assert not only_minor((medium, medium))
    assert not only_minor((high,))


@pytest.mark.parametrize(
    ("tests", "security", "against"),
    [
        (None, None, 0),
        (TestResults("PASS", 3, 2, 0, 1), "WARNINGS", 0),
        (TestResults("PARTIAL", passed=7), "CLEAN", 0),
        (TestResults("FAIL"), None, 1),
        (TestResults("PASS", 3, 2, 1), None, 1),
        (None, "VULNERABILITIES", 1),
        (TestResults("FAIL"), "VULNERABILITIES", 2),
    ],
)
def test_an_approval_goes_with_no_reason_against_it_and_any_other_verdict_with_all(
    tests: TestResults | None, security: SecurityStatus | None, against: int
) -> None:
    minor, high = (Issue("Medium", "x", "y"), Issue("Low", "x", "y")), Issue("High", "x", "y")
    assert len(contradictions("APPROVED", minor, tests, security)) == against
    assert len(contradictions("APPROVED", (*minor, high), tests, security)) == against + 1
    for verdict in (None, "NEEDS_REVISION", "REJECTED", "NEEDS_CHANGES", "MAJOR_ISSUES"):
        assert contradictions(verdict, (high,), tests, security) == ()


@pytest.mark.parametrize("verdict", [None, *CODE_VERDICTS])
def test_counts_beyond_a_total_contradict_it_whatever_the_verdict(verdict: CodeVerdict | None) -> None:
    assert contradictions(verdict, (), TestResults("PASS", 3, 2, 0, 2)) == (
        "2 passed, 0 failed and 2 skipped are more tests than the total of 3",
    )
    assert contradictions(verdict, (), TestResults("PASS", 5, 2, 0, 2)) == ()


@pytest.mark.parametrize(
    ("said", "failed", "total", "status", "sentence"),
    [
        (
            TestResults("PASS", 5, 5),
            *(1, 5, "red"),
            "The reviewer reported PASS with 5 passed; agentd saw 1 of 5 fail.",
        ),
        (TestResults("PASS"), 0, 0, "red", "The reviewer reported PASS; agentd saw the tests fail."),
        (TestResults("PASS"), 0, 0, "none", "The reviewer reported PASS; agentd saw no test run."),
        (TestResults("PASS", 3, 3), 0, 0, "unknown", "The reviewer reported PASS with 3 passed; agentd could not run the tests."),
        (TestResults("FAIL", 5, 4, 1), 3, 5, "red", "The reviewer reported FAIL with 4 passed and 1 failed; agentd saw 3 of 5 fail."),
        (TestResults("PARTIAL", 5, 5), 2, 7, "red", "The reviewer reported PARTIAL with 5 passed; agentd saw 2 of 7 fail."),
        (TestResults("PASS", 9, 9), 0, 5, "green", "The reviewer reported PASS with 9 passed; agentd saw none of 5 fail."),
        (TestResults("UNKNOWN", passed=2), 0, 0, "none", "The reviewer reported UNKNOWN with 2 passed; agentd saw no test run."),
    ],
)  # fmt: skip
def test_what_a_reviewer_reported_better_than_it_is_is_told(
    said: TestResults, failed: int, total: int, status: Status, sentence: str
) -> None:
    assert overclaimed(said, failed, total, status) == sentence


@pytest.mark.parametrize(
    ("said", "failed", "total", "status"),
    [
        (None, 3, 5, "red"),
        (TestResults("PASS", 5, 5), 0, 5, "green"),
        (TestResults("PASS", 5, 4, 0, 1), 0, 5, "green"),
        (TestResults("PASS", 9, 9), 0, 0, "green"),  # what agentd could not count, nobody is held to
        (TestResults("FAIL"), 3, 5, "red"),
        (TestResults("FAIL", 5, 1, 4), 3, 5, "red"),
        (TestResults("UNKNOWN"), 3, 5, "red"),
        (TestResults("UNKNOWN"), 0, 0, "unknown"),
        (TestResults("FAIL", 5, 4, 1), 0, 5, "green"),
    ],
)
def test_a_reviewer_that_reported_what_agentd_saw_or_worse_or_nothing_claimed_nothing(
    said: TestResults | None, failed: int, total: int, status: Status
) -> None:
    assert overclaimed(said, failed, total, status) == ""


@given(
    st.sampled_from(TEST_STATUSES), st.integers(0, 9), st.integers(0, 9), st.sampled_from(["red", "none", "unknown"])
)
def test_nothing_but_green_goes_with_pass(word: TestStatus, passed: int, failed: int, status: Status) -> None:
    if word == "PASS":
        assert overclaimed(TestResults(word, passed=passed), failed, passed + failed, status)
