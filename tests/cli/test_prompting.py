"""The questions on a real terminal: keys choose, words are taken where they are wanted, leaving leaves it open."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from agentd.model.decision import Answer, Decision, Option
from tests.sandbox import wait_until
from tests.terminal import Terminal, terminal

ASK = """
import os, pathlib, sys, time
from agentd.cli.driving import at_the_terminal
from agentd.model.decision import Answer, Decision, Option

for number, decision in enumerate({decisions}):
    print("before the question", flush=True)
    while not os.path.exists("go"):
        time.sleep(0.01)
    pathlib.Path(f"answer-{{number}}").write_text(repr(at_the_terminal(decision)) + "\\n")
"""
GIT = Decision(
    "UD-1",
    "Preferred Git workflow?",
    (
        Option("branch", "New branch (Recommended)", "git checkout -b agentd/greet"),
        Option("worktree", "New worktree"),
        Option("in_place", "In place"),
    ),
    "git_setup",
    "2026-01-19T00:00:00Z",
    name="git_setup",
    header="Git Setup",
)
STEER = replace(
    GIT,
    id="UD-2",
    question="Proposal needs revision. What to do?",
    header="Next",
    options=(Option("fix", "Auto-fix (Recommended)"), Option("accept", "Accept it as it is", reason=True)),
)
OPEN = replace(GIT, id="UD-3", question="Which database?", header="", free=True)


@contextmanager
def asking(folder: Path, *decisions: Decision, at_once: bool = True) -> Iterator[Terminal]:
    """A program that puts the decisions to the person, one after the other."""
    (folder / "ask.py").write_text(ASK.format(decisions=repr(decisions)))
    if at_once:
        (folder / "go").touch()
    with terminal((sys.executable, "-X", "utf8", str(folder / "ask.py")), folder) as person:
        yield person


def answered(folder: Path, number: int = 0) -> Answer | None:
    """What the person's keys came to."""
    path = folder / f"answer-{number}"
    wait_until(lambda: path.exists() and path.read_text().endswith("\n"))
    found = eval(path.read_text(), {"Answer": Answer})
    assert found is None or isinstance(found, Answer)
    return found


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("Enter",), "branch"),
        (("Down", "Enter"), "worktree"),
        (("Down", "Down", "Enter"), "in_place"),
        (("Up", "Enter"), "in_place"),
        (("Down", "Up", "Enter"), "branch"),
    ],
)
def test_arrow_keys_choose_and_enter_answers(tmp_path: Path, keys: tuple[str, ...], value: str) -> None:
    with asking(tmp_path, GIT) as person:
        screen = person.wait_for("In place")
        question, *options = screen.splitlines()[1:]
        assert question.startswith("? [Git Setup] Preferred Git workflow?")
        assert [line.strip(" »") for line in options[:3]] == ["New branch (Recommended)", "New worktree", "In place"]
        assert options[0].startswith(" »")
        assert "git checkout -b agentd/greet" in screen
        assert "Other…" not in screen
        person.send(*keys)
        assert answered(tmp_path) == Answer("UD-1", value)


def test_other_takes_words_of_ones_own(tmp_path: Path) -> None:
    with asking(tmp_path, OPEN) as person:
        assert "? Which database?" in person.wait_for("Other…")
        person.send("Up", "Enter")
        person.wait_for("In your own words:")
        person.type("SQLite, and größer later")
        person.send("Enter")
        assert answered(tmp_path) == Answer("UD-3", "SQLite, and größer later")


def test_a_question_without_options_asks_for_words_at_once(tmp_path: Path) -> None:
    with asking(tmp_path, replace(OPEN, options=())) as person:
        person.wait_for("? Which database?")
        person.type("none")
        person.send("Enter")
        assert answered(tmp_path) == Answer("UD-3", "none")


@pytest.mark.parametrize("nothing", ["", "   "])
def test_a_reason_is_asked_for_and_must_say_something(tmp_path: Path, nothing: str) -> None:
    with asking(tmp_path, STEER) as person:
        person.wait_for("Accept it as it is")
        person.send("Down", "Enter")
        person.wait_for("Why? (kept with the decision)")
        person.type(nothing)
        person.send("Enter")
        person.wait_for("A few words are needed here.")
        assert not (tmp_path / "answer-0").exists()
        person.type("the customer waits")
        person.send("Enter")
        assert answered(tmp_path) == Answer("UD-2", "accept", note="the customer waits")


def test_an_option_without_a_reason_asks_for_none(tmp_path: Path) -> None:
    with asking(tmp_path, STEER) as person:
        person.wait_for("Accept it as it is")
        person.send("Enter")
        assert answered(tmp_path) == Answer("UD-2", "fix")


def test_an_option_named_in_ones_own_words_wants_its_reason_too(tmp_path: Path) -> None:
    with asking(tmp_path, replace(STEER, free=True)) as person:
        person.wait_for("Other…")
        person.send("Up", "Enter")
        person.wait_for("In your own words:")
        person.type("Accept")
        person.send("Enter")
        person.wait_for("Why? (kept with the decision)")
        person.type("it is late")
        person.send("Enter")
        assert answered(tmp_path) == Answer("UD-2", "Accept", note="it is late")


@pytest.mark.parametrize("key", ["C-c", "C-d"])
def test_leaving_a_question_leaves_it_open(tmp_path: Path, key: str) -> None:
    with asking(tmp_path, GIT) as person:
        person.wait_for("In place")
        person.send(key)
        assert answered(tmp_path) is None
        assert person.code() == 0
        assert "Left open." in person.screen()


@pytest.mark.parametrize("key", ["C-c", "C-d"])
def test_leaving_where_words_are_asked_for_leaves_it_open(tmp_path: Path, key: str) -> None:
    with asking(tmp_path, STEER, OPEN) as person:
        person.wait_for("Accept it as it is")
        person.send("Down", "Enter")
        person.wait_for("Why?")
        person.send(key)
        assert answered(tmp_path, 0) is None
        person.wait_for("Other…")
        person.send("Up", "Enter")
        person.wait_for("In your own words:")
        person.send(key)
        assert answered(tmp_path, 1) is None


def test_keys_from_before_the_question_do_not_answer_it(tmp_path: Path) -> None:
    with asking(tmp_path, GIT, at_once=False) as person:
        person.wait_for("before the question")
        person.send("Enter", "Enter", "Down", "Enter")
        wait_until(lambda: person.screen().count("\n") >= 2)
        (tmp_path / "go").touch()
        person.wait_for("In place")
        person.send("Down")
        person.wait_for("» New worktree")
        assert not (tmp_path / "answer-0").exists()
        person.send("Enter")
        assert answered(tmp_path) == Answer("UD-1", "worktree")


def test_one_enter_too_many_does_not_answer_the_next_question(tmp_path: Path) -> None:
    with asking(tmp_path, GIT, STEER) as person:
        person.wait_for("In place")
        person.send("Enter", "Enter")
        assert answered(tmp_path, 0) == Answer("UD-1", "branch")
        person.wait_for("Accept it as it is")
        person.send("Down")
        person.wait_for("» Accept it as it is")
        assert not (tmp_path / "answer-1").exists()


def test_what_a_question_is_about_is_listed_up_to_a_length(tmp_path: Path) -> None:
    few = replace(GIT, shown={"proposal.md": "x", "tasks.md": "x"})
    many = replace(GIT, shown={f"specs/{number}.md": "x" for number in range(11)})
    with asking(tmp_path, few, many) as person:
        assert "About: proposal.md, tasks.md\n" in person.wait_for("In place")
        person.send("Enter")
        listed = ", ".join(f"specs/{number}.md" for number in range(8))
        assert f"About: {listed} and 3 more" in person.wait_for("more").replace("\n", "")


def test_a_question_an_agent_wrote_cannot_steer_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b[2J\x1b]0;owned\x07"
    asked = replace(
        GIT, question=f"{evil}Really?", header=f"{evil}H", options=(Option("yes", f"{evil}Yes"), Option("no", "No"))
    )
    with asking(tmp_path, asked) as person:
        screen = person.wait_for("No")
        assert "before the question" in screen
        assert "Really?" in screen
        assert "\x1b" not in screen
        person.send("Enter")
        assert answered(tmp_path) == Answer("UD-1", "yes")


def test_a_question_longer_than_the_screen_is_wide_is_shown_in_full(tmp_path: Path) -> None:
    long = " ".join(f"word{number}" for number in range(40)) + "?"
    with asking(tmp_path, replace(GIT, question=long)) as person:
        screen = person.wait_for("In place")
        assert "word39?" in screen.replace("\n", "")
