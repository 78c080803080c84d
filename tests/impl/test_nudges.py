"""Implementers and reviewers that talk instead of working: they are reminded, and the change goes on by itself."""

from typing import Any

import pytest

from tests.impl.coding import APPROVED, HONEST, called, tasks
from tests.plan.plans import spied
from tests.sandbox import CHANGE, Sandbox

ASKS: dict[str, Any] = {"say": "Which of the two should I begin with?", "tools": [], "session": "s-7"}


def test_an_implementer_that_asks_is_sent_back_to_its_tasks_in_its_conversation(planned: Sandbox) -> None:
    planned.script(implement=[ASKS, HONEST], review=APPROVED)
    spy = spied(planned)
    done = planned.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    first, second = spy.of("implement")
    assert (first["session"], second["session"]) == ("", "s-7")
    assert "You ended without it" not in first["prompt"]
    assert "You ended without it: tally/words.py has not changed; do it, call finish_task" in second["prompt"]
    assert "completed" in tasks(planned)


@pytest.mark.parametrize("nudges", [0, 2])
def test_an_implementer_is_sent_back_as_often_as_the_setting_says(planned: Sandbox, nudges: int) -> None:
    planned.set("calls", nudges=nudges)
    planned.script(implement=ASKS, review=APPROVED)
    asked = planned.run("impl", CHANGE)
    assert asked.code == 4
    assert "these tasks left no trace in their files" in asked.out
    assert len([call for call in called(planned) if "implement" in call]) == nudges + 1


def test_a_reviewer_that_reviews_nothing_is_reminded(planned: Sandbox) -> None:
    planned.script(implement=HONEST, review={**ASKS, "say": "Looks good!", "nudged": [APPROVED]})
    spy = spied(planned)
    done = planned.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    first, second = spy.of("review")
    assert (first["session"], second["session"]) == ("", "s-7")
    assert "`create_review`" in second["prompt"]
    assert "what it said: Looks good!; reminding it (1 of 2)" in done.out
    assert planned.state()["phase"] == "complete"
