"""The page about agents: its configuration is taken without a warning, its adapter works."""

import re
from pathlib import Path
from typing import Any

import pytest

from agentd.model.job import Job
from agentd.runs.config import read_config

TEXT = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("block", [block for block in blocks("toml") if "[project." not in block])
def test_the_configuration_is_taken_as_it_is(tmp_path: Path, block: str) -> None:
    (tmp_path / "agentd").mkdir()
    (tmp_path / "agentd" / "config.toml").write_text(block, encoding="utf-8")
    assert read_config(tmp_path, {}).warnings == ()


def test_the_adapter_of_the_example_works() -> None:
    names: dict[str, Any] = {}
    exec(blocks("python")[0], names)
    job = Job("propose-1.1", "propose", "planner", 1, "hello", "/work", "run", model="m")
    assert names["command"](job).argv == ("parrot", "--json", "--model", "m")
    assert names["read"](['{"agentd": "begin"}', '{"type": "answer", "text": "hi"}']).text == "hi"
    assert names["read"](['{"agentd": "end", "code": 1, "errors": ["boom"]}']).error == "boom"
