"""clarifications.md: what is written reads back, what people do to it is read or refused with its line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.families.change.documents import clarifications
from agentd.model.change import Clarifications, Question
from tests.documents.hand_edits import Edit, hand_edits, names, nasty_lines, nasty_texts, plain_texts

WRITTEN = """\
---
change: add-oauth
date: 2026-01-02
---

# Clarifications

## Q1: Provider

- **Question**: Which provider?
- **Answer**: The company's own
- **Rationale**: It is there

## Q2: Sessions

- **Question**: How long?
- **Answer**: A day
- **Rationale**:
"""
VALUE = Clarifications(
    "add-oauth",
    "2026-01-02",
    (
        Question("Provider", "Which provider?", "The company's own", "It is there"),
        Question("Sessions", "How long?", "A day"),
    ),
)


def normal(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def documents(texts: st.SearchStrategy[str], lines: st.SearchStrategy[str]) -> st.SearchStrategy[Clarifications]:
    texts = texts.map(normal)
    question = st.builds(Question, lines, texts, texts, texts | st.just(""))
    return st.builds(
        Clarifications, names(21), st.dates().map(str), st.lists(question, min_size=1, max_size=3).map(tuple)
    )


NASTY = documents(nasty_texts(), nasty_lines().map(lambda line: line.replace("\r", " ")))
PLAIN = documents(plain_texts(), plain_texts())


@given(NASTY)
def test_what_is_written_reads_back_and_nothing_is_wrong_with_it(document: Clarifications) -> None:
    text = clarifications.render(document)
    assert clarifications.read(text) == (document, ())


@given(PLAIN, hand_edits(keeps=True))
def test_edits_that_mean_nothing_change_nothing(document: Clarifications, edit: Edit) -> None:
    value, findings = clarifications.read(edit(clarifications.render(document)))
    assert value
    assert sorted(value.questions, key=str) == sorted(document.questions, key=str)
    assert (value.change, value.date, findings) == (document.change, document.date, ())


@given(NASTY, hand_edits())
def test_an_edit_is_read_or_refused_with_a_line_of_the_file(document: Clarifications, edit: Edit) -> None:
    text = edit(clarifications.render(document))
    _, findings = clarifications.read(text)
    count = len(normal(text).split("\n"))
    assert all(1 <= finding.line <= count and finding.message for finding in findings)


@given(NASTY, hand_edits())
def test_tidying_changes_the_form_alone_and_only_once(document: Clarifications, edit: Edit) -> None:
    text = edit(clarifications.render(document))
    tidied = clarifications.tidy(text)
    value, findings = clarifications.read(tidied)
    before, problems = clarifications.read(text)
    assert clarifications.tidy(tidied) == tidied
    assert value == before
    assert {finding.rule for finding in findings} <= {finding.rule for finding in problems} - {"untidy"}


def test_the_file_has_a_section_for_each_question() -> None:
    assert clarifications.render(VALUE) == WRITTEN


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("## Q1: Provider", "## Q1：Provider"),
        ("## Q1: Provider", "## q1 - Provider"),
        ("## Q1: Provider", "## Question 1: Provider ##"),
        ("- **Question**: Which", "* Question： Which"),
        ("- **Question**: Which", "**Question:** Which"),
        ("- **Question**: Which provider?", "__Question__:\n\nWhich provider?"),
        (
            "- **Answer**: The company's own\n- **Rationale**: It is there",
            "- RATIONALE: It is there\n- answer: The company's own",
        ),
        ("The company's own\n", "The company's own\n- **Note**: not of interest\n"),
        ("# Clarifications\n", "# What we asked\n\nSome words.\n\n## Notes\n\n- **Question**: none\n\n"),
        ("date: 2026-01-02", "date: '2026-01-02'   # a Friday\nby: me"),
    ],
)
def test_people_write_it_their_own_way(old: str, new: str) -> None:
    assert old in WRITTEN
    assert clarifications.read(WRITTEN.replace(old, new)) == (VALUE, ())


def test_an_answer_may_go_on_in_paragraphs_lists_and_code() -> None:
    answer = "Two:\n\n- one\n- two\n\n```sh\n# not a heading\n- **Answer**: nor this\n```\n\nThat is all."
    indented = answer.replace("\n", "\n  ").replace("\n  \n", "\n\n")
    value, findings = clarifications.read(WRITTEN.replace("The company's own", indented))
    assert value
    assert value.questions[0].answer == answer
    assert not findings
    value, findings = clarifications.read(WRITTEN.replace("- **Answer**: The company's own", f"**Answer**: {answer}"))
    assert value
    assert value.questions[0].answer == answer
    assert not findings


@pytest.mark.parametrize(
    ("old", "new", "rule", "line"),
    [
        (WRITTEN[: WRITTEN.index("# Clar")], "", "missing_frontmatter", 1),
        ("change: add-oauth", "change: a: b", "invalid_frontmatter", 2),
        ("change: add-oauth", "changes: add-oauth", "invalid_frontmatter", 1),
        ("change: add-oauth", "# so\nchange: Add OAuth", "invalid_frontmatter", 3),
        ("- **Answer**: A day\n", "", "invalid_value", 14),
        ("- **Answer**: A day", "- **Answer**:", "invalid_value", 17),
        ("- **Question**: How long?\n", "", "invalid_value", 14),
        ("A day", "A day\n- **Answer**: Two days", "invalid_value", 18),
        ("## Q", "### Q", "untidy", 8),
        (WRITTEN[WRITTEN.index("## Q1") :], "Nothing was asked.\n", "missing_heading", 8),
    ],
)
def test_each_problem_is_found_on_its_line(old: str, new: str, rule: str, line: int) -> None:
    assert old in WRITTEN
    _, findings = clarifications.read(WRITTEN.replace(old, new))
    assert [(each.rule, each.line) for each in findings][:1] == [(rule, line)]
    assert all(each.fix for each in findings if each.rule != "invalid_frontmatter")


def test_a_question_without_an_answer_is_told_with_its_line() -> None:
    (found,) = clarifications.read(WRITTEN.replace("- **Answer**: A day\n", ""))[1]
    assert (found.severity, found.line, found.message) == ("High", 14, "'Q2: Sessions' has no answer")


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (Clarifications("Add OAuth", "", VALUE.questions), "Add OAuth"),
        (Clarifications("../x", "", VALUE.questions), "lower-case"),
        (Clarifications("a", "", ()), "at least one"),
        (Clarifications("a", "", (Question("t", "why", " \n"),)), "Question 1 needs both"),
        (Clarifications("a", "", (Question("two\nlines", "why", "so"),)), "topic of question 1 must be one line"),
    ],
)
def test_what_cannot_be_written_is_refused_in_words_to_act_on(document: Clarifications, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        clarifications.render(document)


def test_tidying_keeps_the_bytes_of_everything_else() -> None:
    text = "\ufeff" + WRITTEN.replace("## Q1: Provider\n\n", "### Q1: Provider  \n").replace("## Q2", "### Q2")
    text = text.replace("- **Rationale**: It is there\n", "- **Rationale**: It is there\t\n\n```\ncode  \n```\n")
    text = text.replace("\n", "\r\n")
    assert clarifications.tidy(text) == text.replace("### Q1: Provider  ", "## Q1: Provider\r\n").replace(
        "###", "##"
    ).replace("there\t", "there")
