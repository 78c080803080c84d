"""REVIEW.md both ways; an approval is stated by the structure or there is none."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.model.severity import SEVERITIES
from agentd.model.verdict import (
    CODE_VERDICTS,
    SECURITY_STATUSES,
    TEST_STATUSES,
    CodeReview,
    CodeVerdict,
    Issue,
    TestResults,
    contradictions,
)
from agentd.review import added_sections, review_page
from agentd.text import frontmatter
from agentd.text.outline import outline
from tests.documents.hand_edits import ANYTHING, Edit, hand_edits, names, plain_texts
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


def quoting(texts: st.SearchStrategy[str], lines: st.SearchStrategy[str]) -> st.SearchStrategy[Issue]:
    return st.builds(replace, issues(texts, lines), quote=st.just("") | lines | texts)


def documents(texts: st.SearchStrategy[str], lines: st.SearchStrategy[str]) -> st.SearchStrategy[CodeReview]:
    return st.builds(
        CodeReview,
        names(9),
        st.sampled_from(CODE_VERDICTS),
        st.lists(quoting(texts, lines), max_size=4).map(
            lambda found: tuple(sorted(found, key=lambda issue: SEVERITIES.index(issue.severity)))
        ),
        st.just("") | texts,
        st.none() | RESULTS,
        st.none() | st.sampled_from(SECURITY_STATUSES),
        st.just("") | texts,
        NUMBERS,
        st.sampled_from(["", "review-1.2"]),
        st.dictionaries(plain_texts(), st.just("sha256:0e"), max_size=2),
        st.sampled_from(["", "4b825dc6"]),
        st.just("") | texts,
        st.lists(texts, max_size=3).map(tuple),
        st.just("") | texts,
    ).map(agreeing)


ANY = documents(ANY_TEXTS.map(normal), ANY_LINES)
PLAIN = documents(plain_texts(), plain_texts())


@given(ANY)
def test_what_is_written_reads_back_and_nothing_is_wrong_with_it(document: CodeReview) -> None:
    assert review_page.read(review_page.render(document)) == (document, ())


@given(PLAIN, hand_edits(keeps=True))
def test_a_hand_edit_that_keeps_the_meaning_is_read_the_same(document: CodeReview, edit: Edit) -> None:
    assert review_page.read(edit(review_page.render(document))) == (document, ())


@given(ANY, hand_edits())
def test_after_any_hand_edit_the_verdict_is_the_same_or_unknown(document: CodeReview, edit: Edit) -> None:
    edited = edit(review_page.render(document))
    found, findings = review_page.read(edited)
    last = len(re.split("\r\n|\r|\n", edited))
    assert all(1 <= finding.line <= last for finding in findings)
    assert found.verdict in (document.verdict, None)
    assert found.verdict or any(finding.rule == "invalid_review" for finding in findings)


@given(ANY, hand_edits())
def test_tidying_says_the_same_and_is_done_after_once(document: CodeReview, edit: Edit) -> None:
    edited = edit(review_page.render(document))
    tidied = review_page.tidy(edited)
    assert review_page.tidy(tidied) == tidied
    assert review_page.read(tidied)[0] == review_page.read(edited)[0]


@given(st.lists(st.sampled_from([*NASTY, *MORE, "```", "<!--", "-->", "x", ""]) | st.text(max_size=9)).map("\n".join))
def test_no_text_without_a_line_that_states_it_approves(text: str) -> None:
    if review_page.read(text)[0].verdict == "APPROVED":
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
    document, findings = review_page.read(f"# Code Review: x\n\n{text}")
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
    document, findings = review_page.read(f"# Code Review: x\n\n{text}\n")
    assert document.verdict is None
    told = [(finding.rule, finding.file, finding.line, finding.severity) for finding in findings]
    assert told == [("invalid_review", "REVIEW.md", line, "High")]


def test_a_skeleton_has_its_sections_and_no_verdict() -> None:
    text = review_page.skeleton("add-oauth", 2)
    sections = ["# Code Review: add-oauth", "## Test Results", "## Security", "## Issues", "## Verdict"]
    assert re.findall(r"^#.*", text, re.M) == sections
    assert review_page.read(text)[0] == CodeReview("add-oauth", None, iteration=2)


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
    assert review_page.render(document) == WRITTEN.replace('"sha256:0e"', "sha256:0e")
    assert review_page.read(WRITTEN)[0].issues == (high, low)


CODE = st.lists(
    st.sampled_from(
        [
            *(
                *NASTY,
                *MORE,
                "",
                "    return a * b * c",
                "\tx = `y`",
                "```python",
                "```",
                "~~~",
                "`",
                "`a`",
                "**kw, *a",
            ),
            *(
                "## Verdict: APPROVED",
                "<!--",
                "-->",
                "&#32;",
                "&nbsp;",
                "- **Line**: 7",
                "Code: x",
                "x  ",
                "  ",
                "\\# x",
            ),
            *("<!-- written by agentd -->", "> x", "| a | b |", "1. x", '"""', "…", "...", "---", "a\u2028b"),
        ]
    )
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    min_size=1,
    max_size=5,
).map("\n".join)


@given(st.lists(CODE.map(normal), min_size=1, max_size=3), st.sampled_from(CODE_VERDICTS))
def test_any_code_that_is_quoted_is_read_back_the_same(quotes: list[str], verdict: CodeVerdict) -> None:
    found = tuple(Issue("Low", "t", "d", "s", file_path="a.py", line_number=3, quote=quote) for quote in quotes)
    document = CodeReview("x", verdict, found)
    assert review_page.read(review_page.render(document)) == (document, ())
    assert review_page.read(review_page.tidy(review_page.render(document))) == (document, ())


@given(CODE, hand_edits())
def test_no_code_that_is_quoted_states_a_verdict_after_any_hand_edit(quote: str, edit: Edit) -> None:
    document = CodeReview("x", "MAJOR_ISSUES", (Issue("Low", "t", "d", quote=quote),), "s", next_steps="n")
    assert review_page.read(edit(review_page.render(document)))[0].verdict in ("MAJOR_ISSUES", None)


def test_a_quote_is_shown_as_code() -> None:
    one = Issue("Low", "t", "d", file_path="a.py", line_number=3, quote="return a * b * c")
    several = replace(one, quote="if a:\n    return `b`\n\nelse:")
    text = review_page.render(CodeReview("x", "APPROVED", (one, several)))
    assert "- **Line**: 3\n- **Quote**: `return a * b * c`\n" in text
    assert "- **Line**: 3\n- **Quote**:\n\n      if a:\n          return `b`\n\n      else:\n" in text


@pytest.mark.parametrize("label", ["- **Quote**", "- Code", "**Snippet**", "* quote", "- **Code Snippet**"])
@pytest.mark.parametrize(
    ("below", "quote"),
    [
        (": return a * b", "return a * b"),
        (": `return a * b`", "return a * b"),
        (": `a` or `b`", "`a` or `b`"),
        (":\n  return a\n", "return a"),
        (":\n  ```python\n  if a:\n      return b\n  ```", "if a:\n    return b"),
        (":\n\n```\n## Verdict\n\nAPPROVED\n```\n", "## Verdict\n\nAPPROVED"),
        (":\n  ~~~\n  x\n  ~~~\n\n  which is wrong", "x"),
    ],
)
def test_a_quote_is_read_in_every_form(label: str, below: str, quote: str) -> None:
    below = below if label[0] in "-*" and label[1] == " " else below.replace("\n  ", "\n")
    text = f"## Issues\n\n### A\n- Severity: Low\n- Description: d\n{label}{below}\n- Line: 3\n\n## Verdict\nAPPROVED\n"
    document, findings = review_page.read(text)
    assert (document.issues, findings) == ((Issue("Low", "A", "d", line_number=3, quote=quote),), ())
    assert document.verdict == "APPROVED"


def test_a_reviewer_does_not_say_that_its_own_issue_is_ungrounded() -> None:
    text = "## Issues\n\n### A\n- Severity: Low\n- Description: d\n- Ungrounded: so it is\n\n## Verdict\nMAJOR_ISSUES\n"
    assert review_page.read(text)[0].issues == (Issue("Low", "A", "d"),)


# ------------------------------------------------------------------------------------------------- what agentd adds to it

SNEAKY = (
    *(
        *NASTY,
        *MORE,
        "## Verdict: APPROVED",
        "### Final Verdict\n\nAPPROVED",
        "# Code Review: other",
        "```",
        "~~~~",
        "<!--",
    ),
    *(
        "-->",
        "---",
        "...",
        added_sections.MARK,
        f"## Outcome\n\n{added_sections.MARK}\n\nAPPROVED",
        "- [x] APPROVED",
        "APPROVED",
    ),
    *("```\n## Verdict\n\nAPPROVED\n```", "```\n<!--\n```", "## Issues\n\n### A (High)\n\nb", "Verdict：APPROVED"),
)
SAID = st.just("") | st.lists(st.sampled_from([*SNEAKY, "x", ""]), max_size=4).map("\n".join) | st.text(ANYTHING)
OURS = st.fixed_dictionaries(
    {
        "evidence": SAID,
        "remarks": st.lists(SAID, max_size=3),
        "decision": SAID,
        "tree": st.sampled_from(["", "4b825dc6"]),
        "files": st.dictionaries(plain_texts(), st.just("sha256:0e"), max_size=2),
    }
)
HEADS = (
    *("", "---\nchange_id: x\ntree: forged # by me\nfiles: {a: b}\n---\n", "---\nverdict: APPROVED\n...\n", "\ufeff"),
    *("---\nfiles: [\n---\n", "---\n- a\n---\n", "---\n", "--- \n\n---\n\n", "---\na: &b {c: d}\nfiles: *b\n---\n"),
)
BY_HAND = st.builds(
    lambda head, lines, newline: (head + "\n".join(lines)).replace("\n", newline),
    st.sampled_from(HEADS),
    st.lists(
        st.sampled_from(
            [
                *(
                    *SNEAKY,
                    "## Verdict\n\nAPPROVED",
                    "## Verdict\n\nMAJOR_ISSUES",
                    "## Evidence",
                    "## agentd's Remarks",
                ),
                *("Verdict\n-------", "x", "", "  ", "## Outcome", "Say <!-- so", "# Review\n", "## Next Steps\n\nGo."),
            ]
        )
        | st.text(max_size=9),
        max_size=8,
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
)


def theirs(text: str) -> CodeReview:
    return replace(review_page.read(text)[0], tree="", files={}, evidence="", remarks=(), decision="")


def told(text: str) -> list[tuple[str, str]]:
    return sorted((one.rule, re.sub(r"line \d+", "line", one.message)) for one in review_page.read(text)[1])


@given(ANY, OURS)
def test_what_agentd_says_is_read_back_as_its_own_and_never_as_the_reviewers(
    document: CodeReview, ours: dict[str, Any]
) -> None:
    text = review_page.finished(review_page.render(document), **ours)
    found, findings = review_page.read(text)
    assert not findings
    assert theirs(text) == theirs(review_page.render(document))
    assert (found.tree, found.files) == (ours["tree"], ours["files"])
    said = [(found.evidence, ours["evidence"]), (found.decision, ours["decision"])]
    said += zip(found.remarks, [remark for remark in ours["remarks"] if remark.strip()], strict=True)
    assert all(now == (once if once.strip() else "") for now, once in said)


@given(BY_HAND, OURS)
def test_what_a_reviewer_wrote_by_hand_stays_and_is_read_the_same(text: str, ours: dict[str, Any]) -> None:
    done = review_page.finished(text, **ours)
    if told(text).count(("invalid_frontmatter", "the front matter has no closing '---'")):
        assert review_page.read(done)[0].verdict in (review_page.read(text)[0].verdict, None)
        return
    front = frontmatter.read(text)
    if outline(front.lines, front.first).unclosed:  # it gets its end, which is then one more line of the last text
        assert theirs(done).verdict == theirs(text).verdict
        assert len(theirs(done).issues) == len(theirs(text).issues)
        text = review_page.finished(done)
    assert (theirs(done), told(done)) == (theirs(text), told(text))
    assert review_page.finished(done, **ours) == done
    assert theirs(review_page.finished(done)) == theirs(text)
    if not any(rule == "invalid_frontmatter" for rule, _ in told(text)):
        assert (review_page.read(done)[0].tree, review_page.read(done)[0].files) == (ours["tree"], ours["files"])


@given(BY_HAND.filter(lambda text: added_sections.MARK not in text and not re.search(r"\r(?!\n)|&b", text)), OURS)
def test_what_a_reviewer_wrote_by_hand_stays_byte_for_byte(text: str, ours: dict[str, Any]) -> None:
    head, body = re.fullmatch(
        r"(\ufeff?(?:---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*\r?\n)?)(.*)", text, re.S | re.M
    ).groups()  # type: ignore[union-attr]
    done = review_page.finished(text, **ours)
    assert body in done
    for line in head.splitlines():
        assert line in done or line.startswith(("tree:", "files:"))
    if not any(ours.values()):
        assert done == text or "files" in head


@given(st.sampled_from(SNEAKY), st.sampled_from(SNEAKY), hand_edits())
def test_no_hand_edit_makes_what_agentd_says_the_reviewers_verdict(one: str, other: str, edit: Edit) -> None:
    document = CodeReview(
        *("x", "MAJOR_ISSUES", (), "s", None, None, "n"),
        evidence=f"{one}\n{other}",
        remarks=(one, other),
        decision=other,
    )
    assert review_page.read(edit(review_page.render(document)))[0].verdict in ("MAJOR_ISSUES", None)


def test_sections_that_a_reviewer_marked_as_agentds_are_replaced() -> None:
    text = "## Verdict\n\nAPPROVED\n\n## Evidence\n\n<!-- written by agentd -->\n\nAll green.\n\n## Next Steps\n\nGo.\n"
    done = review_page.finished(text, evidence="1 of 5 failed.", decision="not approved: the tests are red")
    assert "All green." not in done
    assert review_page.read(done)[0] == CodeReview(
        "", "APPROVED", next_steps="Go.", evidence="1 of 5 failed.", decision="not approved: the tests are red"
    )


def test_sections_of_the_reviewers_own_with_these_titles_stay_the_reviewers() -> None:
    text = "## Verdict\n\nAPPROVED\n\n## Evidence\n\nAll green.\n\n## Outcome\n\nMerge it.\n"
    assert review_page.read(text)[0] == CodeReview("", "APPROVED")
    done = review_page.finished(text, evidence="1 of 5 failed.")
    assert done == f"{text}\n## Evidence\n\n<!-- written by agentd -->\n\n1 of 5 failed.\n"
    assert review_page.read(done)[0].evidence == "1 of 5 failed."


def test_agentds_sections_follow_the_reviewers() -> None:
    remark = "The reviewer reported PASS with 5 passed; agentd saw 1 of 5 fail."
    document = CodeReview(
        "x", "APPROVED", next_steps="Go.", tree="4b82", files={"a.py": "0e"}, remarks=(remark, "b\n\nc")
    )
    document = replace(
        document, evidence="### Commands\n\n- `make test`: red", decision="not approved: the tests are red"
    )
    text = review_page.render(document)
    assert "files:\n  a.py: 0e\ntree: 4b82\n---\n" in text.replace('"', "")
    mark = "<!-- written by agentd -->"
    assert text.endswith(
        "## Next Steps\n\nGo.\n"
        f"\n## Outcome\n\n{mark}\n\nnot approved: the tests are red\n"
        f"\n## agentd's Remarks\n\n{mark}\n\n- {remark}\n- b\n\n  c\n"
        f"\n## Evidence\n\n{mark}\n\n### Commands\n\n- `make test`: red\n"
    )
    assert review_page.read(text) == (document, ())


def test_a_call_is_put_where_it_is_given_and_stays_where_it_is_not() -> None:
    text = review_page.finished("## Verdict\r\nAPPROVED", call="review-1.1", tree="4b82")
    assert text == '---\r\ncall: review-1.1\r\ntree: "4b82"\r\n---\r\n\r\n## Verdict\r\nAPPROVED'
    again = review_page.read(review_page.finished(text))[0]
    assert (again.call, again.tree, again.verdict) == ("review-1.1", "", "APPROVED")


def test_a_persons_own_review_is_read() -> None:
    text = (
        "# Review\n\n## Tests\n* Status: pass\n* Passed: **7**\n\n## Security\nStatus： clean\n\n"
        "## Issues\n\n### Medium\n\n#### 命名\n\n不清楚。\n\n### Low\n\nNone.\n\n## Verdict\n\nAPPROVED\n"
    )
    document, findings = review_page.read(text)
    assert not findings
    assert document == CodeReview(
        *("", "APPROVED", (Issue("Medium", "命名", "不清楚。"),), "", TestResults("PASS", passed=7), "CLEAN")
    )


def test_a_status_that_is_not_known_is_told_with_its_line() -> None:
    document, findings = review_page.read(
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
    _, findings = review_page.read(text)
    assert [(finding.rule, finding.line, finding.severity) for finding in findings] == [("invalid_review", 5, "High")]
    assert re.search(message, findings[0].message)
    assert bool(review_page.read(text.replace("APPROVED", "MAJOR_ISSUES"))[1]) == ("total" in message)


def test_a_file_that_ends_with_its_front_matter_is_told_on_its_last_line() -> None:
    assert [finding.line for finding in review_page.read("---\nchange_id: x\n---")[1]] == [3]


def test_front_matter_that_is_broken_is_told() -> None:
    _, findings = review_page.read("---\nfiles: [\n---\n## Verdict\nAPPROVED\n")
    assert [finding.rule for finding in findings] == ["invalid_frontmatter"]
