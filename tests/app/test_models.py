"""Which model an agent is called with: none, so that its own settings decide, or one that the person wrote and it knows."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentd.agents.table import ADAPTERS
from agentd.app import open_project
from agentd.calling import model_list
from agentd.calling.job import job_for
from agentd.model.job import Job
from agentd.runs.project import Project

CALL: dict[str, Any] = {"call": "c-1.1", "step": "c", "role": "planner", "visit": 1, "prompt": "p"}
MODELS = "".join(
    f'[[codex.models]]\nid = "{name}"\nmodel = "gpt-{name}"\ncomplexity = "{complexity}"\nreasoning = "low"\n'
    for name, complexity in (("known", "low"), ("gone", "critical"))
)
LISTED = {"models": [{"slug": "gpt-known"}, {"slug": "gpt-other"}, {"no": "name"}, 3]}


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bin").mkdir()
    (tmp_path / "repo" / "agentd").mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    return tmp_path / "bin"


def project(programs: Path, config: str = "", codex: str = "exit 2") -> Project:
    """A project with this configuration, and a codex that does this when it is asked for its models."""
    for name in ("claude", "codex", "gemini"):
        (programs / name).write_text(f'#!/bin/sh\necho "$@" >> {programs}/asked\n{codex}\n')
        (programs / name).chmod(0o755)
    root = programs.parent / "repo"
    (root / "agentd" / "config.toml").write_text(config, encoding="utf-8")
    return open_project(root)


def job(here: Project, agent: str, complexity: Any = "medium") -> Job:
    return job_for(here, agent, complexity, cwd=str(here.root), folder=str(here.root), **CALL)


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_without_models_in_the_configuration_nothing_is_said_about_model_effort_or_caps(
    programs: Path, agent: str
) -> None:
    made = job(project(programs), agent)
    assert (made.model, made.effort, made.max_turns, made.max_cost) == ("", "", 0, 0.0)
    argv = " ".join(ADAPTERS[agent].command(made).argv)
    for flag in ("--model", "--effort", "reasoning_effort", "--max-turns", "--max-budget-usd"):
        assert flag not in argv
    assert not (programs / "asked").exists()


def test_a_cost_cap_is_handed_on_if_the_person_sets_one(programs: Path) -> None:
    made = job(project(programs, "[calls]\nmax_cost = 1.5\n[budget]\nper_call = 9\n"), "claude")
    argv = ADAPTERS["claude"].command(made).argv
    assert argv[argv.index("--max-budget-usd") + 1] == "1.5"


def test_a_model_that_the_program_does_not_list_is_not_sent_and_that_is_told(programs: Path) -> None:
    here = project(programs, MODELS, f"echo '{json.dumps(LISTED)}'")
    assert job(here, "codex", "low").model == "gpt-known"
    dropped = job(here, "codex", "critical")
    assert (dropped.model, dropped.effort) == ("", "")
    (notice,) = model_list.notices(here, "codex")
    assert "does not list the model gpt-gone" in notice
    assert '[codex] args = ["--model", "gpt-gone"]' in notice
    assert (programs / "asked").read_text() == "debug models\n"


@pytest.mark.parametrize(
    "codex", ["exit 2", "echo no JSON", "echo '[]'", "echo '{\"models\": []}'", "echo '{\"models\": 3}'"]
)
def test_a_program_that_cannot_list_gets_what_the_person_wrote(programs: Path, codex: str) -> None:
    here = project(programs, MODELS, codex)
    assert (job(here, "codex", "critical").model, model_list.notices(here, "codex")) == ("gpt-gone", [])


def test_agents_without_a_list_get_what_the_person_wrote(programs: Path) -> None:
    here = project(programs, MODELS.replace("codex", "claude"))
    assert job(here, "claude", "critical").model == "gpt-gone"
    assert not (programs / "asked").exists()
