"""Every agent is found by its name, whichever package brings it; one that cannot be used says whose it is."""

import ast
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from agentd.agents import scripted
from agentd.agents.plugins import find
from agentd.agents.programs import EFFORTS, PROGRAMS
from agentd.agents.table import ADAPTERS
from agentd.errors import NotFound
from agentd.model.job import Job

SRC = Path(__file__).parents[2] / "src" / "agentd"
ASK = """
import sys
from agentd.agents.plugins import find
from agentd.errors import AgentdError
from agentd.model.job import Job
try:
    adapter = find(sys.argv[1])
    print(adapter.name, *adapter.command(Job("c", "s", "r", 1, "hi", ".", ".")).argv, adapter.read(["x"]).text)
except AgentdError as error:
    print(error.name, error.message, error.fix, sep="|")
"""

ADAPTER = """
from agentd.model.job import Command, Reply
def command(job):
    return Command(("echo", job.prompt))
def read(lines):
    return Reply(text=" ".join(lines))
"""


def install(site: Path, package: str, points: str, code: str) -> None:
    """What pip would leave behind: a module, and a dist-info that announces it."""
    site.mkdir(exist_ok=True)
    (site / f"{package}.py").write_text(code)
    info = site / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[agentd.agents]\n{points}\n")


def ask(site: Path, name: str) -> str:
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-P", "-c", ASK, name],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    ).stdout.strip()


def test_a_built_in_agent_is_found() -> None:
    adapter = find("scripted")
    assert adapter is ADAPTERS["scripted"]
    job = Job("c", "s", "r", 1, "hi", ".", ".", settings={"script": "script.yaml"})
    assert adapter.command(job) == scripted.command(job)
    assert adapter.read(["x"]) == scripted.read(["x"])


def test_every_row_has_a_module_with_its_two_functions() -> None:
    for name, adapter in ADAPTERS.items():
        module = import_module(f"agentd.agents.{name}")
        assert adapter.name == name
        assert callable(module.command)
        assert callable(module.read)


def test_the_folders_of_an_agent_are_named_after_its_program() -> None:
    named = [(row.program, Path(folder.path).name) for row in ADAPTERS.values() for folder in row.folders]
    assert all(name.lstrip(".") == program for program, name in named if program)


def test_the_settings_of_agents_are_read_without_importing_an_adapter() -> None:
    code = "import sys, agentd.runs.config; print(*(name for name in sys.modules if 'agentd.agents' in name))"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert sorted(done.stdout.split()) == ["agentd.agents", "agentd.agents.programs"]


def test_the_settings_of_agents_are_those_of_the_table() -> None:
    assert {name: row.program for name, row in ADAPTERS.items()} == PROGRAMS
    assert {name: row.efforts for name, row in ADAPTERS.items() if row.efforts} == EFFORTS


# Names of adapters that stand outside of the table, and why.
NAMED = {("runs/defaults.py", name): "the default of [roles]" for name in ("claude", "codex", "gemini")}


def test_only_the_table_names_adapters() -> None:
    names = {*ADAPTERS, *(Path(folder.path).name.lstrip(".") for row in ADAPTERS.values() for folder in row.folders)}
    names.remove("command")  # also an English word, and a key of every agent's section
    found = set()
    for path in (file for room in ("calling", "runs") for file in (SRC / room).rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                words = set(re.findall("[a-z]+", node.value.lower()))
                found |= {(path.relative_to(SRC).as_posix(), name) for name in words & names}
    assert found == set(NAMED)


def test_an_unknown_agent_is_refused_with_the_known_ones() -> None:
    with pytest.raises(NotFound, match="There is no agent called 'cluade'") as caught:
        find("cluade")
    assert "scripted" in caught.value.fix


@pytest.mark.parametrize("points", ["mine = agentd_mine", "mine = agentd_mine:ADAPTER"])
def test_the_agent_of_another_package_is_found(tmp_path: Path, points: str) -> None:
    code = ADAPTER + "from agentd.agents.adapter import Adapter\nADAPTER = Adapter('mine', command, read)\n"
    install(tmp_path, "agentd_mine", points, code)
    assert ask(tmp_path, "mine") == "mine echo hi x"
    assert "mine, opencode, scripted" in ask(tmp_path, "other")


@pytest.mark.parametrize(
    ("point", "code", "why"),
    [
        ("mine = agentd_mine", "import no_such_module_at_all", "ModuleNotFoundError: No module named"),
        ("mine = agentd_mine", "this is no python", "SyntaxError"),
        ("mine = agentd_mine", "raise SystemExit('bye')", "SystemExit: bye"),
        ("mine = agentd_mine:nothing", ADAPTER, "AttributeError"),
        ("mine = agentd_mine", "command = print", "AttributeError"),
        ("mine = agentd_mine", "command = read = 5", "`command` and `read` must be functions"),
        ("mine = not a module!", ADAPTER, "cannot be loaded"),
    ],
)
def test_a_broken_agent_names_its_package(tmp_path: Path, point: str, code: str, why: str) -> None:
    install(tmp_path, "agentd_mine", point, code)
    error, message, fix = ask(tmp_path, "mine").split("|")
    assert error == "BadConfig"
    assert "The agent 'mine' of the package agentd_mine" in message
    assert why in message
    assert "agentd_mine" in fix


def test_two_packages_with_the_same_agent_are_both_named(tmp_path: Path) -> None:
    install(tmp_path, "agentd_one", "mine = agentd_one", ADAPTER)
    install(tmp_path, "agentd_two", "mine = agentd_two", ADAPTER)
    assert "agentd_one and agentd_two both bring an agent called 'mine'" in ask(tmp_path, "mine")


def test_another_package_cannot_take_the_name_of_a_built_in_agent(tmp_path: Path) -> None:
    install(tmp_path, "agentd_mine", "scripted = agentd_mine", ADAPTER)
    assert ask(tmp_path, "scripted").startswith("BadConfig|The scripted agent has no script")


def test_finding_a_built_in_agent_does_not_look_at_other_packages() -> None:
    code = "import sys; from agentd.agents.plugins import find; find('scripted'); print('importlib.metadata' in sys.modules)"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout.strip() == "False"
