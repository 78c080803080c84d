"""A task in stages played by the agents' real programs, with the stages divided among them and the tasks by complexity."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.lab import Lab
from tests.contract.model import FakeModel, Scenes
from tests.contract.test_impl import TODAY
from tests.landing.repositories import git, invariant
from tests.sandbox import wait_until
from tests.staged.runs import BRAINSTORM, NAME, TASK, code, done, final, plan, review, task

IMPLEMENTERS = {"easy": "gemini", "medium": "claude", "hard": "codex"}


def says(title: str, text: str) -> dict[str, Any]:
    return {"name": title, "when": rf"# {title}\n", "turns": [{"say": text}]}


def writes(number: int, agent: str) -> dict[str, Any]:
    """The scene of a task, in its agent's own way of writing files."""
    files: dict[str, str] = code(number)["files"]
    added = [
        f"*** Add File: {name}\n" + "".join(f"+{line}\n" for line in text.splitlines()) for name, text in files.items()
    ]
    patch = {"apply_patch": f"*** Begin Patch\n{''.join(added)}*** End Patch\n"}
    tool = {"claude": "Write", "gemini": "write_file"}.get(agent, "")
    calls = [{tool: {"file_path": f"{{{{root}}}}/{name}", "content": text}} for name, text in files.items()]
    when = rf'# Implementer\n.*"id": "task-{number}".*Your working folder: (?P<root>\S+)\. agentd'
    turns = [{"call": [each]} for each in (calls if tool else [patch])]
    return {"name": f"task-{number}", "when": when, "turns": [*turns, {"say": done()}]}


SCENES = [
    says("Explorer", "The code is in tally/words.py, its tests in tests/."),
    says("Brainstormer", BRAINSTORM),
    says("Planner", plan(*(task(number, complexity=word) for number, word in enumerate(IMPLEMENTERS, 1)))),
    says("Review: plan", review()["say"]),
    *(writes(number, agent) for number, agent in enumerate(IMPLEMENTERS.values(), 1)),
    says("Simplifier", "# Simplified\n\nNothing was to be done.\n"),
    says("Review: implementation", review()["say"]),
    says("Review: tests", review()["say"]),
    says("Documenter", "# Documentation\n\nThe README is right.\n"),
    says("Review: final", final()["say"]),
]


@pytest.fixture
def lab(tmp_path_factory: pytest.TempPathFactory, programs: Path, model: FakeModel) -> Iterator[Lab]:
    """A repository on a person's machine, in which a model plays every role."""
    lab = Lab(tmp_path_factory.mktemp("lab"), programs, model)
    lab.set("codex", default="only", models=[TODAY])
    lab.set("runs", wait_when_busy=False)
    lab.set("staged", backoff_secs=[0])
    lab.model.scenes = Scenes.load(SCENES)
    git(lab.root, "config", "user.name", "Ada")
    git(lab.root, "config", "user.email", "ada@localhost")
    git(lab.root, "add", "--all")
    git(lab.root, "commit", "--quiet", "-m", "settings")
    yield lab
    lab.clear()


def untouched(lab: Lab) -> dict[str, str]:
    ours = ("agentd/", ".agents/", ".gemini/")
    return {name: text for name, text in invariant(lab.root).items() if not name.removeprefix("./").startswith(ours)}


def test_a_task_in_stages_is_played_by_three_agents(lab: Lab) -> None:
    cast = {"explorer": "gemini", "brainstormer": "claude", "planner": "codex", "reviewer": "codex"}
    cast |= {"simplifier": "claude", "documenter": "gemini", "final_reviewer": "claude"}
    lab.set("roles", **cast, **{f"{word}_implementer": agent for word, agent in IMPLEMENTERS.items()})
    before = untouched(lab)
    ran = lab.run("run", "staged", TASK)
    assert ran.code == 0, ran.out + ran.err
    state = json.loads((lab.root / ".agents" / NAME / "state.json").read_text())
    assert state["status"] == "completed"
    played = {str(call["call"]).rsplit("-", 1)[0]: call["agent"] for call in state["llm_calls"]}
    tasks = {f"task-{number}/implement": agent for number, agent in enumerate(IMPLEMENTERS.values(), 1)}
    assert played == {
        "query-1/explore": "gemini",
        "query-2/explore": "gemini",
        "brainstorm": "claude",
        "logic/plan": "codex",
        "review_plan": "codex",
        **tasks,
        "simplify": "claude",
        "review_implementation": "codex",
        "review_tests": "codex",
        "document": "gemini",
        "review_all": "claude",
    }
    for number in (1, 2, 3):
        assert git(lab.root, "show", f"agentd/{NAME}:tally/part{number}.py") == f"PART = {number}"
    assert untouched(lab) == before
    assert lab.leaks() == []
    assert lab.changed_settings() == []
    wait_until(lambda: not lab.processes(), 10)
