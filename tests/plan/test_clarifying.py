"""Clarification: asked for where it is wanted, never twice, and what was answered is what the planner reads."""

from typing import Any

import pytest
import yaml

from agentd.families.change.documents import clarifications
from tests.documents.valid import valid
from tests.plan.plans import QUESTIONS, SHORT, answered, read_lines, spied, steps, told
from tests.sandbox import CHANGE, YES, Sandbox

DRAFTED = {"draft_questions": {"documents": {"questions.yaml": QUESTIONS}}}
FORTY = " ".join(f"word{number}" for number in range(40))
BY_HAND = """---
change: add-top-words
date: 2026-01-19
---

# Clarifications

## Q1: Ties

- **Question**: In which order?
- **Answer**: By the alphabet
- **Rationale**: I said so
"""


@pytest.fixture
def asked(sandbox: Sandbox) -> Sandbox:
    """A sandbox whose planner has questions and whose challenger is content."""
    sandbox.set("workflow", human_in_loop=True)
    sandbox.script(challenge=YES, **DRAFTED)
    return sandbox


def clarify(sandbox: Sandbox, *said: Any, **more: Any) -> tuple[str, str]:
    return answered(sandbox, **{"clarification": list(said), "git_setup": "in_place", **more})


@pytest.mark.requirement(23)
def test_a_short_description_with_nobody_to_ask_is_refused_with_help(sandbox: Sandbox) -> None:
    refused = sandbox.run("plan", CHANGE, SHORT)
    assert refused.code == 1
    for help_text in ("clarifications.md", "40 words", "3 points", "@notes.md"):
        assert help_text in refused.err
    assert "--answers FILE" in refused.err
    assert f"Fix:   agentd plan {CHANGE} '{SHORT}' --skip-clarify" in refused.err
    assert not sandbox.folder().exists()
    assert sandbox.run("plan", CHANGE, SHORT, "--json").data["error"] == "ClarificationNeeded"


@pytest.mark.requirement(24, 26)
def test_the_flag_goes_without_clarification(asked: Sandbox) -> None:
    ran = asked.run("plan", CHANGE, SHORT, "--skip-clarify", *clarify(asked))
    assert ran.code == 0, ran.out + ran.err
    assert "draft_questions-1.1" not in asked.calls()
    assert not (asked.folder() / "clarifications.md").exists()
    assert asked.state()["clarification"] == "skipped: --skip-clarify"


@pytest.mark.requirement(26)
@pytest.mark.parametrize("description", [FORTY, "Do:\n- a\n- b\n- c", "1. a\n2. b\n3) c", "@notes.md", "字" * 80])
def test_a_detailed_description_is_not_asked_about(asked: Sandbox, description: str) -> None:
    (asked.root / "notes.md").write_text("Short, but written down.\n")
    asked.script(propose={"fail": "error"})
    asked.run("plan", CHANGE, description, *clarify(asked, "a", "b", "c"))
    assert asked.calls() == ["propose-1.1"]
    said = "Short, but written down." if description.startswith("@") else description
    assert asked.state()["description"] == said


@pytest.mark.requirement(26)
@pytest.mark.parametrize("description", [FORTY.rpartition(" ")[0], "Do:\n- a\n- b"])
def test_a_description_that_is_not_quite_detailed_is_asked_about(asked: Sandbox, description: str) -> None:
    asked.script(propose={"fail": "error"})
    asked.run("plan", CHANGE, description, *clarify(asked, "a", "b", "c"))
    assert asked.calls() == ["draft_questions-1.1", "propose-1.1"]


@pytest.mark.requirement(16, 25, 123)
def test_answers_become_clarifications_that_the_planner_reads(asked: Sandbox) -> None:
    spy = spied(asked)
    said = ("Ties two", 1, {"value": "Only as text", "note": "the shell does the rest"})
    ran = asked.run("plan", CHANGE, SHORT, *clarify(asked, *said))
    assert ran.code == 0, ran.out + ran.err
    text = (asked.folder() / "clarifications.md").read_text()
    found = valid(clarifications, text)
    assert found.change == CHANGE
    assert str(found.date) == asked.state()["created_at"][:10]
    assert [(one.topic, one.question, one.answer, one.rationale) for one in found.questions] == [
        ("Ties", "Which Ties?", "Ties two", "answered by answers.yaml"),
        ("Case", "Which Case?", "Case one", "answered by answers.yaml"),
        ("Output", "Which Output?", "Only as text", "the shell does the rest"),
    ]
    made = [step for step in steps(asked, "end") if step in ("draft_questions", "clarify", "write_answers", "propose")]
    assert made == ["draft_questions", "clarify", "write_answers", "propose"]
    (job,) = spy.of("propose")
    assert f"clarifications.md: {asked.folder()}/clarifications.md\n" in job["prompt"]
    assert "- **Answer**: Only as text" in (asked.folder() / "GEMINI.md").read_text()


@pytest.mark.requirement(25)
def test_questions_come_one_after_the_other_with_the_recommended_answer_first(asked: Sandbox) -> None:
    ran = asked.run("plan", CHANGE, SHORT, "--json", *clarify(asked))
    assert ran.code == 4
    questions = ran.data["decisions"]
    assert [(one["header"], one["question"]) for one in questions] == [
        ("Ties", "Q1: Which Ties?"),
        ("Case", "Q2: Which Case?"),
        ("Output", "Q3: Which Output?"),
    ]
    assert [option["label"] for option in questions[0]["options"]] == ["Ties one (Recommended)", "Ties two"]
    assert asked.calls() == ["draft_questions-1.1"]


@pytest.mark.requirement(25, 27)
def test_questions_left_open_are_answered_later_and_drafted_once(asked: Sandbox) -> None:
    first = asked.run("plan", CHANGE, SHORT, "--json", *clarify(asked, "Ties one"))
    assert first.code == 4
    assert [one["decision_id"] for one in first.data["decisions"]] == ["UD-Q2-1", "UD-Q3-1"]
    for number, words in ((2, "in my own words"), (3, "Output two")):
        assert asked.run("answer", CHANGE, f"UD-Q{number}-1", words).code == 0
    assert asked.run("plan", CHANGE).code == 0
    found = valid(clarifications, (asked.folder() / "clarifications.md").read_text())
    assert [one.answer for one in found.questions] == ["Ties one", "in my own words", "Output two"]
    assert asked.calls().count("draft_questions-1.1") == 1
    assert "draft_questions-2.1" not in asked.calls()


@pytest.mark.requirement(25)
@pytest.mark.parametrize("many", [0, 2, 6])
def test_the_tool_takes_no_fewer_than_three_and_no_more_than_five_questions(asked: Sandbox, many: int) -> None:
    one = {"topic": "Ties", "question": "In which order?", "options": ["a", "b"]}
    sent = {"draft_questions": {"change_id": "{{run}}", "questions": [one] * many}}
    good = {"draft_questions": {"change_id": "{{run}}", "questions": [one] * 3}}
    asked.script(draft_questions={"tools": [{**sent, "expect_error": True}, good]})
    ran = asked.run("plan", CHANGE, SHORT, "--json", *clarify(asked))
    assert ran.code == 4, ran.out
    assert len(ran.data["decisions"]) == 3


@pytest.mark.requirement(25)
@pytest.mark.parametrize("many", [1, 2, 6, 9])
def test_a_file_with_any_other_number_of_questions_is_never_put_to_a_person(asked: Sandbox, many: int) -> None:
    data = {"change": CHANGE, "questions": [{"topic": "T", "question": f"Question {n}?"} for n in range(many)]}
    asked.script(draft_questions={"documents": {"questions.yaml": yaml.safe_dump(data)}})
    ran = asked.run("plan", CHANGE, SHORT, "--json", *clarify(asked, "a", "b", "c"))
    assert ran.code == 1
    assert f"{many} questions" in ran.out
    assert not (asked.folder() / "children").exists()
    assert asked.calls() == ["draft_questions-1.1"]


@pytest.mark.requirement(16, 29)
def test_clarifications_written_by_hand_are_neither_in_the_way_nor_asked_for_again(sandbox: Sandbox) -> None:
    spy = spied(sandbox)
    sandbox.script(challenge=YES, **DRAFTED)
    folder = sandbox.root / "agentd" / "changes" / CHANGE
    folder.mkdir(parents=True)
    (folder / "clarifications.md").write_text(BY_HAND)
    ran = sandbox.run("plan", CHANGE, SHORT, "--json")
    assert ran.code == 0, ran.out
    assert ran.data["resolved_change_id"] == CHANGE
    assert not spy.of("draft_questions")
    assert (folder / "clarifications.md").read_text() == BY_HAND
    assert f"{folder}/clarifications.md" in spy.of("propose")[0]["prompt"]
    assert "- **Answer**: By the alphabet" in (folder / "GEMINI.md").read_text()


@pytest.mark.requirement(16)
def test_without_clarifications_the_planner_is_told_that_there_are_none(sandbox: Sandbox) -> None:
    spy = spied(sandbox)
    sandbox.script(propose={"fail": "error"})
    sandbox.plan()
    assert "clarifications.md: (there are none)\n" in spy.of("propose")[0]["prompt"]
    assert "Nothing was clarified." in (sandbox.folder() / "GEMINI.md").read_text()


@pytest.mark.requirement(27)
def test_an_existing_change_is_never_asked_again(asked: Sandbox) -> None:
    script = yaml.safe_load((asked.root / "agentd" / "demo.yaml").read_text())
    asked.script(propose=[{"fail": "error"}, script["propose"]])
    assert asked.run("plan", CHANGE, SHORT, *clarify(asked, "a", "b", "c")).code == 1
    kept = (asked.folder() / "clarifications.md").read_bytes()
    ran = asked.run("plan", CHANGE, SHORT, *clarify(asked, "d", "e", "f"))
    assert ran.code == 0, ran.out + ran.err
    assert (asked.folder() / "clarifications.md").read_bytes() == kept
    assert [call for call in asked.calls() if call.startswith("draft")] == ["draft_questions-1.1"]
    # Neither is one whose clarifications are gone, or that was begun without any.
    (asked.folder() / "clarifications.md").unlink()
    asked.edit_state("phase: challenged", "phase: proposed")
    asked.script(challenge=YES)
    before = asked.calls()
    assert asked.run("plan", CHANGE, SHORT, *clarify(asked, "g", "h", "i")).code == 0
    assert [call for call in asked.calls() if call not in before] == ["challenge-2.1"]
    assert not (asked.folder() / "clarifications.md").exists()


@pytest.mark.requirement(24)
def test_a_change_begun_without_clarification_is_not_asked_later(asked: Sandbox) -> None:
    asked.script(propose={"fail": "error"})
    asked.run("plan", CHANGE, SHORT, "--skip-clarify")
    asked.run("plan", CHANGE, *clarify(asked, "a", "b", "c"))
    assert asked.calls() == ["propose-1.1", "propose-2.1"]


@pytest.mark.requirement(125)
def test_the_planner_that_asks_has_its_context_too(asked: Sandbox) -> None:
    script, path = told(asked, DRAFTED)
    asked.script(**script)
    asked.run("plan", CHANGE, SHORT, *clarify(asked))
    (seen,) = read_lines(path)
    assert seen["GEMINI_CONTEXT_FILE"] == f"agentd/changes/{CHANGE}/GEMINI.md"
