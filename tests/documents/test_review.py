"""REVIEW.md both ways; an approval is stated by the structure or there is none."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.documents import review
from agentd.errors import Corrupt
from agentd.model.finding import SEVERITIES
from agentd.model.verdict import (
    CODE_VERDICTS,
    SECURITY_STATUSES,
    TEST_STATUSES,
    CodeReview,
    Issue,
    TestResults,
    contradictions,
)
from tests.documents.hand_edits import Edit, hand_edits, plain_texts
from tests.documents.test_challenge import ANY_LINES, ANY_TEXTS, MORE, NASTY, issues, normal

NUMBERS = st.integers(0, 10_000)
RESULTS = st.builds(
    lambda status, more, *ran: TestResults(status, sum(ran) + more if more is not None else 0, *ran),
    st.sampled_from(TEST_STATUSES),
    st.none() | NUMBERS,
    NUMBERS,
    st.just(0) | NUMBERS,
    NUMBERS,
)


def agreeing(document: CodeReview) -> CodeReview:
    against = contradictions(document.verdict, document.issues, document.tests, document.security)
    return replace(document, verdict="NEEDS_CHANGES") if against else document


def documents(texts: st.SearchStrategy[str], lines: st.SearchStrategy[str]) -> st.SearchStrategy[CodeReview]:
    return st.builds(
        CodeReview,
        st.from_regex(r"[a-z0-9][a-z0-9-]{0,8}", fullmatch=True),
        st.sampled_from(CODE_VERDICTS),
        st.lists(issues(texts, lines), max_size=4).map(
            lambda found: tuple(sorted(found, key=lambda issue: SEVERITIES.index(issue.severity)))
        ),
        st.just("") | texts,
        st.none() | RESULTS,
        st.none() | st.sampled_from(SECURITY_STATUSES),
        st.just("") | texts,
        NUMBERS,
        st.sampled_from(["", "review-1.2"]),
        st.dictionaries(plain_texts(), st.just("sha256:0e"), max_size=2),
    ).map(agreeing)


ANY = documents(ANY_TEXTS.map(normal), ANY_LINES)
PLAIN = documents(plain_texts(), plain_texts())


@given(ANY)
def test_what_is_written_reads_back_and_nothing_is_wrong_with_it(document: CodeReview) -> None:
    assert review.read(review.render(document)) == (document, ())
    assert review.parse(review.render(document), "REVIEW.md") == document


@given(PLAIN, hand_edits(keeps=True))
def test_a_hand_edit_that_keeps_the_meaning_is_read_the_same(document: CodeReview, edit: Edit) -> None:
    assert review.read(edit(review.render(document))) == (document, ())


@given(ANY, hand_edits())
def test_after_any_hand_edit_the_verdict_is_the_same_or_unknown(document: CodeReview, edit: Edit) -> None:
    edited = edit(review.render(document))
    found, findings = review.read(edited)
    last = len(re.split("\r\n|\r|\n", edited))
    assert all(1 <= finding.line <= last for finding in findings)
    assert found.verdict in (document.verdict, None)
    assert found.verdict or any(finding.rule == "invalid_review" for finding in findings)


@given(ANY, hand_edits())
def test_tidying_says_the_same_and_is_done_after_once(document: CodeReview, edit: Edit) -> None:
    edited = edit(review.render(document))
    tidied = review.tidy(edited)
    assert review.tidy(tidied) == tidied
    assert review.read(tidied)[0] == review.read(edited)[0]


@given(st.lists(st.sampled_from([*NASTY, *MORE, "```", "<!--", "-->", "x", ""]) | st.text(max_size=9)).map("\n".join))
def test_no_text_without_a_line_that_states_it_approves(text: str) -> None:
    if review.read(text)[0].verdict == "APPROVED":
        lines = [line.strip(" \t*_`") for line in normal(text).split("\n")]
        assert any(re.fullmatch(r"(?:[-+#>* ]*\**verdict\W*|[-+* ]*\[x\] *)?approved\W*", line, re.I) for line in lines)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("## Verdict\n\n\n\nAPPROVED\n", "APPROVED"),
        ("## Verdict\nNEEDS_FIX\n", "NEEDS_CHANGES"),
        ("## Verdict\n\n- needs changes\n", "NEEDS_CHANGES"),
        ("## verdict\n\n- [ ] APPROVED\n- [x] **MAJOR_ISSUES** - tests fail\n", "MAJOR_ISSUES"),
        ("**Verdict**: NEEDS_FIX\n\n## Verdict\n\n[x] NEEDS_CHANGES\n", "NEEDS_CHANGES"),
        ("## Verdict: MAJOR_ISSUES\n", "MAJOR_ISSUES"),
    ],
)
def test_a_verdict_is_read_in_every_structural_form(text: str, verdict: str) -> None:
    document, findings = review.read(f"# Code Review: x\n\n{text}")
    assert document.verdict == verdict
    assert not findings


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("All good, approved.", 1),
        ("## Verdict\n\nPENDING", 3),
        ("## Verdict\n\nNot approved", 3),
        ("## Verdict\n\nREJECTED", 3),
        ("## Verdict\n\nAPPROVED\n\nMAJOR_ISSUES", 7),
        ("## Verdict\n\n```\nAPPROVED\n```", 3),
        ("## Verdict\n\n## Next Steps\n\nAPPROVED", 3),
    ],
)
def test_what_states_no_verdict_clearly_is_unknown_and_told(text: str, line: int) -> None:
    document, findings = review.read(f"# Code Review: x\n\n{text}\n")
    assert document.verdict is None
    assert [(finding.rule, finding.line) for finding in findings] == [("invalid_review", line)]
    with pytest.raises(Corrupt, match=f"^REVIEW.md:{line}: "):
        review.parse(f"# Code Review: x\n\n{text}\n", "REVIEW.md")


def test_a_skeleton_has_its_sections_and_no_verdict() -> None:
    text = review.skeleton("add-oauth", 2)
    sections = ["# Code Review: add-oauth", "## Test Results", "## Security", "## Issues", "## Verdict"]
    assert re.findall(r"^#.*", text, re.M) == sections
    assert review.read(text)[0] == CodeReview("add-oauth", None, iteration=2)


WRITTEN = """---
change_id: add-oauth
type: review
iteration: 1
files:
  src/a.py: "sha256:0e"
---

# Code Review: add-oauth

## Test Results

- **Status**: FAIL
- **Total**: 3
- **Passed**: 2
- **Failed**: 1
- **Skipped**: 0

## Security

- **Status**: NOT_RUN

## Issues

### High Severity

#### Issue 1: Wrong sign

- **Severity**: High
- **Description**: It subtracts.
- **File**: src/a.py
- **Line**: 12
- **Recommendation**: Add.

### Low Severity

#### Issue 2: Name

- **Severity**: Low
- **Description**: Too short.

## Verdict

NEEDS_CHANGES

## Next Steps

Fix it.
"""


def test_it_is_written_with_its_sections_and_issues_by_severity() -> None:
    low = Issue("Low", "Name", "Too short.")
    high = Issue("High", "Wrong sign", "It subtracts.", "Add.", file_path="src/a.py", line_number=12)
    tests = TestResults("FAIL", 3, 2, 1)
    document = CodeReview(
        *("add-oauth", "NEEDS_CHANGES", (low, high), "", tests, "NOT_RUN", "Fix it.", 1, ""),
        files={"src/a.py": "sha256:0e"},
    )
    assert review.render(document) == WRITTEN.replace('"sha256:0e"', "sha256:0e")
    assert review.read(WRITTEN)[0].issues == (high, low)


def test_a_persons_own_review_is_read() -> None:
    text = (
        "# Review\n\n## Tests\n* Status: pass\n* Passed: **7**\n\n## Security\nStatus： clean\n\n"
        "## Issues\n\n### Medium\n\n#### 命名\n\n不清楚。\n\n### Low\n\nNone.\n\n## Verdict\n\nAPPROVED\n"
    )
    document, findings = review.read(text)
    assert not findings
    assert document == CodeReview(
        *("", "APPROVED", (Issue("Medium", "命名", "不清楚。"),), "", TestResults("PASS", passed=7), "CLEAN")
    )


def test_a_status_that_is_not_known_is_told_with_its_line() -> None:
    document, findings = review.read(
        "## Tests\n- Status: green\n\n## Security\n- Status: fine\n\n## Verdict\nAPPROVED\n"
    )
    assert (document.tests, document.security) == (None, None)
    assert [(finding.rule, finding.line) for finding in findings] == [("invalid_review", 2), ("invalid_review", 5)]


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("## Issues\n### A (High)\nwords\n", "no High issue"),
        ("## Tests\n- Status: FAIL\n\n", "no failing test"),
        ("## Tests\n- Failed: 1\n\n", "no failing test"),
        ("## Security\n- Status: vulnerabilities\n\n", "no security status VULNERABILITIES"),
        ("## Tests\n- Total: 3\n- Passed: 4\n", "more tests than the total of 3"),
    ],
)
def test_a_review_that_contradicts_itself_is_told_on_the_line_of_the_verdict(part: str, message: str) -> None:
    text = f"{part}## Verdict\nAPPROVED\n"
    _, findings = review.read(text)
    assert [(finding.rule, finding.line, finding.severity) for finding in findings] == [("invalid_review", 5, "High")]
    with pytest.raises(Corrupt, match=f"^REVIEW.md:5: .*{message}"):
        review.parse(text, "REVIEW.md")
    assert bool(review.read(text.replace("APPROVED", "MAJOR_ISSUES"))[1]) == ("total" in message)


def test_a_file_that_ends_with_its_front_matter_is_told_on_its_last_line() -> None:
    assert [finding.line for finding in review.read("---\nchange_id: x\n---")[1]] == [3]


def test_front_matter_that_is_broken_is_told() -> None:
    _, findings = review.read("---\nfiles: [\n---\n## Verdict\nAPPROVED\n")
    assert [finding.rule for finding in findings] == ["invalid_frontmatter"]
