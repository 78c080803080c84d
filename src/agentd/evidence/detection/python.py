"""How a Python project is tested, linted, type-checked and audited if nothing else declares it. Reads only."""

import re
import shlex
from collections.abc import Iterator

from agentd.evidence.detection.folder import Folder, strings, table
from agentd.model.command import Command
from agentd.patterns import regex

VENVS = (".venv", "venv")
MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "pytest.ini", "tox.ini", "conftest.py")
LOOKED_AT = 50
UV = "uv run "

_TEST_FILE = regex(r"(?:^|/)(?:test_[^/]*|[^/]*_test)\.py$")
_DISCOVERED = regex(r"(?:^|/)test[^/]*\.py$")
_IMPORT = regex(r"^\s*(?:import|from) pytest\b", re.MULTILINE)
REQUIREMENTS = regex(r"requirements/[\w.-]+\.(?:txt|in)|[\w.-]*requirements[\w.-]*\.(?:txt|in)")
_NEEDS = regex(r"^\s*pytest(?![\w-])", re.IGNORECASE | re.MULTILINE)


def commands(folder: Folder, top: Folder) -> Iterator[Command]:
    """At most one command for each kind, with the folder's own interpreter if it has one."""
    tests = [file for file in folder.files if _TEST_FILE.search(file)]
    if not folder.has(*MARKS) and not tests:
        return
    if source := _pytest(folder, tests):
        yield folder.command("test", _tool(folder, top, "pytest", module=True), source)
    elif run := _unittest(folder, tests):
        yield folder.command("test", f"{_python(folder, top)} {run}", tests[0])
    if source := _configured(folder, ("ruff.toml", ".ruff.toml"), "ruff"):
        yield folder.command("lint", f"{_tool(folder, top, 'ruff')} check --no-fix .", source)
    if source := _configured(folder, ("mypy.ini", ".mypy.ini"), "mypy"):
        chosen = table(folder.pyproject, "tool", "mypy").keys() & {"files", "packages", "modules"}
        named = chosen or re.search(r"^(?:files|packages|modules)\s*=", folder.text(source), re.MULTILINE)
        yield folder.command("types", _tool(folder, top, "mypy") + ("" if named else " ."), source)
    elif source := _configured(folder, ("pyrightconfig.json",), "pyright"):
        yield folder.command("types", _tool(folder, top, "pyright"), source)
    yield from _audit(folder, top)


def venv_of(folder: Folder) -> str:
    """The virtual environment of a folder, or nothing."""
    return next((venv for venv in VENVS if (folder.path / venv / "bin" / "python").exists()), "")


def _launcher(folder: Folder, top: Folder) -> str:
    """The prefix that runs a tool, if a lock file says what installs it."""
    for each in (folder, top):
        if each.has("uv.lock") and "uv" not in each.absent:
            return UV
        if each.has("poetry.lock") and "poetry" not in each.absent:
            return "poetry run "
    return ""


def _python(folder: Folder, top: Folder) -> str:
    if venv := venv_of(folder):
        return f"{venv}/bin/python"
    launcher = _launcher(folder, top)
    return f"{launcher}python" if launcher else "python3"


def _tool(folder: Folder, top: Folder, name: str, module: bool = False) -> str:
    venv = venv_of(folder)
    if venv and module:
        return f"{venv}/bin/python -m {name}"
    if venv:
        return f"{venv}/bin/{name}" if folder.has(f"{venv}/bin/{name}") else name
    launcher = _launcher(folder, top)
    if launcher == UV and not module:  # what is no test leaves the lock file as it is
        launcher += "--frozen "
    return f"{launcher}{name}" if launcher or not module else f"python3 -m {name}"


def _configured(folder: Folder, files: tuple[str, ...], tool: str) -> str:
    """The source that configures a tool, or nothing."""
    if file := folder.has(*files):
        return file
    if tool in table(folder.pyproject, "tool"):
        return f"pyproject.toml tool.{tool}"
    return "setup.cfg" if tool in folder.sections("setup.cfg") else ""


def _pytest(folder: Folder, tests: list[str]) -> str:
    if "pytest" in table(folder.pyproject, "tool"):
        return "pyproject.toml tool.pytest"
    if file := folder.has("pytest.ini", ".pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py"):
        return file
    for file, section in (("setup.cfg", "tool:pytest"), ("tox.ini", "pytest")):
        if section in folder.sections(file):
            return file
    if any(_NEEDS.match(need) for need in _needs(folder)):
        return "pyproject.toml"
    for file in folder.files:
        if REQUIREMENTS.fullmatch(file) and _NEEDS.search(folder.text(file)):
            return file
    return next((file for file in tests[:LOOKED_AT] if _IMPORT.search(folder.text(file))), "")


def _needs(folder: Folder) -> list[str]:
    """Every dependency in pyproject.toml, for whatever purpose."""
    data = folder.pyproject
    poetry = table(data, "tool", "poetry")
    tables = [poetry, *table(poetry, "group").values()]
    named = [name for each in tables for key in ("dependencies", "dev-dependencies") for name in table(each, key)]
    project = table(data, "project")
    return [
        *strings(project.get("dependencies")),
        *strings(project.get("optional-dependencies")),
        *strings(data.get("dependency-groups")),
        *named,
    ]


def _unittest(folder: Folder, tests: list[str]) -> str:
    """unittest's discovery from the folder with the tests; it finds only test*.py."""
    found = [file for file in tests if _DISCOVERED.search(file)]
    if not found:
        return ""
    place = next((name for name in ("tests", "test") if any(file.startswith(f"{name}/") for file in found)), "")
    if not place and "/" in found[0]:
        place = found[0].rpartition("/")[0]
    if not place:
        return "-m unittest discover"
    top = " -t ." if folder.has(f"{place}/__init__.py") else ""
    return f"-m unittest discover -s {shlex.quote(place)}{top}"


def _audit(folder: Folder, top: Folder) -> Iterator[Command]:
    if folder.has("requirements.txt"):
        yield folder.command("audit", f"{_tool(folder, top, 'pip-audit')} -r requirements.txt", "requirements.txt")
    elif strings(table(folder.pyproject, "project").get("dependencies")):
        yield folder.command("audit", f"{_tool(folder, top, 'pip-audit')} .", "pyproject.toml project.dependencies")
    elif table(folder.pyproject, "tool", "poetry", "dependencies").keys() - {"python"} and folder.has("poetry.lock"):
        yield folder.command("audit", "poetry run pip-audit", "poetry.lock")
