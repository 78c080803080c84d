"""Who plays a role on a machine where not every agent is installed."""

from pathlib import Path

import pytest

from agentd.app import open_project
from agentd.calling import roster
from agentd.calling.roster import line_up, notices, same_mind
from agentd.errors import BadConfig, NotFound
from agentd.runs.project import Project
from tests.built_in import read_built_in


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project on a machine without any agent, and where its programs would be."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (tmp_path / "repo" / "agentd").mkdir(parents=True)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    return programs


def install(machine: Path, *names: str) -> None:
    for name in names:
        (machine / name).write_text("#!/bin/sh\n")
        (machine / name).chmod(0o755)


def project(machine: Path, config: str = "") -> Project:
    root = machine.parent / "repo"
    (root / "agentd" / "config.toml").write_text(config, encoding="utf-8")
    return open_project(root)


def names(found: Project, role: str) -> list[str]:
    return [player.agent for player in line_up(found, role)]


def test_each_role_is_played_by_the_agent_it_is_given_to(machine: Path) -> None:
    install(machine, "claude", "codex", "gemini")
    here = project(machine)
    assert [names(here, role) for role in ("planner", "challenger", "implementer", "reviewer")] == [
        ["gemini"],
        ["codex"],
        ["claude"],
        ["codex"],
    ]
    assert same_mind(here) == ""
    assert notices(here, read_built_in("change")) == []


@pytest.mark.parametrize("only", ["claude", "codex", "gemini", "opencode", "copilot"])
def test_the_only_agent_there_is_plays_every_role_and_is_no_independent_challenger(machine: Path, only: str) -> None:
    install(machine, only)
    here = project(machine)
    assert {name for role in ("planner", "challenger", "implementer", "reviewer") for name in names(here, role)} == {
        only
    }
    assert same_mind(here) == only
    told = notices(here, read_built_in("change"))
    (line,) = told
    assert line.startswith("⚠ ")
    assert line.endswith(f"the challenger is not independent: {only} is the planner too")
    if only == "claude":
        assert (
            "gemini is not installed and codex is not installed: claude plays the planner, challenger and reviewer; "
            in line
        )


def test_a_fallback_stands_in_for_an_agent_that_is_missing_before_anybody_else(machine: Path) -> None:
    install(machine, "claude", "opencode")
    (player,) = line_up(project(machine, '[fallback]\ncodex = "opencode"\n'), "challenger")
    assert (player.agent, player.why) == ("opencode", "codex is not installed")


def test_the_line_up_is_the_agent_and_its_fallbacks_as_far_as_they_are_there(machine: Path) -> None:
    install(machine, "claude", "codex", "gemini")
    config = '[fallback]\ncodex = "copilot"\ncopilot = "gemini"\ngemini = "codex"\n'
    assert names(project(machine, config), "challenger") == ["codex", "gemini"]


def test_without_any_agent_the_error_says_what_to_install(machine: Path) -> None:
    with pytest.raises(NotFound) as caught:
        line_up(project(machine), "planner")
    assert "There is no agent to play the planner: gemini is not installed" in caught.value.message
    assert "npm install" in caught.value.fix


def test_an_agent_nobody_knows_is_no_reason_to_take_another_one(machine: Path) -> None:
    install(machine, "claude")
    with pytest.raises(NotFound) as caught:
        line_up(project(machine, '[roles]\nplanner = "gemeni"\n'), "planner")
    assert "There is no agent 'gemeni' to play the planner" in caught.value.message


def test_an_agent_of_ones_own_is_driven_as_its_section_says(machine: Path) -> None:
    config = '[roles]\nplanner = "mine"\n[mine]\nadapter = "command"\ncommand = "./tools/mine --fast"\n'
    here = project(machine, config)
    assert roster.missing(here, "mine") == "./tools/mine is not installed"
    install(machine, "claude")
    assert names(here, "planner") == ["claude"]
    tools = here.root / "tools"
    tools.mkdir()
    install(tools, "mine")
    (player,) = line_up(here, "planner")
    assert (player.agent, player.adapter.name, player.why) == ("mine", "command", "")
    assert roster.program(here, "mine") == [str(tools / "mine"), "--fast"]


@pytest.mark.parametrize("text", ["", " "])
def test_a_command_without_a_program_is_missing(machine: Path, text: str) -> None:
    here = project(machine, f'[command]\ncommand = "{text}"\n')
    assert roster.missing(here, "command") == "[command] command is not set"
    assert roster.remedy(here, "command").endswith('# [command] command = "path/to/program"')


def test_a_command_of_several_words_is_started_by_its_first_one(machine: Path) -> None:
    here = project(machine, "[claude]\ncommand = \"env FOO='a b' claude\"\n")
    assert roster.missing(here, "claude") == "env is not installed"
    assert roster.remedy(here, "claude").endswith('# [claude] command = "path/to/program"')
    install(machine, "env")
    assert roster.missing(here, "claude") == roster.remedy(here, "claude") == ""
    assert roster.program(here, "claude") == ["env", "FOO=a b", "claude"]


def test_a_command_that_cannot_be_read_names_itself(machine: Path) -> None:
    with pytest.raises(BadConfig, match=r"command = .* cannot be read: No closing quotation") as caught:
        line_up(project(machine, '[roles]\nplanner = "acp"\n[acp]\ncommand = "gemini \'--acp"\n'), "planner")
    assert caught.value.fix.endswith('# [acp] command = "path/to/program"')


def test_a_built_in_agent_without_a_model_is_told_the_lines_to_add(machine: Path) -> None:
    here = project(machine)
    assert roster.missing(here, "builtin") == "[[builtin.models]] names no model"
    section, _, line = roster.remedy(here, "builtin").partition("# ")[2].partition(" ")
    mended = project(machine, f"{section}\n{line}\n")
    assert roster.missing(mended, "builtin") == ""
    assert mended.config.warnings == ()
