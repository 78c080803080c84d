"""A folder of a project, for detection: it reads small files, never raises and never writes."""

import json
import os
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from agentd import files
from agentd.model.command import Command, Kind
from agentd.text import toml
from agentd.values import dataclass

MOST_FILES = 20_000
READ = (".py", ".js", ".mjs", ".cjs", ".txt", ".in")
MANIFESTS = (
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
)
# Folders that are installed or built; samples; and folders with tests and documentation.
INSTALLED = {
    "node_modules",
    "target",
    "build",
    "dist",
    "vendor",
    "agentd",
    "venv",
    "env",
    "__pycache__",
    "site-packages",
}
SAMPLES = {"testdata", "fixtures", "example", "examples"}
SKIPPED = {*INSTALLED, *SAMPLES, "test", "tests", "doc", "docs"}


@dataclass(frozen=True)
class Folder:
    """A folder of the project; `name` is its path from the root, nothing for the root itself.

    `absent` are launchers and task runners that are not installed: no command is started by one of them.
    """

    root: Path
    name: str
    absent: frozenset[str] = frozenset()

    @property
    def path(self) -> Path:
        return self.root / self.name

    def has(self, *names: str) -> str:
        """The first of the names that is a file here."""
        return next((name for name in names if _is_file(self.path / name)), "")

    def text(self, name: str) -> str:
        """The text of a file; empty if it is missing, too large, or cannot be read."""
        return files.text(self.path / name) or ""

    def command(self, kind: Kind, run: str, source: str) -> Command:
        return Command(kind, run, self.name, f"{self.name}/{source}" if self.name else source)

    @cached_property
    def package(self) -> dict[str, Any]:
        """package.json."""
        try:
            found = json.loads(self.text("package.json") or "{}")
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    @cached_property
    def pyproject(self) -> dict[str, Any]:
        return self.toml("pyproject.toml")

    def toml(self, name: str) -> dict[str, Any]:
        try:
            return toml.parse(self.text(name))
        except ValueError:
            return {}

    def sections(self, name: str) -> set[str]:
        """The names of the sections of an INI file."""
        return set(re.findall(r"^\[([^\]\n]+)\]", self.text(name), re.MULTILINE))

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The files of interest here and up to four folders below, without folders that are projects of their own."""
        return tuple(islice(_walk(self.path, "", 4), MOST_FILES))


def table(data: object, *names: str) -> dict[str, Any]:
    """A table inside of tables; empty if there is none."""
    for name in names:
        data = data.get(name) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def strings(value: object) -> list[str]:
    """The strings in a list, or in the lists of a table."""
    if isinstance(value, dict):
        return [word for each in value.values() for word in strings(each)]
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def entries(path: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(path) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _walk(path: Path, name: str, depth: int) -> Iterator[str]:
    folders = []
    for entry in entries(path):
        inside = f"{name}/{entry.name}" if name else entry.name
        if entry.is_dir(follow_symlinks=False):
            folders.append((entry, inside))
        elif entry.name.endswith(READ):
            yield inside
    for entry, inside in folders:
        if depth == 1 or entry.name.startswith(".") or entry.name in INSTALLED | SAMPLES:
            continue
        if entry.name in SKIPPED or not Folder(path, entry.name).has(*MANIFESTS):
            yield from _walk(path / entry.name, inside, depth - 1)
