"""How the commands of a project get into its configuration, and what a configuration may say of them."""

from pathlib import Path

import pytest

from agentd.errors import AgentdError, BadConfig
from agentd.model.command import Command
from agentd.proof.commands import store
from agentd.runs.config import read_config

BEFORE = """# ours
[workflow]
human_in_loop = false  # nobody is there

[evidence]
timeout_secs = 60 # quick
"""


def project(folder: Path, text: str) -> Path:
    (folder / "agentd").mkdir()
    path = folder / "agentd" / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_commands_are_kept_and_everything_else_in_the_file_stays(tmp_path: Path) -> None:
    path = project(tmp_path, BEFORE)
    web = Command("test", "npm test", "web")
    store(path, {"test": [Command("test", "pytest -q"), web], "lint": [Command("lint", 'ruff check "."')]})
    text = path.read_text(encoding="utf-8")
    assert text.startswith(BEFORE)
    config = read_config(tmp_path, {})
    assert config.commands("test") == (Command("test", "pytest -q"), web)
    assert config.commands("lint") == (Command("lint", 'ruff check "."'),)
    assert config.commands("audit") is None


def test_a_project_without_a_configuration_gets_one(tmp_path: Path) -> None:
    store(tmp_path / "agentd" / "config.toml", {"test": [Command("test", "go test ./...")]})
    assert read_config(tmp_path, {}).commands("test") == (Command("test", "go test ./..."),)


def test_a_configuration_that_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    path = project(tmp_path, "[evidence\n")
    with pytest.raises(AgentdError, match="cannot be kept"):
        store(path, {"test": [Command("test", "pytest")]})
    assert path.read_text() == "[evidence\n"


def test_an_empty_list_says_that_there_is_no_such_command(tmp_path: Path) -> None:
    project(tmp_path, '[evidence]\naudit = []\ntest = "pytest"\nlint = [{in = "./web/", run = "npm run lint"}]\n')
    config = read_config(tmp_path, {})
    assert config.commands("audit") == ()
    assert config.commands("test") == (Command("test", "pytest"),)
    assert config.commands("lint") == (Command("lint", "npm run lint", "web"),)
    assert config.commands("types") is None


@pytest.mark.parametrize(
    "value",
    ["7", "[7]", '[{in = "web"}]', '[{in = "../x", run = "a"}]', '[{run = " "}]', '[{run = "a", when = "b"}]', "true"],
)
def test_what_is_no_command_is_refused_with_its_file_and_key(tmp_path: Path, value: str) -> None:
    path = project(tmp_path, f"[evidence]\ntest = {value}\n")
    with pytest.raises(BadConfig, match=r"evidence\.test") as found:
        read_config(tmp_path, {})
    assert str(path) in found.value.message
