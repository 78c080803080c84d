"""The law of the house: imports go down only, rooms on one level do not know each other, the pure ones touch nothing
outside, and a family's words stand in its own room."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from agentd.agents.table import ADAPTERS
from agentd.app import LAYOUTS
from tests.built_in import read_built_in

SRC = Path(__file__).parents[1] / "src"
LEVELS = [
    {"errors", "patterns", "values"},
    {"clock", "files", "model", "process", "redaction", "temporary", "workers"},
    {"text"},
    {"engine", "workflows", "state", "git", "usage", "agents", "evidence", "prompts"},
    {"machine"},
    {"runs"},
    {"calling"},
    {"proof", "review", "library", "landing"},
    {"workspaces"},
    {"families/change", "families/team", "families/staged", "families/own"},
    {"app"},
    {"mcp", "web", "demo"},
    {"cli"},  # starts the other faces
    {"__init__", "__main__"},
]
HEIGHT = {room: height for height, rooms in enumerate(LEVELS) for room in rooms}
PURE = ("model", "engine", "text", "proof/integrity", "library/spec", "families/change/documents")
OUTSIDE = {"io", "logging", "os", "pathlib", "random", "shutil", "socket", "subprocess", "tempfile", "time"}
# The imports of agentd inside functions, each with its reason. There may be ten.
LATE = {
    ("agents/acp_client.py", "agentd.agents.acp_conversation"): "needs a package that may not be installed",
    ("agents/acp_client.py", "agentd.process"): "only when the client is told to end",
    ("agents/scripted_agent.py", "agentd.agents.mcp_client"): "a scripted agent without tools starts no server",
    ("cli/__init__.py", "agentd.cli.group"): "the page of --help needs no click",
    ("cli/mcp.py", "agentd.mcp"): "the SDK takes a second to import",
    ("runs/overview.py", "agentd.runs.family"): "looking at all runs loads no family's code",
    ("runs/tables.py", "agentd.workflows.check"): "the built-in tables are proved by the tests",
    ("text/lossless_yaml/load.py", "agentd.text.lossless_yaml.read"): "no plain text needs the parser",
    ("workflows/shipped.py", "agentd.workflows"): "no compiled table needs the parser",
}
# Words of a family that mean something else where they stand, and what.
HOMONYMS = {
    ("agents/scripted_agent.py", "code"): "the exit code in an entry of a script",
    ("agents/scripted_agent.py", "done"): "the outcome of an entry that names none",
    ("families/own/__init__.py", "run_tests"): "an action",
    ("model/tools.py", "draft_questions"): "a tool",
    ("usage/budget.py", "change"): "the limit [budget] per_change",
}


def imported(tree: ast.AST, package: str) -> Iterator[str]:
    """Every module a file of the package imports, wherever in the file; `from x import y` as `x.y`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            yield from (".".join([*parents, *filter(None, [node.module]), alias.name]) for alias in node.names)


def room_of(parts: tuple[str, ...]) -> str:
    """The room that a module below agentd lies in, by the parts of its name."""
    return "/".join(parts[:2]) if parts[0] == "families" and len(parts) > 1 else parts[0]


def complaints(path: str, tree: ast.Module) -> list[str]:
    """What is wrong with the imports of a file, its path given from src."""
    parts = Path(path).with_suffix("").parts
    room, found = room_of(parts[1:]), []
    if room not in HEIGHT and parts[1:] != ("families", "__init__"):
        return [f"{path}: agentd.{room} has no place in the order"]
    for name in imported(tree, ".".join(parts[:-1])):
        top, *rest = name.split(".")
        if top in OUTSIDE and path.startswith(tuple(f"agentd/{pure}/" for pure in PURE)):
            found.append(f"{path}: a pure room imports {top}")
        target = room_of(tuple(rest)) if rest else "__init__"
        if top != "agentd" or target in (room, "__version__"):
            continue
        if HEIGHT.get(target, HEIGHT["__init__"]) >= HEIGHT[room]:
            found.append(f"{path}: agentd.{room} imports {name}")
    return found


@cache
def sources() -> list[tuple[str, ast.Module]]:
    """Every module of agentd, by its path below the package."""
    files = sorted((SRC / "agentd").rglob("*.py"))
    assert len(files) > 100
    return [(file.relative_to(SRC / "agentd").as_posix(), ast.parse(file.read_text("utf-8"))) for file in files]


def test_imports_go_down_only() -> None:
    found = [line for path, tree in sources() for line in complaints(f"agentd/{path}", tree)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("agentd/engine/decide.py", "import agentd.state.store"),
        ("agentd/engine/decide.py", "from agentd import state"),
        ("agentd/engine/decide.py", "from agentd.runs import work"),
        ("agentd/engine/decide.py", "from ..workflows import load"),
        ("agentd/engine/decide.py", "from .. import state"),
        ("agentd/engine/__init__.py", "from ..state import store"),
        ("agentd/engine/decide.py", "def decide():\n    from agentd.prompts import render"),
        ("agentd/engine/decide.py", "import os.path"),
        ("agentd/model/run.py", "if True:\n    from pathlib import Path"),
        ("agentd/model/run.py", "import agentd.process"),
        ("agentd/library/spec/spec_tree.py", "from io import StringIO"),
        ("agentd/proof/record.py", "from agentd.review import issue_ledger"),
        ("agentd/runs/work.py", "from agentd.calling.call import Callers"),
        ("agentd/calling/call.py", "from agentd.families.change.plan import plan"),
        ("agentd/families/team/family.py", "from agentd.families.change import LAYOUT"),
        ("agentd/families/own/family.py", "from agentd.families import change"),
        ("agentd/families/change/family.py", "from agentd.app import LAYOUTS"),
        ("agentd/errors.py", "from agentd.model.run import Run"),
        ("agentd/app.py", "from agentd.cli import main"),
        ("agentd/mcp/server.py", "from agentd.web import pages"),
        ("agentd/cli/plan.py", "from agentd import start"),
        ("agentd/cli/plan.py", "import agentd"),
        ("agentd/state/store.py", "from agentd.cellar import wine"),
        ("agentd/cellar/wine.py", ""),
        ("agentd/families/cellar/wine.py", ""),
    ],
)
def test_an_import_upwards_or_sideways_is_found(path: str, source: str) -> None:
    assert len(complaints(path, ast.parse(source))) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("agentd/engine/decide.py", "from agentd.model.run import Run\nfrom agentd import errors"),
        ("agentd/engine/decide.py", "from . import waves\nfrom .advance import advance\nfrom ..model import run"),
        ("agentd/state/store.py", "import os\nfrom pathlib import Path\nfrom agentd.process import run"),
        ("agentd/proof/record.py", "from agentd.calling import sandbox\nfrom agentd.runs.work import Work"),
        (
            "agentd/families/change/plan.py",
            "from agentd.families.change import NAME\nfrom agentd.review import issue_ledger",
        ),
        ("agentd/app.py", "from agentd import process\nfrom agentd.families import change, own\nimport time"),
        ("agentd/cli/plan.py", "from agentd import __version__, app\nfrom agentd.families.change.plan import plan"),
        ("agentd/__init__.py", "from agentd.app import load\nfrom . import cli"),
        ("agentd/__main__.py", "from agentd.cli import main"),
        ("agentd/model/run.py", "from agentd.errors import AgentdError\nimport re, ostrich"),
    ],
)
def test_an_import_downwards_or_within_a_room_is_fine(path: str, source: str) -> None:
    assert complaints(path, ast.parse(source)) == []


def test_what_is_imported_inside_functions_is_listed_with_its_reason() -> None:
    found = set()
    for path, tree in sources():
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        inner = [node for function in functions for node in ast.walk(function)]
        modules = [(node.module, node.lineno) for node in inner if isinstance(node, ast.ImportFrom) and node.module]
        found |= {(path, module, line) for module, line in modules if module.split(".")[0] == "agentd"}
    assert {(path, module) for path, module, _ in found} == LATE.keys()
    assert len(found) <= 10


def test_no_import_is_there_for_a_type_checker_alone() -> None:
    blocks = [
        (path, ast.unparse(node))
        for path, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and "TYPE_CHECKING" in node.test.id
    ]
    assert not [(path, text) for path, text in blocks if "from agentd" in text or "import agentd" in text]


def test_no_modules_import_each_other_in_a_circle() -> None:
    modules = {
        f"agentd.{path}".removesuffix(".py").replace("/", ".").removesuffix(".__init__") for path, _ in sources()
    }
    graph: dict[str, set[str]] = {}
    for path, tree in sources():
        parts = ("agentd", *Path(path).with_suffix("").parts)
        name = ".".join(parts).removesuffix(".__init__")
        names = [*imported(tree, ".".join(parts[:-1]))]
        graph[name] = {each if each in modules else each.rpartition(".")[0] for each in names} & modules - {name}
    left = dict(graph)
    while free := [name for name, targets in left.items() if not targets & left.keys()]:
        for name in free:
            del left[name]
    reached = {name for targets in left.values() for name in targets if name in left}
    assert not {name for name in left if name in reached}, left


def literals(tree: ast.Module) -> Iterator[tuple[str, int, bool]]:
    """Every text in a module's code that is no docstring, with its line, and whether it is used as the name of a step: it
    is compared with one, or looked up among steps or entries."""
    docs = {id(node.body[0].value) for node in ast.walk(tree) if _is_documented(node)}  # type: ignore[attr-defined]
    about_steps = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare | ast.Subscript | ast.Call) and re.search(r"step\b|steps\b|entr", _names(node)):
            about_steps |= {id(part) for part in ast.iter_child_nodes(node)}
            about_steps |= {
                id(each) for part in ast.iter_child_nodes(node) if isinstance(part, ast.Tuple) for each in part.elts
            }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value, node.lineno, id(node) in about_steps


def _is_documented(node: ast.AST) -> bool:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return isinstance(node, kinds) and ast.get_docstring(node) is not None


def _names(node: ast.AST) -> str:
    """The names that stand in a node itself, not deeper in a call or a lookup of their own."""
    found = []
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.Name | ast.Attribute | ast.Constant):
            found.append(ast.unparse(part))
    return " ".join(found)


def test_the_words_of_a_family_stand_in_its_own_room() -> None:
    """Its name and the names of its steps. A plain word such as `test` is found where it is used as the name of a step; one
    that can be nothing else is found everywhere. The commands of a family are faces of their own, and name it."""
    words = {layout.name: {*layout.workflows} for layout in LAYOUTS}
    steps = {layout.name: {s for name in layout.workflows for s in read_built_in(name).steps} for layout in LAYOUTS}
    found = []
    for path, tree in sources():
        room = room_of(Path(path).with_suffix("").parts)
        if HEIGHT.get(room, 99) >= HEIGHT["app"]:
            continue
        for text, line, as_step in literals(tree):
            for family in words:
                plain = "_" not in text and "-" not in text
                named = text in words[family] or (text in steps[family] and (as_step or not plain))
                mine = text in steps.get(room.partition("/")[2], ())
                if named and not mine and room != f"families/{family}" and (path, text) not in HOMONYMS:
                    found.append(f"{path}:{line}: {text!r} is a word of {family}")
    assert not found, "\n".join(found)


# An adapter turns values into values: whatever it may use is listed, and of what could do more, which part.
ADAPTED = {
    "agentd.errors",
    "agentd.patterns",
    "agentd.values",
    "agentd.model",
    *(f"agentd.agents.{name}" for name in (*ADAPTERS, "events", "protocol")),
}
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
        "from agentd.agents import scripted_agent",
        "from agentd.state import durable",
        "from agentd import process",
    ],
)
def test_an_adapter_that_does_something_is_found(source: str) -> None:
    assert len(deeds(source)) == 1
