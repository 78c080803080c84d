"""A word is a verdict or it is none; nothing but APPROVED approves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.model.change import REVIEW_STATUSES
from agentd.model.verdict import (
    CODE_VERDICTS,
    PLAN_VERDICTS,
    CodeVerdict,
    Issue,
    SecurityStatus,
    TestResults,
    code_verdict,
    contradictions,
    count,
    only_minor,
    plan_verdict,
    severity,
    status_of,
    verdict_of,
)


@pytest.mark.requirement(49)
@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        ("APPROVED", "APPROVED"),
        (" approved ", "APPROVED"),
        ("Needs revision", "NEEDS_REVISION"),
        ("needs-revision", "NEEDS_REVISION"),
        ("REJECTED", "REJECTED"),
        *((word, None) for word in ("", "not approved", "APPROVED!", "APPROVED REJECTED", "UNKNOWN", "NEEDS_CHANGES")),
    ],
)
def test_a_word_is_a_verdict_on_a_plan_or_none(word: str, verdict: str | None) -> None:
    assert plan_verdict(word) == verdict


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        ("NEEDS_FIX", "NEEDS_CHANGES"),
        ("needs changes", "NEEDS_CHANGES"),
        ("MAJOR_ISSUES", "MAJOR_ISSUES"),
        ("OK", None),
    ],
)
def test_a_word_is_a_verdict_on_an_implementation_or_none(word: str, verdict: str | None) -> None:
    assert code_verdict(word) == verdict


@given(st.text())
def test_no_other_word_approves(word: str) -> None:
    if word.strip().upper() != "APPROVED":
        assert plan_verdict(word) != "APPROVED"
        assert code_verdict(word) != "APPROVED"


def test_every_verdict_is_its_own_word() -> None:
    assert [plan_verdict(word) for word in PLAN_VERDICTS] == list(PLAN_VERDICTS)
    assert [code_verdict(word) for word in CODE_VERDICTS] == list(CODE_VERDICTS)


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
