"""What the agents' programs ask their models for: which model, how hard to think, with which tools, in how many bytes."""

import pytest

from tests.contract.conftest import Open
from tests.contract.lab import DONE, REVIEW, WHEN, Lab
from tests.contract.model import Request, Scenes
from tests.sandbox import CHANGE

TOOLS = {"read_file", "list_specs", "read_knowledge", "list_knowledge", "validate_change", "append_review"}
UNLISTED = "never-heard-of"  # codex offers such a model its tools one by one
# The most that a request may weigh in which an agent is told a short task, by agent: most of it is the program's own.
LIMITS = {"claude": 18_000, "codex": 17_000, "gemini": 19_000, "opencode": 16_500, "copilot": 23_000}


def challenged(open_lab: Open, agent: str, unlisted: str = "", **models: str) -> Lab:
    """A lab in which this agent, with this model if one is named, has approved of a plan."""
    lab = open_lab(Scenes.load([{"name": "challenge", "when": WHEN, "turns": [{"call": REVIEW}, DONE]}]))
    lab.play(agent)
    if unlisted:
        lab.set(agent, args=["--model", unlisted])
    if models:
        lab.set(agent, default="only", models=[{"id": "only", "complexity": "critical", **models}])
    done = lab.run("challenge", CHANGE)
    assert done.code == 0, done.out + done.err
    assert lab.state()["phase"] == "challenged"
    return lab


def asked(lab: Lab) -> Request:
    return lab.model.played("challenge")[-1]


@pytest.mark.parametrize("how", [{"model": "gpt-5.5"}, {"model": "gpt-6-sol"}, {"unlisted": UNLISTED}])
def test_codex_reaches_its_tools_whichever_way_its_model_takes_them(open_lab: Open, how: dict[str, str]) -> None:
    """Behind a search, out of a program, or one by one."""
    assert [asked(challenged(open_lab, "codex", **how)).model] == list(how.values())


def test_a_configured_model_that_codex_does_not_list_is_not_sent_and_that_is_said(open_lab: Open) -> None:
    lab = challenged(open_lab, "codex", model=UNLISTED)
    assert asked(lab).model != UNLISTED
    assert f"it does not list the model {UNLISTED}" in (lab.folder() / "journal.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("agent", "model", "effort", "sent"),
    [
        ("claude", "claude-sonnet-5-5", "high", "high"),
        ("codex", "gpt-5.5", "extra high", "xhigh"),
        ("gemini", "gemini-2.5-flash", "", ""),
    ],
)
def test_the_model_and_its_effort_are_what_the_configuration_says(
    open_lab: Open, agent: str, model: str, effort: str, sent: str
) -> None:
    lab = challenged(open_lab, agent, model=model, reasoning=effort)
    assert asked(lab).model == model
    assert not sent or asked(lab).effort == sent
    call = lab.state()["llm_calls"][-1]
    assert call["model"] == asked(lab).model


@pytest.mark.parametrize("agent", list(LIMITS))
def test_a_step_is_offered_its_own_tools_in_few_bytes(open_lab: Open, agent: str) -> None:
    lab = challenged(open_lab, agent)
    sent = asked(lab)
    named = {tool for tool in TOOLS for each in sent.tools if each.endswith(tool) and "agentd" in each}
    others = [each for each in sent.tools if "agentd" in each and not each.endswith(tuple(TOOLS))]
    assert others == []
    assert named == TOOLS
    assert sent.size < LIMITS[agent]
