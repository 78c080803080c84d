"""questions.yaml both ways: what was drafted is what is asked, and what cannot be asked is told in a sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.families.change.documents import question_drafts
from agentd.model.change import Draft
from agentd.text import lossless_yaml

TEXTS = st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from("\n\t"), min_size=1)
TEXTS = (TEXTS | st.sampled_from(["on", "123", "null", "- x", "a: b", "# x", "'", '"', "|", "", "~"])).filter(str.strip)
DRAFTS = st.builds(
    Draft, TEXTS, TEXTS, st.lists(TEXTS, max_size=4, unique=True).map(tuple), st.just("") | TEXTS
)  # fmt: skip
GOOD = (
    Draft("Providers", "Which providers?", ("GitHub and Google", "GitHub"), "It decides the button."),
    Draft("セッション", "How long?"),
)


@given(st.lists(DRAFTS, min_size=1, max_size=5).map(tuple))
def test_what_is_written_reads_back(drafts: tuple[Draft, ...]) -> None:
    assert question_drafts.read(question_drafts.render("add-oauth", drafts)) == (drafts, "")


def test_the_file_is_plain_to_a_person() -> None:
    text = question_drafts.render("add-oauth", GOOD)
    assert text == (
        "change: add-oauth\nquestions:\n  - topic: Providers\n    question: Which providers?\n    options:\n"
        "      - GitHub and Google\n      - GitHub\n    rationale: It decides the button.\n"
        "  - topic: セッション\n    question: How long?\n"
    )
    assert lossless_yaml.load(text)["questions"][0]["options"] == ["GitHub and Google", "GitHub"]


def test_a_hand_edit_is_read() -> None:
    text = "# mine\nchange: x\nquestions:\n- {topic: Ties, question: 'Which order?', options: [by name, by time]}\n"
    assert question_drafts.read(text) == ((Draft("Ties", "Which order?", ("by name", "by time")),), "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1: the file is empty"),
        ("a: [", "line 2: "),
        ("change: x\n", "'questions' is not a list of questions"),
        ("questions: []\n", "'questions' is not a list of questions"),
        ("questions: what?\n", "'questions' is not a list of questions"),
        ("questions:\n- what?\n", "question 1 has no topic and no question"),
        ("questions:\n- topic: a\n", "question 1 has no question"),
        ("questions:\n- question: a\n", "question 1 has no topic"),
        ("questions:\n- topic: a\n  question: '  '\n", "question 1 has no question"),
        ("questions:\n- topic: a\n  question: 7\n", "the question of question 1 is not text"),
        ("questions:\n- topic: a\n  question: b\n  rationale: [c]\n", "the rationale of question 1 is not text"),
        ("questions:\n- topic: a\n  question: b\n  options: c\n", "the options of question 1 are not a list of texts"),
        (
            "questions:\n- topic: a\n  question: b\n  options: [1]\n",
            "the options of question 1 are not a list of texts",
        ),
        ("questions:\n- topic: a\n  question: b\n  options: [c, c]\n", "question 1 has the same option twice"),
        ("questions:\n" + "- {topic: a, question: b}\n" * 6, "6 questions are more than the 5 that may be asked"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(text: str, problem: str) -> None:
    assert question_drafts.read(text)[1].startswith(problem)


def test_one_bad_question_hides_none_of_the_others() -> None:
    text = "questions:\n- topic: a\n- topic: b\n  question: c\n"
    assert question_drafts.read(text) == ((Draft("b", "c"),), "question 1 has no question")


@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    drafts, problem = question_drafts.read(text)
    assert drafts or problem


@pytest.mark.parametrize(
    "draft", [Draft("", "b"), Draft("a", " "), Draft("a", "b", ("c", "c")), Draft("a", "b", ("",))]
)
def test_what_cannot_be_asked_is_not_written(draft: Draft) -> None:
    with pytest.raises(ValueError, match="question 2"):
        question_drafts.render("x", (GOOD[0], draft))
