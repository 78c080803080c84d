"""Imports go down only: a room knows the rooms below it and itself, and the pure rooms touch nothing outside."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src"
LEVELS = [
    {"errors"},
    {"process", "redaction", "model", "yamltext"},
    {"engine", "workflows", "documents", "checks", "prompts", "state", "agents", "evidence", "git", "usage"},
    {"app"},
    {"mcp", "web"},
    {"cli"},  # starts the other faces
    {"__init__", "__main__"},
]
HEIGHT = {room: height for height, rooms in enumerate(LEVELS) for room in rooms}
PURE = {"model", "engine", "documents", "checks"}
FACES = {"cli", "mcp", "web"}
SEEN_BY_FACES = {"app", "model", "errors", "mcp", "web"}
OUTSIDE = {"io", "logging", "os", "pathlib", "random", "shutil", "socket", "subprocess", "tempfile", "time"}


def imported(tree: ast.AST, package: str) -> Iterator[str]:
    """Every module a file of the package imports, wherever in the file; `from x import y` as `x.y`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            yield from (".".join([*parents, *filter(None, [node.module]), alias.name]) for alias in node.names)


def complaints(path: str, source: str) -> list[str]:
    """What is wrong with the imports of a file, its path given from src."""
    parts = Path(path).with_suffix("").parts
    room, found = parts[1], []
    if room not in HEIGHT:
        return [f"{path}: agentd.{room} has no place in the order"]
    for name in imported(ast.parse(source), ".".join(parts[:-1])):
        top, _, rest = name.partition(".")
        target = rest.partition(".")[0]
        if top in OUTSIDE and room in PURE:
            found.append(f"{path}: a pure room imports {top}")
        if top != "agentd" or target in (room, "__version__"):
            continue
        if HEIGHT.get(target, HEIGHT["__init__"]) >= HEIGHT[room]:
            found.append(f"{path}: agentd.{room} imports {name}")
        elif room in FACES and target not in SEEN_BY_FACES:
            found.append(f"{path}: a face imports {name}; it speaks to app")
    return found


def test_imports_go_down_only() -> None:
    files = sorted(SRC.glob("agentd/**/*.py"))
    assert files
    found = [line for file in files for line in complaints(str(file.relative_to(SRC)), file.read_text("utf-8"))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("agentd/engine/decide.py", "import agentd.state.store"),
        ("agentd/engine/decide.py", "from agentd import state"),
        ("agentd/engine/decide.py", "from agentd.app import wire"),
        ("agentd/engine/decide.py", "from ..workflows import load"),
        ("agentd/engine/decide.py", "from .. import state"),
        ("agentd/engine/__init__.py", "from ..state import store"),
        ("agentd/engine/decide.py", "def decide():\n    from agentd.prompts import render"),
        ("agentd/engine/decide.py", "import os.path"),
        ("agentd/model/run.py", "if True:\n    from pathlib import Path"),
        ("agentd/model/run.py", "import agentd.process"),
        ("agentd/cli/list.py", "from agentd.state.layout import Place"),
        ("agentd/documents/tasks.py", "from io import StringIO"),
        ("agentd/checks/coverage.py", "from agentd.documents.tasks import read"),
        ("agentd/errors.py", "from agentd.model.run import Run"),
        ("agentd/process.py", "from agentd.model.run import Run"),
        ("agentd/app.py", "from agentd.cli import main"),
        ("agentd/mcp/server.py", "from agentd.web import pages"),
        ("agentd/cli/plan.py", "from agentd import start"),
        ("agentd/cli/plan.py", "import agentd"),
        ("agentd/state/store.py", "from agentd.cellar import wine"),
        ("agentd/cellar/wine.py", ""),
    ],
)
def test_an_import_upwards_or_sideways_is_found(path: str, source: str) -> None:
    assert len(complaints(path, source)) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("agentd/engine/decide.py", "from agentd.model.run import Run\nfrom agentd import errors"),
        ("agentd/engine/decide.py", "from . import waves\nfrom .advance import advance\nfrom ..model import run"),
        ("agentd/engine/__init__.py", "from .decide import decide"),
        ("agentd/state/store.py", "import os\nfrom pathlib import Path\nfrom agentd.process import run"),
        ("agentd/app.py", "from agentd import process\nimport agentd.engine.decide\nimport time"),
        ("agentd/cli/plan.py", "from agentd import __version__, app"),
        ("agentd/__init__.py", "from agentd.app import load\nfrom . import cli"),
        ("agentd/__main__.py", "from agentd.cli import main"),
        ("agentd/model/run.py", "from agentd.errors import AgentdError\nimport re, ostrich"),
    ],
)
def test_an_import_downwards_or_within_a_room_is_fine(path: str, source: str) -> None:
    assert complaints(path, source) == []


# An adapter turns values into values: whatever it may use is listed, and of what could do more, which part.
ADAPTERS = ("claude", "codex", "gemini", "opencode", "copilot", "acp", "builtin", "command", "scripted")
ADAPTED = {"agentd.errors", "agentd.model", *(f"agentd.agents.{name}" for name in (*ADAPTERS, "events", "protocol"))}
HARMLESS = {"collections", "dataclasses", "hashlib", "json", "math", "re", "shlex", "typing", *ADAPTED}
PARTS = {"os": {"path.join", "path.basename", "path.dirname", "path.normpath", "sep"}, "sys": {"executable"}}
DOING = {"open", "input", "print", "exec", "eval", "compile", "breakpoint", "__import__"}


def deeds(source: str) -> list[str]:
    """What an adapter's source does besides turning values into values."""
    tree = ast.parse(source)
    found = []
    for name in imported(tree, "agentd.agents"):
        if name not in PARTS and not any(f"{name}.".startswith(f"{each}.") for each in HARMLESS):
            found.append(f"imports {name}")
    used: dict[str, set[str]] = {module: set() for module in PARTS}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            module, _, part = ast.unparse(node).partition(".")
            used.get(module, set()).add(part)
        elif isinstance(node, ast.Name) and node.id in DOING:
            found.append(f"calls {node.id}")
        elif isinstance(node, ast.alias) and node.name in PARTS and node.asname:
            found.append(f"imports {node.name} as {node.asname}")
    # `os.path` by itself is there as a part of `os.path.join`.
    parts = {module: allowed | {part.partition(".")[0] for part in allowed} for module, allowed in PARTS.items()}
    return [*found, *(f"uses {module}.{part}" for module, named in used.items() for part in named - parts[module])]


@pytest.mark.parametrize("name", [*ADAPTERS, "events", "protocol"])
def test_an_adapter_turns_values_into_values(name: str) -> None:
    assert deeds((SRC / "agentd" / "agents" / f"{name}.py").read_text("utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess",
        "import time",
        "from pathlib import Path",
        "from os import environ",
        "import os as system",
        "import os\nhome = os.environ",
        "import os\nos.path.exists('x')",
        "import sys\nsys.stdin",
        "def read(lines):\n    return open('x')",
        "from agentd.agents import player",
        "from agentd.state import durable",
        "from agentd import process",
    ],
)
def test_an_adapter_that_does_something_is_found(source: str) -> None:
    assert len(deeds(source)) == 1
