"""A change is planned by the agents' real programs: their tools are called, their words counted, nothing else is touched."""

import pytest

from tests.contract.building import check_built
from tests.contract.calls import check_calls, told
from tests.contract.lab import Lab
from tests.sandbox import wait_until

STEPS = [
    "propose",
    "review_proposal",
    "write_spec",
    "review_spec",
    "break_down",
    "review_tasks",
    "challenge",
    "revise",
    "challenge_again",
]
DOCUMENTS = ["CHALLENGE.md", "proposal.md", "specs/top-words.md", "tasks.md"]


def check_planned(lab: Lab, planner: str, challenger: str, reviews: bool = True) -> None:
    """A change was planned, revised and approved by these two, and the person's machine is as it was."""
    lab.set("workflow", self_review_iterations=int(reviews))
    steps = [step for step in STEPS if reviews or not step.startswith("review_")]
    done = lab.plan()
    assert done.code == 0, done.out + done.err + told(lab)
    state = lab.state()
    assert state["phase"] == "challenged"
    assert [name for name in DOCUMENTS if not (lab.folder() / name).is_file()] == []
    assert "words with the same number by the alphabet" in (lab.folder() / "specs/top-words.md").read_text()
    assert set(state["approval"]["documents"]) >= {"proposal.md", "specs/top-words.md", "tasks.md"}
    check_calls(lab, {step: challenger if step.startswith("challenge") else planner for step in steps})
    assert [scene for scene in dict.fromkeys(each.scene for each in lab.model.requests) if scene] == steps
    assert lab.changed_settings() == []
    assert lab.leaks() == []
    wait_until(lambda: not lab.processes(), 10)


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_one_agent_plans_and_challenges_a_change(lab: Lab, agent: str) -> None:
    lab.play(agent)
    check_planned(lab, agent, agent)


def test_a_change_goes_from_idea_to_archive_with_another_agent_in_each_role(lab: Lab) -> None:
    """gemini takes its server of tools from a file of the project, which stays the person's in all else."""
    own = '{\n  // dark, please\n  "ui": {"theme": "Dracula"}\n}\n'
    file = lab.root / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.write_text(own)
    lab.play("claude", planner="gemini", challenger="codex", reviewer="codex")
    check_planned(lab, "gemini", "codex")
    check_built(lab, "claude", "codex")
    assert lab.changed_settings() == []
    kept = [line for line in file.read_text().splitlines() if line.strip(" ,") in map(str.strip, own.splitlines())]
    assert "  // dark, please" in kept
    assert any("Dracula" in line for line in kept)


@pytest.mark.parametrize("agent", ["opencode", "copilot"])
def test_agents_of_any_other_make_plan_and_challenge_a_change(lab: Lab, agent: str) -> None:
    lab.play(agent)
    check_planned(lab, agent, agent, reviews=False)


def test_an_agent_that_speaks_the_agent_client_protocol_plans_a_change(lab: Lab) -> None:
    lab.set("acp", command="gemini --acp --model gemini-2.5-flash")
    lab.play("acp")
    check_planned(lab, "acp", "acp", reviews=False)


def test_the_built_in_agent_plans_a_change_with_nothing_but_a_key(lab: Lab) -> None:
    model = {"id": "only", "model": "fake-model", "complexity": "critical"}
    lab.set("builtin", base_url=f"{lab.model.url}/v1", api_key_env="OPENAI_API_KEY", models=[model])
    lab.play("builtin")
    check_planned(lab, "builtin", "builtin", reviews=False)
