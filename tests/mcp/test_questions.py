"""Questions that a planner drafts for the person: three to five, each with a few answers to choose from."""

from typing import Any

import pytest

from agentd.families.change.documents import question_drafts
from agentd.model.change import Draft
from tests.mcp import samples
from tests.mcp.bench import Bench, said
from tests.mcp.test_documents import changed, refused

ONE = samples.QUESTIONS["questions"][1]


@pytest.mark.requirement(25)
@pytest.mark.parametrize("many", [3, 4, 5])
def test_three_to_five_questions_are_kept_as_they_were_drafted(bench: Bench, many: int) -> None:
    bench.begin("draft_questions", ("draft_questions",))
    sent = {**samples.QUESTIONS, "questions": [*samples.QUESTIONS["questions"], ONE, ONE][:many]}
    result = bench.call_tool("draft_questions", sent)
    assert not result.is_error, said(result)
    assert f"questions.yaml with {many} questions" in said(result)
    drafts, problem = question_drafts.read(bench.text("questions.yaml"))
    assert problem == ""
    assert drafts == tuple(
        Draft(one["topic"], one["question"], tuple(one["options"]), one.get("rationale", ""))
        for one in sent["questions"]
    )
    assert bench.text("questions.yaml").startswith(f"change: {samples.CHANGE}\n")


def test_drafting_again_replaces_what_is_there(bench: Bench) -> None:
    assert not bench.call_tool("draft_questions", samples.QUESTIONS).is_error
    other = changed(samples.QUESTIONS, "questions", 0, "topic", value="Login")
    assert not bench.call_tool("draft_questions", other).is_error
    assert [draft.topic for draft in question_drafts.read(bench.text("questions.yaml"))[0]] == [
        "Login",
        "セッション",
        "Accounts",
    ]


@pytest.mark.requirement(25)
@pytest.mark.parametrize(
    ("way", "value"),
    [
        (("questions",), []),
        (("questions",), [ONE]),
        (("questions",), [ONE, ONE]),
        (("questions",), [ONE] * 6),
        (("questions", 0, "topic"), ""),
        (("questions", 0, "topic"), "x" * 61),
        (("questions", 0, "topic"), "two\nlines"),
        (("questions", 0, "topic"), None),
        (("questions", 0, "question"), " "),
        (("questions", 0, "question"), None),
        (("questions", 0, "options"), None),
        (("questions", 0, "options"), ["only one"]),
        (("questions", 0, "options"), ["a", "b", "c", "d", "e"]),
        (("questions", 0, "options"), ["a", "a"]),
        (("questions", 0, "options"), ["a", ""]),
        (("questions", 0, "options"), ["a", "two\nlines"]),
        (("questions", 0, "options"), ["a", "x" * 201]),
        (("questions", 0, "answer"), "yes"),
        (("change_id",), "other"),
    ],
)
def test_questions_that_do_not_fit_are_refused_and_nothing_is_written(
    bench: Bench, way: tuple[str | int, ...], value: Any
) -> None:
    refused(bench, "draft_questions", changed(samples.QUESTIONS, *way, value=value))
    assert not (bench.folder / "questions.yaml").exists()
