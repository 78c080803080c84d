"""Planning on a real terminal: a person answers with keys, looks on while agents work, stops, and takes it up again."""

import re
from contextlib import AbstractContextManager

import pytest

from agentd.families.change.documents import clarifications
from agentd.git import repository
from tests.crash.image import check_nobody_left
from tests.documents.valid import valid
from tests.plan.plans import QUESTIONS, SHORT, plan_of, steps
from tests.sandbox import AGENTD, CHANGE, IDEA, NO, YES, Sandbox, wait_until
from tests.terminal import Terminal, terminal

REVISION = "Proposal needs revision. What to do?"
CHOICES = ["Auto-fix and rechallenge (Recommended)", "Review manually", "Stop here"]
REVISED = {"append": {"run:specs/top-words.md": "\nTies come in alphabetical order.\n"}}


@pytest.fixture
def attended(sandbox: Sandbox) -> Sandbox:
    """A project whose person decides after each challenge; the first challenge always wants a revision."""
    sandbox.set("workflow", human_in_loop=True)
    questions = {"documents": {"questions.yaml": QUESTIONS}}
    sandbox.script(**plan_of("top-words") | {"draft_questions": questions, "challenge": [NO, YES], "revise": REVISED})
    return sandbox


def planning(sandbox: Sandbox, *words: str) -> AbstractContextManager[Terminal]:
    return terminal([*AGENTD, "plan", CHANGE, *words], sandbox.root, sandbox.env)


def options(screen: str, question: str) -> list[str]:
    """The answers that stand below a question."""
    lines = screen.split(question)[1].splitlines()[1:]
    return [line.strip(" »") for line in lines if line[:3].strip() in ("", "»") and line.strip()]


def pick(person: Terminal, question: str, answer: str = "", downs: int = 0) -> str:
    """Wait for a question, go down to an answer, and give it; the screen with the question is given back."""
    screen = person.wait_for(question)
    if downs:
        person.send(*["Down"] * downs)
        person.wait_for(f"» {answer}")
    person.send("Enter")
    return screen


@pytest.mark.requirement(25, 27, 128, 129, 132, 144, 146, 147, 149, 284)
def test_a_person_answers_with_keys_stops_and_takes_it_up_again(attended: Sandbox) -> None:
    script = plan_of("top-words")
    attended.script(propose={**script["propose"], "wait_for": "go"}, challenge=[NO, NO, YES])
    with planning(attended, SHORT) as person:
        pick(person, "[Ties] Q1: Which Ties?", "Ties two", downs=1)
        pick(person, "[Case] Q2: Which Case?", "Other…", downs=2)
        person.wait_for("In your own words:")
        person.type("größer, and it is said so")
        person.send("Enter")
        pick(person, "[Output] Q3: Which Output?")
        person.wait_for("In place")
        screen = pick(person, "? [Git Setup] Preferred Git workflow?")
        assert options(screen, "Preferred Git workflow?")[:3] == [
            "New branch (Recommended)",
            "New worktree",
            "In place",
        ]
        person.wait_for("propose  planner · scripted (scripted-small)")
        wait_until(lambda: re.search(r"\(scripted-small\)  [1-9]\d* s  cost unknown$", person.screen()))
        assert not person.cursor_is_shown()
        (attended.folder() / "go").touch()
        person.wait_for(CHOICES[-1])
        screen = pick(person, f"? [Next] {REVISION}", CHOICES[-1], downs=2)
        assert options(screen, REVISION)[:3] == CHOICES
        assert "About: proposal.md, tasks.md, specs/top-words.md, CHALLENGE.md" in screen
        assert person.code() == 0
        told = person.scrolled()
    assert f"You can continue manually later with: agentd reproposal {CHANGE}" in told
    for line in (
        "✅ proposal.md generated",
        "⚠️ NEEDS_REVISION - Found 1 HIGH, 0 MEDIUM, 0 LOW severity issues",
        "For HITL mode, we stop after first challenge",
    ):
        assert line in told
    assert "scripted (scripted-small)" not in told
    text = (attended.folder() / "clarifications.md").read_text()
    answers = [one.answer for one in valid(clarifications, text).questions]
    assert answers == ["Ties two", "größer, and it is said so", "Output one"]
    assert repository.current_branch(attended.root) == f"agentd/{CHANGE}"
    assert attended.state()["phase"] == "proposed"

    with planning(attended, SHORT) as person:
        person.wait_for(CHOICES[-1])
        pick(person, REVISION)
        assert person.code() == 0
        told = person.scrolled()
    assert "Which Ties?" not in told
    assert "Git workflow?" not in told
    assert "✅ APPROVED - Ready for implementation!" in told
    assert told.splitlines()[-1] == f"Next: agentd impl {CHANGE}"
    assert attended.state()["phase"] == "challenged"
    called = [step for step in steps(attended) if step in ("propose", "break_down", "challenge", "revise")]
    assert called == ["propose", "break_down", "challenge", "challenge", "revise", "challenge"]


def test_an_interrupted_agent_is_ended_and_the_same_command_goes_on(attended: Sandbox) -> None:
    tasks = plan_of("top-words")["break_down"]
    attended.script(break_down={**tasks, "hang": True, "after": "start"}, challenge=YES)
    words = (IDEA, "--git", "in-place")
    with planning(attended, *words) as person:
        person.wait_for("break_down  planner · scripted (scripted-small)")
        person.send("C-c")
        assert person.code() == 130
        told = person.screen()
        assert told.splitlines()[-1] == "Error: Interrupted; the same command goes on where it stopped."
        assert "scripted-small" not in told
        assert person.cursor_is_shown()
    check_nobody_left(attended.root)
    assert attended.run("status", CHANGE, "--json").data["doing"] == "interrupted"

    attended.script(break_down=tasks)
    with planning(attended, *words) as person:
        assert person.code() == 0
        told = person.scrolled()
    assert "✅ tasks.md generated" in told
    assert "proposal.md generated" not in told
    assert attended.calls() == ["break_down-1.1", "break_down-1.2", "challenge-1.1", "propose-1.1", "write_spec-1.1"]


@pytest.mark.requirement(148, 292)
def test_reviewing_manually_shows_the_issues_and_offers_help(attended: Sandbox) -> None:
    with planning(attended, IDEA, "--git", "in-place") as person:
        person.wait_for(CHOICES[-1])
        pick(person, REVISION, CHOICES[1], downs=1)
        screen = person.wait_for("Fix manually, then: agentd plan")
        issues, question = screen.split(REVISION)[-1].split("[Next] Fix manually or let me help?")
        assert "I1 Severity: High [new] Ties (top-words:R1)" in issues
        assert "Description: Ties." in issues
        assert "Let me help: auto-fix and rechallenge (Recommended)" in question
        person.send("Enter")
        assert person.code() == 0
        assert "✅ APPROVED - Ready for implementation!" in person.scrolled()
    assert [one["answer"] for one in attended.state()["user_decisions"]] == ["manual", "help"]


@pytest.mark.requirement(292)
def test_a_plan_to_be_fixed_by_hand_is_left_and_challenged_again_later(attended: Sandbox) -> None:
    with planning(attended, IDEA, "--git", "in-place") as person:
        person.wait_for(CHOICES[-1])
        pick(person, REVISION, CHOICES[1], downs=1)
        person.wait_for("Fix manually, then: agentd plan")
        pick(person, "Fix manually or let me help?", "Fix manually, then: agentd plan", downs=1)
        assert person.code() == 0
    spec = attended.folder() / "specs" / "top-words.md"
    spec.write_text(spec.read_text() + "\nTies come in alphabetical order.\n")
    with planning(attended) as person:
        assert person.code() == 0
    assert not any(call.startswith("revise") for call in attended.calls())
    assert attended.state()["phase"] == "challenged"


def test_a_question_that_is_left_stays_open_and_is_put_again(attended: Sandbox) -> None:
    with planning(attended, IDEA, "--git", "in-place") as person:
        person.wait_for(CHOICES[-1])
        person.send("C-c")
        assert person.code() == 4
        assert "Left open." in person.screen()
    assert attended.run("status", CHANGE, "--json").data["doing"] == "waiting"
    with planning(attended) as person:
        person.wait_for(CHOICES[-1])
        pick(person, REVISION)
        assert person.code() == 0
    assert [(one["decision_id"], one["answer"]) for one in attended.state()["user_decisions"]] == [("UD-1", "fix")]
