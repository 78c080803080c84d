"""What an agent's program lets its model do: a reviewer changes nothing, an implementer nothing outside its work tree."""

from pathlib import Path
from typing import Any

import pytest

from tests.contract.building import words_of
from tests.contract.conftest import Open
from tests.contract.lab import DONE, REVIEW, WHEN, Lab
from tests.contract.model import Scenes
from tests.sandbox import CHANGE

AGENTS = ("claude", "codex", "gemini")
EDIT = """
name: edit
about: "change one file"
starts: {full: write}
steps:
  write: {phase: writing, agent: implementer, tools: [edit_code, list_specs], next: {done: over}}
  over: {phase: written, end: written}
"""


def attempts(agent: str, path: Path) -> list[dict[str, Any]]:
    """How a model of this agent would write a file: by a tool for that, and by a shell. `!` calls what is not offered too."""
    shell = f"echo owned > '{path}'"
    if agent == "claude":
        return [{"!Write": {"file_path": str(path), "content": "owned\n"}}, {"!Bash": {"command": shell}}]
    if agent == "gemini":
        return [
            {"!write_file": {"file_path": str(path), "content": "owned\n"}},
            {"!run_shell_command": {"command": shell, "description": "write"}},
        ]
    return [{"!exec_command": {"cmd": shell}}, {"!shell_command": {"command": shell}}]


def play(lab: Lab, when: str, *turns: dict[str, Any]) -> None:
    lab.model.scenes = Scenes.load([{"name": "only", "when": when, "turns": list(turns)}])


@pytest.mark.parametrize("agent", AGENTS)
def test_a_challenger_cannot_change_a_file_however_hard_it_tries(open_lab: Open, agent: str) -> None:
    lab = open_lab(Scenes.load([]))
    lab.play(agent)
    targets = [lab.root / "tally" / "owned.py", lab.root / "README.md", lab.home / "owned.txt"]
    before = [path.read_bytes() if path.exists() else None for path in targets]
    tries = [{"call": [attempt]} for path in targets for attempt in attempts(agent, path)]
    play(lab, WHEN, *tries, {"call": REVIEW}, DONE)
    done = lab.run("challenge", CHANGE)
    assert done.code == 0, done.out + done.err
    assert len(lab.model.played("only")) == len(tries) + 2
    assert [path.read_bytes() if path.exists() else None for path in targets] == before


@pytest.mark.parametrize("agent", AGENTS)
def test_an_implementer_changes_files_of_the_work_tree_and_no_others(open_lab: Open, agent: str) -> None:
    lab = open_lab(Scenes.load([]))
    lab.play(agent)
    lab.own_workflow("edit", EDIT)
    inside, outside = lab.root / "tally" / "written.py", lab.home / "written.py"
    link = lab.root / "away"
    link.symlink_to(lab.home)
    places = (inside, outside, lab.root / ".." / "beside.py", link / "linked.py")
    tries = [{"call": [attempt]} for path in places for attempt in attempts(agent, path)]
    play(lab, 'This is step "write"', *tries, {"say": '{"outcome": "done"}'})
    done = lab.run("run", "edit", "write a file", "--name", "one")
    assert done.code == 0, done.out + done.err
    assert inside.read_text() == "owned\n"
    assert [path for path in (*lab.home.glob("*.py"), lab.root.parent / "beside.py") if path.exists()] == []


def test_codex_trusts_no_project_that_its_person_never_trusted(open_lab: Open) -> None:
    """Settings of a project that is trusted can start programs."""
    lab = open_lab(Scenes.load([]))
    lab.play("codex")
    lab.own_workflow("edit", EDIT)
    own = lab.root / ".codex" / "config.toml"
    own.parent.mkdir()
    own.write_text('developer_instructions = "The project has its say."\n')
    play(lab, 'This is step "write"', {"say": '{"outcome": "done"}'})
    assert lab.run("run", "edit", "write a file", "--name", "one").code == 0
    assert lab.changed_settings() == []
    assert "The project has its say." not in words_of(lab.model.played("only")[0])
