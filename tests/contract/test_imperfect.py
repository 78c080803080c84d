"""Models as they are: they chat, ask, mistake an id, do a thing twice, break off. Each time the step recovers by itself."""

from typing import Any

import pytest

from agentd.agents.plugins import find
from tests.contract.building import words_of
from tests.contract.conftest import Open
from tests.contract.lab import DONE, REVIEW, WHEN, Lab
from tests.contract.model import Scenes
from tests.sandbox import CHANGE, wait_until

AGENTS = ("claude", "codex", "gemini")
CALL = {"call": REVIEW}
WRONG = {"call": {"append_review": {**REVIEW["append_review"], "change_id": "{{run}}s"}}}
LOOK = {"call": {"list_specs": {"change_id": "{{run}}"}}}
FENCED = '```json\n{"tool": "append_review", "status": "approved", "content": "The plan can be built as it is."}\n```'
PROSE = "I have looked at the plan. Shall I go on and write the review?"
QUESTION = "Which of the specs matters most to you?"

# What the model does first. With `said` the call ends with these words, and a reminder has to follow.
ROWS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "prose first": ([{"say": PROSE}], PROSE),
    "a question back": ([LOOK, {"say": QUESTION}], QUESTION),
    "fenced JSON": ([{"say": FENCED}], "append_review"),
    "a wrong id": ([WRONG, CALL, DONE], ""),
    "a call twice": ([CALL, CALL, DONE], ""),
    "a partial stream": ([LOOK, {**CALL, "fail": ["cut"]}, DONE], ""),
}
CASES = [(row, agent) for row in ROWS for agent in AGENTS]


def reminded(agent: str) -> list[dict[str, Any]]:
    """What the model does when it is told what is missing: the words of its first task are not said again."""
    sent = {**REVIEW["append_review"], "change_id": CHANGE, "iteration": 2, "reviewer": agent}
    return [{"call": {"append_review": sent}}, DONE]


@pytest.mark.parametrize(("name", "agent"), CASES, ids=[f"{row.replace(' ', '-')}-{agent}" for row, agent in CASES])
def test_an_imperfect_model_still_reviews_the_plan(open_lab: Open, name: str, agent: str) -> None:
    turns, said = ROWS[name]
    lab = open_lab(
        Scenes.load(
            [
                {"name": "reminded", "when": "the step is not done:.*append_review", "turns": reminded(agent)},
                {"name": "challenge", "when": WHEN, "turns": turns},
            ]
        )
    )
    lab.play(agent)
    lab.set("workflow", script_retries=1)
    lab.set("gemini", default="only", models=[{"id": "only", "model": "gemini-2.5-flash", "complexity": "critical"}])
    before = len(lab.state()["llm_calls"])
    done = lab.run("challenge", CHANGE)
    assert done.code == 0, f"{done.out}{done.err}\n{[(each.scene, each.turn) for each in lab.model.requests]}"
    assert lab.state()["phase"] == "challenged"
    made = len(lab.state()["llm_calls"]) - before
    if said:
        assert "reminding it (1 of 2)" in done.out
        assert made == 2
        check_conversation(lab, agent, said)
    else:  # gemini leaves a broken stream to agentd, which calls it again
        assert lab.model.played("reminded") == []
        assert made == (2 if (name, agent) == ("a partial stream", "gemini") else 1)
    wait_until(lambda: not lab.processes(), 10)


def check_conversation(lab: Lab, agent: str, said: str) -> None:
    """The reminder follows the task and the reply in one conversation, and names the tool as this program does."""
    first = words_of(lab.model.played("reminded")[0])
    assert said in first
    assert "You are a senior reviewer" in first
    assert f"`{find(agent).served}append_review`" in first


def test_gemini_is_told_the_full_names_of_agentds_tools(open_lab: Open) -> None:
    lab = open_lab(Scenes.load([{"name": "challenge", "when": WHEN, "turns": [CALL, DONE]}]))
    lab.play("gemini")
    assert lab.run("challenge", CHANGE).code == 0
    request = lab.model.played("challenge")[0]
    assert "mcp_agentd_read_file" in request.tools
    assert "mcp_agentd_read_file" in words_of(request).split("these full names here:")[1]
