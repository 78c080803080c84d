"""Small projects laid out as real ones are: what is declared and not installed, what is installed, and what is half edited."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import files
from pathlib import Path

PYTEST = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


@dataclass(frozen=True)
class Project:
    """A repository, and a change of two new files that a model makes in it.

    files      what is committed
    code       the file with the feature, and the one with its test: path and text
    prepare    what is installed in it, and what its person has not committed yet
    questions  how many `impl` may ask before it is done
    helps      does what the question says to paste, as far as that can be done without a network
    notes      what `impl` says it did not run, and why
    ran        commands that were run
    """

    files: Mapping[str, str]
    code: tuple[str, str]
    test: tuple[str, str]
    prepare: Callable[[Path], None] = lambda root: None
    questions: int = 0
    helps: Callable[[Path], None] = lambda root: None
    fix: str = ""
    notes: tuple[str, ...] = ()
    ran: tuple[str, ...] = ()
    agents: tuple[str, ...] = field(default=("claude", "codex"))

    def make(self, root: Path) -> Path:
        for name, text in self.files.items():
            write(root / name, text)
        for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "The project")):
            person = ("-c", "user.name=A Person", "-c", "user.email=person@example.invalid")
            subprocess.run(("git", *person, *words), cwd=root, check=True)
        self.prepare(root)
        return root


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def virtual_environment(root: Path) -> None:
    """`.venv` as `python3 -m venv` lays it out."""
    subprocess.run(("python3", "-m", "venv", "--without-pip", ".venv"), cwd=root, check=True)


def pytest(root: Path) -> None:
    """pytest in it, as pip puts it there."""
    (place,) = (root / ".venv").glob("lib/python*/site-packages")
    for name in PYTEST:
        for file in files(name) or ():
            if file.suffix != ".pyc" and not file.parts[0].startswith(".."):
                (place / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file.locate(), place / file)


def edited(path: str, text: str) -> Callable[[Path], None]:
    """A file that its person is at work on."""
    return lambda root: write(root / path, text)


def all_of(*deeds: Callable[[Path], None]) -> Callable[[Path], None]:
    def do(root: Path) -> None:
        for deed in deeds:
            deed(root)

    return do


def ruff(root: Path) -> None:
    """The linter in the project's environment, as pip puts it there."""
    program = root / ".venv" / "bin" / "ruff"
    program.symlink_to(Path(sysconfig.get_path("scripts")) / "ruff")


def node_modules(root: Path) -> None:
    """As `npm ci` leaves it, with the one package that the project needs."""
    write(
        root / "node_modules" / "shout" / "package.json", '{"name": "shout", "version": "1.0.0", "main": "index.js"}\n'
    )
    write(root / "node_modules" / "shout" / "index.js", "module.exports = (text) => text.toUpperCase() + '!';\n")
    os.makedirs(root / "node_modules" / ".bin", exist_ok=True)


# Python: a package below src, its tests with pytest.
PACKAGE = {
    "README.md": "# greet\n\nSays hello.\n",
    "src/greet/__init__.py": '"""Greetings."""\n\n\ndef hello(name: str) -> str:\n    return f"Hello, {name}."\n',
    "tests/conftest.py": "import pathlib\nimport sys\n\nsys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'src'))\n",
    "tests/test_hello.py": 'from greet import hello\n\n\ndef test_hello():\n    assert hello("Ada") == "Hello, Ada."\n',
    ".gitignore": ".venv/\n__pycache__/\n.pytest_cache/\n.ruff_cache/\n",
}
PYTHON_CODE = (
    "src/greet/farewell.py",
    '"""Farewells."""\n\n\ndef goodbye(name: str) -> str:\n    return f"Goodbye, {name}."\n',
)
PYTHON_TEST = (
    "tests/test_farewell.py",
    'from greet.farewell import goodbye\n\n\ndef test_goodbye():\n    assert goodbye("Ada") == "Goodbye, Ada."\n',
)
PYPROJECT = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "greet"
version = "1.0.0"
dependencies = []

[project.optional-dependencies]
test = ["pytest"]

[tool.pytest.ini_options]
testpaths = ["tests"]
"""
TOOLS = """
[tool.ruff]
line-length = 100

[tool.mypy]
files = ["src"]
strict = true
"""

# Node: a CommonJS package with node's own test runner.
PACKAGE_JSON = """{
  "name": "greet",
  "version": "1.0.0",
  "main": "index.js",
  "scripts": {"test": "node --test", "lint": "eslint ."},
  "dependencies": {"shout": "^1.0.0"},
  "devDependencies": {"eslint": "^9.0.0"}
}
"""
LOCK = """{
  "name": "greet",
  "version": "1.0.0",
  "lockfileVersion": 3,
  "requires": true,
  "packages": {"": {"name": "greet", "version": "1.0.0", "dependencies": {"shout": "^1.0.0"}}}
}
"""
NODE = {
    "package.json": PACKAGE_JSON,
    "package-lock.json": LOCK,
    "index.js": "const shout = require('shout');\n\nexports.hello = (name) => shout(`Hello, ${name}`);\n",
    "test/hello.test.js": (
        "const test = require('node:test');\nconst assert = require('node:assert');\nconst { hello } = require('..');\n\n"
        "test('hello', () => assert.strictEqual(hello('Ada'), 'HELLO, ADA!'));\n"
    ),
    ".gitignore": "node_modules/\n",
}
NODE_CODE = ("farewell.js", "exports.goodbye = (name) => `Goodbye, ${name}.`;\n")
NODE_TEST = (
    "test/farewell.test.js",
    (
        "const test = require('node:test');\nconst assert = require('node:assert');\nconst { goodbye } = require('../farewell');\n\n"
        "test('goodbye', () => assert.strictEqual(goodbye('Ada'), 'Goodbye, Ada.'));\n"
    ),
)

GO = {
    "go.mod": "module example.invalid/greet\n\ngo 1.19\n",
    "greet.go": 'package greet\n\n// Hello greets.\nfunc Hello(name string) string { return "Hello, " + name + "." }\n',
    "greet_test.go": (
        'package greet\n\nimport "testing"\n\nfunc TestHello(t *testing.T) {\n'
        '\tif Hello("Ada") != "Hello, Ada." {\n\t\tt.Fatal(Hello("Ada"))\n\t}\n}\n'
    ),
}
GO_CODE = (
    "farewell.go",
    'package greet\n\n// Goodbye says goodbye.\nfunc Goodbye(name string) string { return "Goodbye, " + name + "." }\n',
)
GO_TEST = (
    "farewell_test.go",
    (
        'package greet\n\nimport "testing"\n\nfunc TestGoodbye(t *testing.T) {\n'
        '\tif Goodbye("Ada") != "Goodbye, Ada." {\n\t\tt.Fatal(Goodbye("Ada"))\n\t}\n}\n'
    ),
)

# A monorepo: a Node workspace with two packages, and a service in Python.
MONOREPO = {
    "README.md": "# Shop\n",
    "package.json": '{"name": "shop", "private": true, "workspaces": ["packages/*"]}\n',
    "packages/cart/package.json": '{"name": "cart", "version": "1.0.0", "scripts": {"test": "node --test"}}\n',
    "packages/cart/index.js": "exports.total = (prices) => prices.reduce((sum, price) => sum + price, 0);\n",
    "packages/cart/test/total.test.js": (
        "const test = require('node:test');\nconst assert = require('node:assert');\nconst { total } = require('..');\n\n"
        "test('total', () => assert.strictEqual(total([1, 2]), 3));\n"
    ),
    "packages/web/package.json": '{"name": "web", "version": "1.0.0", "scripts": {"build": "true"}}\n',
    "services/tax/pyproject.toml": '[project]\nname = "tax"\nversion = "1.0.0"\n',
    "services/tax/tax.py": "def tax(price: int) -> int:\n    return price // 5\n",
    "services/tax/test_tax.py": (
        "import unittest\n\nfrom tax import tax\n\n\nclass Tax(unittest.TestCase):\n    def test_tax(self) -> None:\n"
        "        self.assertEqual(tax(10), 2)\n"
    ),
}

INSTALLED = all_of(virtual_environment, pytest)

PROJECTS = {
    "python with a virtual environment, its tools not installed": Project(
        files={**PACKAGE, "pyproject.toml": PYPROJECT + TOOLS},
        code=PYTHON_CODE,
        test=PYTHON_TEST,
        prepare=INSTALLED,
        notes=("ruff", "mypy"),
        ran=(".venv/bin/python -m pytest",),
        agents=("claude", "codex"),
    ),
    "python with nothing installed": Project(
        files={**PACKAGE, "pyproject.toml": PYPROJECT},
        code=PYTHON_CODE,
        test=PYTHON_TEST,
        prepare=virtual_environment,
        questions=1,
        fix=".venv/bin/python -m pip install -e '.[test]'",
        helps=pytest,
        ran=(".venv/bin/python -m pytest",),
        agents=("codex", "gemini"),
    ),
    "uv": Project(
        files={**PACKAGE, "pyproject.toml": PYPROJECT, "uv.lock": 'version = 1\nrequires-python = ">=3.11"\n'},
        code=PYTHON_CODE,
        test=PYTHON_TEST,
        prepare=INSTALLED,
        ran=(".venv/bin/python -m pytest",),
        agents=("gemini", "claude"),
    ),
    "poetry": Project(
        files={
            **PACKAGE,
            "pyproject.toml": '[tool.poetry]\nname = "greet"\nversion = "1.0.0"\n\n[tool.poetry.dependencies]\npython = "^3.11"\nclick = "^8"\n\n'
            '[tool.poetry.group.dev.dependencies]\npytest = "^8"\n',
            "poetry.lock": "package = []\n",
        },
        code=PYTHON_CODE,
        test=PYTHON_TEST,
        prepare=INSTALLED,
        notes=("poetry",),
        ran=(".venv/bin/python -m pytest",),
        agents=("claude", "gemini"),
    ),
    "node with its packages": Project(
        files=NODE, code=NODE_CODE, test=NODE_TEST, prepare=node_modules, ran=("npm test",), agents=("codex", "claude")
    ),
    "node without its packages": Project(
        files=NODE,
        code=NODE_CODE,
        test=NODE_TEST,
        questions=1,
        fix="npm ci",
        helps=node_modules,
        ran=("npm test",),
        agents=("claude", "gemini"),
    ),
    "a monorepo": Project(
        files=MONOREPO,
        code=("packages/cart/discount.js", "exports.discount = (price) => price - Math.floor(price / 10);\n"),
        test=(
            "packages/cart/test/discount.test.js",
            (
                "const test = require('node:test');\nconst assert = require('node:assert');\nconst { discount } = require('../discount');\n\n"
                "test('discount', () => assert.strictEqual(discount(100), 90));\n"
            ),
        ),
        agents=("gemini", "codex"),
    ),
    "go": Project(files=GO, code=GO_CODE, test=GO_TEST, ran=("go test ./...",), agents=("codex", "gemini")),
    "ruff that repairs what it finds": Project(
        files={
            **PACKAGE,
            "pyproject.toml": PYPROJECT + "\n[tool.ruff]\nfix = true\n",
            "src/greet/old.py": "import os\nimport sys\n\nprint(sys.argv)\n",
        },
        code=PYTHON_CODE,
        test=PYTHON_TEST,
        prepare=all_of(INSTALLED, ruff),
        ran=(".venv/bin/python -m pytest", ".venv/bin/ruff check --no-fix ."),
        agents=("claude", "codex"),
    ),
    "a dirty tree": Project(
        files={**PACKAGE, "pyproject.toml": PYPROJECT},
        code=PYTHON_CODE,
        test=PYTHON_TEST,
        prepare=all_of(
            INSTALLED,
            edited("README.md", "# greet\n\nSays hello, half written"),
            edited("notes/todo.txt", "not for git\n"),
        ),
        ran=(".venv/bin/python -m pytest",),
        agents=("gemini", "claude"),
    ),
}
