"""What a command of the project needs to be installed, and what installs it. Starts nothing that the project brings."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from agentd.evidence.detection.folder import Folder, strings, table
from agentd.evidence.detection.node import manager_of
from agentd.evidence.detection.python import MARKS, REQUIREMENTS, venv_of
from agentd.model.command import Command
from agentd.model.evidence import Result
from agentd.patterns import regex

# The folders that a project's commands need beside its files, and git does not keep.
INSTALLED = ("node_modules", ".venv", "venv", "vendor")
LAUNCHERS = ("uv", "poetry", "make", "just", "tox")
EXTRAS = ("test", "tests", "testing", "dev", "develop")
MOST = 20  # requirements that a line to paste spells out
PATIENCE = 10.0
_PYTHON = regex(r"(python|pypy)[\d.]*$")
_NODE = ("npm", "npx", "pnpm", "yarn", "node")
_FIND = "import importlib.util as u, sys; sys.exit(u.find_spec(sys.argv[1]) is None)"
_NOT_THERE = regex(r"No module named|ModuleNotFoundError|Cannot find (module|package)|MODULE_NOT_FOUND")


def absent_launchers() -> frozenset[str]:
    """The launchers and task runners that this machine does not have; a project can be tested without most of them."""
    return frozenset(name for name in LAUNCHERS if shutil.which(name) is None)


def lacking(command: Command, root: Path) -> str:
    """What is not installed and the command needs, or nothing. What a target or a script runs in turn is not known."""
    try:
        program, *rest = shlex.split(command.run)
    except ValueError:
        return ""
    folder = root / command.folder
    if not (os.access(folder / program, os.X_OK) if "/" in program else shutil.which(program)):
        return os.path.basename(program)
    if _PYTHON.search(program) and rest[:1] == ["-m"] and rest[1:]:
        return "" if _has_module(folder, program, rest[1]) else rest[1]
    if program == "cargo" and rest[:1] in (["audit"], ["clippy"]):
        return "" if shutil.which(f"cargo-{rest[0]}") else f"cargo-{rest[0]}"
    if program in _NODE and command.kind != "audit":
        return _packages(Folder(root, command.folder), rest)
    return ""


def remedy(command: Command, root: Path) -> str:
    """A line to paste that installs what the command needs, by what the project has; nothing if that is not known."""
    folder, top = Folder(root, command.folder), Folder(root, "")
    words = command.run.split()
    program = os.path.basename(words[0]) if words else ""
    node = bool(folder.has("package.json"))
    python = bool(folder.has(*MARKS))
    if program in _NODE or (node and not python and not _PYTHON.search(program)):
        install = _npm(folder, top)
    elif python or _PYTHON.search(program):
        install = _pip(folder, top)
    else:
        return "" if not program or shutil.which(program) else f"install {program}"
    return f"cd {shlex.quote(command.folder)} && {install}" if command.folder else install


def is_uninstalled(result: Result) -> bool:
    """Whether a command that is not green looks as if something was not installed."""
    return result.status == "unknown" or any(map(_NOT_THERE.search, result.output))


def _has_module(folder: Path, program: str, name: str) -> bool:
    """A virtual environment is looked into, and never started: it may have come with the repository."""
    name = name.partition(".")[0]
    if "/" in program:
        home = (folder / program).parent.parent
        return any(any(home.glob(f"lib/python*/site-packages/{each}")) for each in (name, f"{name}.py"))
    try:
        words = [program, "-c", _FIND, name]
        done = subprocess.run(words, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
    except (OSError, subprocess.SubprocessError):
        return True
    return done.returncode == 0


def _packages(folder: Folder, rest: Sequence[str]) -> str:
    needed = {**table(folder.package, "dependencies"), **table(folder.package, "devDependencies")}
    homes = [folder.path, *(each for each in folder.path.parents if each.is_relative_to(folder.root))]
    if rest[:1] == ["--no-install"] and rest[1:]:
        return "" if any((home / "node_modules/.bin" / rest[1]).exists() for home in homes) else rest[1]
    there = any((home / name).exists() for home in homes for name in ("node_modules", ".pnp.cjs"))
    return "node_modules" if needed and not there else ""


def _npm(folder: Folder, top: Folder) -> str:
    manager, lock = manager_of(folder, top)
    lock = lock or top.has("package-lock.json", "pnpm-lock.yaml", "yarn.lock", "npm-shrinkwrap.json")
    install = f"{manager} install{' --frozen-lockfile' if lock else ''}" if manager != "npm" or not lock else "npm ci"
    return install if manager == "npm" or shutil.which(manager) else f"npm install -g {manager} && {install}"


def _pip(folder: Folder, top: Folder) -> str:
    for lock, install in (("uv.lock", "uv sync --all-extras"), ("poetry.lock", "poetry install")):
        if (folder.has(lock) or top.has(lock)) and shutil.which(install.split()[0]):
            return install
    if venv := venv_of(folder):
        pip = f"{venv}/bin/python -m pip"
    else:
        pip = "pip" if os.environ.get("VIRTUAL_ENV") else "python3 -m venv .venv && .venv/bin/pip"
    return f"{pip} install {' '.join(_wanted(folder))}"


def _wanted(folder: Folder) -> list[str]:
    """What pip has to install for the tests: the project with its extra for tests, a group, a file of requirements."""
    project = table(folder.pyproject, "project")
    own = ["-e ."] if folder.has("setup.py") or project or table(folder.pyproject, "build-system") else []
    extras = table(project, "optional-dependencies")
    setup = folder.text("setup.cfg") + folder.text("setup.py")
    for name in EXTRAS:
        if name in extras or re.search(rf"""^\s*["']?{name}["']?\s*[=:]\s*(\[|$)""", setup, re.MULTILINE):
            return [f"-e '.[{name}]'"]
    groups = table(folder.pyproject, "dependency-groups")
    group = next((strings(groups.get(name)) for name in EXTRAS if strings(groups.get(name))), [])
    if group and len(group) <= MOST:
        return [*own, *map(shlex.quote, group)]
    files = [name for name in folder.files if REQUIREMENTS.fullmatch(name)]
    file = next((name for word in ("test", "dev") for name in files if word in name), "")
    if file:
        return [f"-r {shlex.quote(file)}", *own]
    return [*(["-r requirements.txt"] if "requirements.txt" in files else []), *own, "pytest"]
