"""What the README shows is what happens: its output, its configuration, its workflow, its links."""

import re
from pathlib import Path

import pytest

from agentd.cli.command_list import COMMANDS, OTHER_NAMES
from agentd.git.repository import git
from agentd.runs.config import read_config
from tests.sandbox import Sandbox, make_sandbox

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def block(language: str) -> str:
    """The one code block of a language, whatever blocks it shows in turn."""
    ((_, found),) = re.findall(rf"^(```+){language}\n(.*?)^\1$", README, re.DOTALL | re.MULTILINE)
    return str(found)


def plain(text: str) -> str:
    """Without what differs from run to run: where it was, on which day, how long it took."""
    text = re.sub(r"\(\d+\.\d s\)", "(0.1 s)", text)
    text = re.sub(r"\b\d{4}-\d\d-\d\d\b", "2026-01-19", text)
    return re.sub(r"\S*agentd-demo-\w+", "DEMO", text)


def test_the_demonstration_is_shown_as_it_is_and_stays_in_its_own_repository(tmp_path: Path) -> None:
    """A git hook sets GIT_DIR, and git would follow it."""
    other = make_sandbox(tmp_path).root
    before = git(other, "rev-parse", "HEAD")
    away = {"GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(other)}
    shown = Sandbox(tmp_path).run("demo", env={"TMPDIR": str(tmp_path), **away})
    assert shown.code == 0, shown.err
    assert git(other, "rev-parse", "HEAD") == before
    first, _, expected = block("console").partition("\n")
    assert first == "$ agentd demo"
    assert plain(shown.out).startswith(plain(expected))


def test_the_configuration_is_one_agentd_takes(tmp_path: Path) -> None:
    (tmp_path / "agentd").mkdir()
    (tmp_path / "agentd" / "config.toml").write_text(block("toml"))
    config = read_config(tmp_path, {})
    assert config.warnings == ()
    assert config.get("evidence", "test") == "make test"


def test_the_workflow_is_sound_and_runs(tmp_path: Path) -> None:
    sandbox = make_sandbox(tmp_path)
    sandbox.own_workflow("ship", block("yaml"))
    assert "is sound" in sandbox.run("workflow", "check", "agentd/workflows/ship.yaml").out
    sandbox.script(notes={"documents": {"notes.md": "what is new"}})
    asked = sandbox.run("run", "ship", "release 2", "--json")
    assert asked.code == 4
    assert asked.data["decisions"][0]["question"] == "Ship it?"
    (sandbox.root / asked.data["folder"] / "notes.md").write_text("something else")
    sandbox.run("answer", "ship/release-2", "UD-1", "ship")
    again = sandbox.run("resume", "ship/release-2", "--json")
    assert [decision["decision_id"] for decision in again.data["decisions"]] == ["UD-2"]
    sandbox.run("answer", "ship/release-2", "UD-2", "ship")
    assert sandbox.run("resume", "ship/release-2", "--json").data["phase"] == "shipped"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_commands_that_are_named_exist(page: Path) -> None:
    for name in re.findall(r"`agentd ([a-z]+)", page.read_text(encoding="utf-8")):
        assert name in COMMANDS or name in OTHER_NAMES, name
