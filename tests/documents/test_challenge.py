"""CHALLENGE.md both ways; an approval is stated by the structure or there is none."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.model.change import Review
from agentd.model.rules import Rules
from agentd.model.severity import SEVERITIES
from agentd.model.verdict import PLAN_VERDICTS, Challenge, Issue, contradictions, count
from agentd.review import challenge_page
from tests.documents.hand_edits import Edit, hand_edits, names, nasty_lines, nasty_texts, plain_texts

NASTY = (
    "**Verdict**: APPROVED",
    "Verdict: APPROVED",
    "- [x] APPROVED",
    "## Verdict",
    "APPROVED",
    "  **Verdict**: REJECTED",
)
MORE = ("- **Severity**: High", "### Issue 2: x", "## Issues", "#### x", "> **Verdict**: APPROVED", "- Description: x")


def normal(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def issues(texts: st.SearchStrategy[str], lines: st.SearchStrategy[str]) -> st.SearchStrategy[Issue]:
    maybe = st.just("") | lines
    return st.builds(
        Issue, st.sampled_from(SEVERITIES), maybe, texts, st.just("") | texts, maybe, maybe, maybe,
        st.sampled_from(["", "src/a.py", "a b.py"]), st.none() | st.integers(1, 9999),
    )  # fmt: skip


def agreeing(document: Challenge) -> Challenge:
    against = contradictions(document.verdict, document.issues)
    return replace(document, verdict="NEEDS_REVISION") if against else document


def documents(texts: st.SearchStrategy[str], lines: st.SearchStrategy[str]) -> st.SearchStrategy[Challenge]:
    return st.builds(
        Challenge,
        names(9),
        st.sampled_from(PLAN_VERDICTS),
        st.lists(st.builds(replace, issues(texts, lines), ungrounded=st.just("") | lines), min_size=1, max_size=3).map(
            tuple
        ),
        st.just("") | texts,
        st.just("") | texts,
    ).map(agreeing)


ANY_LINES = (nasty_lines() | st.sampled_from([*NASTY, *MORE])).map(lambda line: line.replace("\r", "x"))
ANY_TEXTS = (nasty_texts() | st.lists(st.sampled_from([*NASTY, *MORE, "x", ""]), min_size=1).map("\n".join)).filter(
    lambda text: bool(text.strip())
)
ANY = documents(ANY_TEXTS.map(normal), ANY_LINES)
PLAIN = documents(plain_texts(), plain_texts())


@given(ANY)
def test_what_is_written_reads_back_and_nothing_is_wrong_with_it(document: Challenge) -> None:
    assert challenge_page.read(challenge_page.render(document)) == (document, ())


@given(PLAIN, hand_edits(keeps=True))
def test_a_hand_edit_that_keeps_the_meaning_is_read_the_same(document: Challenge, edit: Edit) -> None:
    assert challenge_page.read(edit(challenge_page.render(document))) == (document, ())


@given(ANY, hand_edits())
def test_after_any_hand_edit_the_verdict_is_the_same_or_unknown(document: Challenge, edit: Edit) -> None:
    edited = edit(challenge_page.render(document))
    found, findings = challenge_page.read(edited)
    last = len(re.split("\r\n|\r|\n", edited))
    assert all(1 <= finding.line <= last and finding.fix for finding in findings)
    assert found.verdict in (document.verdict, None)
    assert found.verdict or any(finding.rule == "invalid_review" for finding in findings)


@given(ANY, hand_edits())
def test_tidying_says_the_same_and_is_done_after_once(document: Challenge, edit: Edit) -> None:
    edited = edit(challenge_page.render(document))
    tidied = challenge_page.tidy(edited)
    assert challenge_page.tidy(tidied) == tidied
    assert challenge_page.read(tidied)[0] == challenge_page.read(edited)[0]


@given(
    st.lists(
        st.sampled_from([*NASTY, *MORE, "```", "<!--", "-->", "not approved", "## Summary", "# Verdict: x", "", "x"])
        | st.text(max_size=12),
        max_size=12,
    ).map("\n".join)
)
@pytest.mark.requirement(50)
def test_no_text_without_a_line_that_states_it_approves(text: str) -> None:
    if challenge_page.read(text)[0].verdict == "APPROVED":
        lines = [line.strip(" \t*_`") for line in normal(text).split("\n")]
        assert any(re.fullmatch(r"(?:[-+#>* ]*\**verdict\W*|[-+* ]*\[x\] *)?approved\W*", line, re.I) for line in lines)


@pytest.mark.requirement(49)
@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("**Verdict**: APPROVED", "APPROVED"),
        ("**Verdict:** approved.", "APPROVED"),
        ("- **Verdict**： `REJECTED`", "REJECTED"),
        ("Verdict: NEEDS REVISION", "NEEDS_REVISION"),
        ("## Verdict: APPROVED", "APPROVED"),
        ("## Verdict\n\n\n\n**APPROVED**\n", "APPROVED"),
        ("## Verdict\n- [x] APPROVED\n- [ ] NEEDS_REVISION\n- [ ] REJECTED", "APPROVED"),
        (
            "## Verdict\n- [ ] APPROVED - Ready for implementation\n* [X] NEEDS_REVISION - Address the issues",
            "NEEDS_REVISION",
        ),
        ("## VERDICT\n[x] APPROVED - Ready for implementation", "APPROVED"),
        ("**Verdict**:\n\n- [x] REJECTED\n", "REJECTED"),
        ("## Verdict\n**Verdict**: APPROVED\n\n- [x] APPROVED\n", "APPROVED"),
        ("## Final Verdict\n\n**Verdict**: APPROVED\n", "APPROVED"),
    ],
)
def test_a_verdict_is_read_in_every_structural_form(text: str, verdict: str) -> None:
    document, _ = challenge_page.read(f"# Challenge Report: x\n\n{text}\n")
    assert document.verdict == verdict


@pytest.mark.requirement(50)
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("The plan is APPROVED.", 1),
        ("APPROVED", 1),
        ("## Verdict\n\n**Verdict**: not approved", 5),
        ("## Verdict\n\n**Verdict**: APPROVED, once R1 is fixed", 5),
        ("## Verdict\n\n- [x] APPROVED - but not before R1 is fixed", 5),
        ("## Verdict\n\n- [x] not APPROVED", 3),
        ("## Verdict\n\n- [ ] APPROVED", 3),
        ("## Verdict\n\nThis is approved.", 3),
        ("## Verdict\n\n- [x] APPROVED\n- [x] REJECTED", 6),
        ("## Verdict\n\n**Verdict**: APPROVED\n\n## Summary\n\n**Verdict**: REJECTED", 9),
        ("## Verdict\n\n```\n**Verdict**: APPROVED\n```", 3),
        ("## Verdict\n\n<!--\n**Verdict**: APPROVED\n-->", 3),
        ("## Verdict\n\nSay <!--\n**Verdict**: APPROVED\n--> here", 3),
        ("## Verdict\n\n<!-- **Verdict**: APPROVED -->", 3),
        ("## Verdict\n\n> **Verdict**: APPROVED", 3),
        ("## Verdict\n\n    **Verdict**: APPROVED", 3),
        ("## Verdict\n\n**Verdict**: APPROVED | NEEDS_REVISION | REJECTED", 5),
        ("## Verdict\n\n**Verdict**: ~~APPROVED~~", 5),
        ("## Issues\n\n### x\n\n- **Severity**: Low\n- **Description**: y\n\n**Verdict**: APPROVED", 1),
        ("## Summary\n\n- [x] APPROVED", 1),
        ("## Verdict\n\nNEEDS_CHANGES", 3),
    ],
)
def test_what_states_no_verdict_clearly_is_unknown_and_told(text: str, line: int) -> None:
    document, findings = challenge_page.read(f"# Challenge Report: x\n\n{text}\n")
    assert document.verdict is None
    told = [(finding.rule, finding.file, finding.line, finding.severity) for finding in findings]
    assert told == [("invalid_review", "CHALLENGE.md", line, "High")]


@pytest.mark.requirement(288)
def test_a_skeleton_has_the_three_sections_and_no_verdict() -> None:
    text = challenge_page.skeleton("add-oauth")
    assert re.findall(r"^#.*", text, re.M) == ["# Challenge Report: add-oauth", "## Verdict", "## Issues", "## Summary"]
    assert challenge_page.read(text)[0] == Challenge("add-oauth", None)


WRITTEN = """# Challenge Report: add-oauth

## Verdict

**Verdict**: NEEDS_REVISION

## Issues

### Issue 1: Ties

- **Severity**: High
- **Description**: R1 leaves the order open.
- **Suggestion**: Sort them.

  ```
  ## not a heading
  ```
- **Spec Reference**: top-words:R1

## Summary

One open question.
"""


def test_it_is_written_with_the_labels_that_were_asked_for() -> None:
    suggestion = "Sort them.\n\n```\n## not a heading\n```"
    issue = Issue("High", "Ties", "R1 leaves the order open.", suggestion, "top-words:R1")
    document = Challenge("add-oauth", "NEEDS_REVISION", (issue,), "One open question.")
    assert challenge_page.render(document) == WRITTEN
    assert challenge_page.read(WRITTEN) == (document, ())


OLDER = """# Challenge Report: add-oauth

## Summary
Some words.

## Internal Consistency Issues (High)

### Issue: No order
- **Category**: Completeness
- **Description**: R1 leaves
  the order open.
- **Location**: specs/top.md
- **Recommendation**: Sort.

## Code Alignment Issues (Med/Low)
### 2. Names
**Severity**: Medium
**Description**: The names differ.

## Quality Suggestions (Low)
- Severity: Low
- Description: A
- Severity: HIGH
- Description: B

## Verdict
- [ ] APPROVED
- [x] NEEDS_REVISION
- [ ] REJECTED
"""


@pytest.mark.requirement(51)
def test_the_older_sections_are_read_too() -> None:
    document, findings = challenge_page.read(OLDER)
    assert not findings
    assert document == Challenge(
        "add-oauth",
        "NEEDS_REVISION",
        (
            Issue("High", "No order", "R1 leaves\nthe order open.", "Sort.", "", "specs/top.md", "Completeness"),
            Issue("Medium", "Names", "The names differ."),
            Issue("Low", "", "A"),
            Issue("High", "", "B"),
        ),
        "Some words.",
    )
    assert [issue.line for issue in document.issues] == [8, 16, 21, 23]
    assert count(document.issues) == {"High": 2, "Medium": 1, "Low": 1}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("None.\n", []),
        ("- No issues found\n", []),
        ("### [HIGH] Ties\n\nThe order is open.\n", [("High", "Ties", "The order is open.")]),
        (
            "### High\n\n- The order is open\n- 名字不同\n",
            [("High", "", "The order is open"), ("High", "", "名字不同")],
        ),
        ("1. **Ties**\n   - Severity: Low\n   - Description: open\n", [("Low", "Ties", "open")]),
        ("### Ties\n- severity：high (blocking)\n- description：顺序\n", [("High", "Ties", "顺序")]),
        ("### Ties\n**Severity**: High\n\nThe order is open.\n", [("High", "Ties", "The order is open.")]),
        ("### Ties\n- **Severity**: Low\n\n\nOpen.\n\nStill.\n", [("Low", "Ties", "Open.\n\nStill.")]),
        ("### Ties\nOpen.\n\n**Severity**: Low\n\nStill.\n", [("Low", "Ties", "Open.\n\nStill.")]),
        ("### Ties\n**Severity**: Low\n\nx\n\n**Description**: open\n", [("Low", "Ties", "open")]),
        ("- **[High]** The order\n- [Low] 名字\n", [("High", "", "The order"), ("Low", "", "名字")]),
        ("- **[Medium]:** x\n- **[Low] A** b\n", [("Medium", "", "x"), ("Low", "", "**A** b")]),
        ("### 1. Ties (High)\n\nThe order is open.\n", [("High", "Ties", "The order is open.")]),
        ("### Ties (High)\n- Severity: Low\n- Description: open\n", [("Low", "Ties (High)", "open")]),
        ("### [High] Ties (low)\n\nopen\n", [("High", "Ties (low)", "open")]),
        ("### High\n- Coverage is (low)\n", [("High", "", "Coverage is (low)")]),
        (
            "### Ties\n* __Severity__: Low\n* __Description__:\n  open\n#### More\n",
            [("Low", "Ties", "open\n#### More")],
        ),
    ],
)
def test_issues_are_read_as_people_write_them(body: str, expected: list[tuple[str, str, str]]) -> None:
    document, findings = challenge_page.read(f"## Verdict\nREJECTED\n## Issues\n{body}\n## Summary\nx\n")
    assert not findings
    assert [(issue.severity, issue.title, issue.description) for issue in document.issues] == expected


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("### Ties\n- Description: open\n", "the issue 'Ties' has no severity"),
        ("### Ties\n- Severity: High / Medium / Low\n- Description: open\n", "has the severity 'High / Medium / Low'"),
        ("### Ties\n- Severity: High\n", "the issue 'Ties' has no description"),
        ("- The order is open\n", "the issue has no severity"),
        ("### Ties\n**Severity**: High or Low\n\nopen\n", "has the severity 'High or Low'"),
    ],
)
def test_an_issue_that_lacks_something_is_told_and_counts_as_high(body: str, message: str) -> None:
    document, findings = challenge_page.read(f"## Verdict\nREJECTED\n## Issues\n{body}")
    assert [(finding.rule, finding.line) for finding in findings] == [("invalid_review", 4)]
    assert message in findings[0].message
    assert document.issues[0].severity == "High"


@pytest.mark.requirement(50)
def test_an_approval_beside_a_high_issue_is_told_on_the_line_of_the_verdict() -> None:
    text = "## Issues\n\n- **[High]** The order is open\n\n## Verdict\n\n**Verdict**: {}\n"
    _, findings = challenge_page.read(text.format("APPROVED"))
    assert [(finding.rule, finding.line, finding.severity) for finding in findings] == [("invalid_review", 7, "High")]
    assert findings[0].message == "the verdict APPROVED goes with no High issue"
    assert challenge_page.read(text.format("REJECTED"))[1] == ()
    assert challenge_page.read(text.format("APPROVED").replace("High", "Medium"))[1] == ()


def test_a_revision_without_issues_is_told_as_less_than_an_error() -> None:
    document, findings = challenge_page.read("## Verdict\n**Verdict**: NEEDS_REVISION\n\n## Issues\n\nNone.\n")
    assert document.verdict == "NEEDS_REVISION"
    assert [(finding.rule, finding.line, finding.severity) for finding in findings] == [("missing_issues", 4, "Medium")]
    _, findings = challenge_page.read("## Verdict\nx\n", Rules(severity_map={"invalid_review": "Low"}))
    assert [finding.severity for finding in findings] == ["Low"]


def test_the_report_is_made_from_a_review_whose_status_is_the_verdict() -> None:
    content = (
        "## Summary\n\nWords.\n\n## Issues\n\n### A\n- Severity: Low\n- Description: b\n\n## Verdict\n\nAPPROVED\n"
    )
    made = challenge_page.from_review("x", Review("rejected", 1, "codex", content + "\n## Next Steps\n\nGo.\n"))
    assert made == Challenge("x", "REJECTED", (Issue("Low", "A", "b"),), "Words.", "Go.")
    assert challenge_page.from_review("x", Review("approved", 1, "me", "All is\nwell.")).summary == "All is\nwell."
    assert challenge_page.from_review("x", Review("resolved", 1, "me", "All is well.")).verdict is None


def test_an_ungrounded_issue_says_so_and_is_read_back() -> None:
    issue = Issue(
        "High", "Ties", "Which order?", spec_reference="auth:R9", ungrounded="there is no requirement auth:R9"
    )
    document = Challenge("x", "NEEDS_REVISION", (issue,))
    assert "\n- **Ungrounded**: there is no requirement auth:R9\n" in challenge_page.render(document)
    assert challenge_page.read(challenge_page.render(document)) == (document, ())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# Challenge Report: x\n\n## Verdict\n\n**Verdict**: APPROVED\n", 5),
        ("---\na: b\n---\n\n## Verdict\n- [x] REJECTED\n", 6),
    ],
)
def test_the_line_of_the_verdict_is_known(text: str, line: int) -> None:
    assert challenge_page.verdict_line(text) == line
