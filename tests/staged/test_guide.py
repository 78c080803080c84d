"""What the guide says about tasks in stages is so: its settings are the defaults, its answers and files are those there are."""

import re
import tomllib
from pathlib import Path

import pytest

from agentd.families.staged import LAYOUT, phase_files
from agentd.families.staged.questions import OPTIONS
from agentd.runs.config import read_config
from tests.sandbox import make_sandbox

GUIDE = (Path(__file__).parents[2] / "docs" / "guide.md").read_text(encoding="utf-8")
SECTION = GUIDE.partition("\n## A task in stages\n")[2].partition("\n## ")[0]
(SETTINGS,) = re.findall(r"^```toml\n(.*?)^```$", SECTION, re.DOTALL | re.MULTILINE)


def test_the_settings_shown_are_the_defaults_and_all_of_them(tmp_path: Path) -> None:
    shown = tomllib.loads(SETTINGS)["staged"]
    known = {
        key: list(value) if isinstance(value, tuple) else value for key, value in LAYOUT.settings["staged"].items()
    }
    assert shown == known
    root = make_sandbox(tmp_path).root
    (root / "agentd" / "config.toml").write_text(SETTINGS)
    config = read_config(root, (LAYOUT,))
    assert config.warnings == ()


def test_every_file_of_a_phase_is_named() -> None:
    named = {value for key, value in vars(phase_files).items() if key.isupper() and isinstance(value, str)}
    assert {name for name in named if name[0].isdigit()} <= {*re.findall(r"`(\d[\w.-]+)`", SECTION)}


@pytest.mark.parametrize("word", ["retry", "restart", "restart_previous", "skip", "force_continue", "abort"])
def test_an_answer_of_the_table_is_one_that_can_be_given(word: str) -> None:
    assert f"| `{word}`" in SECTION
    assert OPTIONS[word].reason is ("--note" in next(line for line in SECTION.splitlines() if f"| `{word}`" in line))
