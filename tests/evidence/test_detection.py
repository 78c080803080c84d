"""Detection finds the commands a project declares or is made for, invents none, and survives broken manifests."""

import json
import os
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agentd.evidence.detection import detect
from agentd.model.command import Command

HERE = Path(__file__).parent
PROJECTS = HERE / "projects"
EXPECTED = yaml.safe_load((HERE / "expected.yaml").read_text("utf-8"))


def write_at(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def runs(root: Path) -> list[str]:
    return [command.name for command in detect(root)]


def project(root: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        write_at(root, name, text)
    return runs(root)


def test_every_project_is_in_the_table() -> None:
    assert sorted(EXPECTED) == sorted(path.name for path in PROJECTS.iterdir())


@pytest.mark.requirement(73)
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_project_gives_the_commands_of_the_table(name: str) -> None:
    found = [[each.kind, each.run, each.folder, each.source] for each in detect(PROJECTS / name)]
    assert found == EXPECTED[name]


def test_an_empty_folder_and_one_that_is_not_there_give_nothing(tmp_path: Path) -> None:
    assert detect(tmp_path) == ()
    assert detect(tmp_path / "nowhere") == ()


PYTHON = "[project]\nname = 'x'\n"
PYTEST = PYTHON + "[tool.pytest.ini_options]\n"
USES = {
    "the configuration": {"pyproject.toml": PYTEST},
    "pytest.ini": {"pytest.ini": "[pytest]\n"},
    "setup.cfg": {"setup.cfg": "[tool:pytest]\n"},
    "tox.ini": {"tox.ini": "[pytest]\n"},
    "a conftest.py": {"tests/conftest.py": "", "tests/test_x.py": ""},
    "requirements": {"requirements-dev.txt": "pytest>=8\n", "tests/test_x.py": ""},
    "a dependency": {"pyproject.toml": PYTHON + "optional-dependencies = {dev = ['pytest>=8', 'ruff']}\n"},
    "a group": {"pyproject.toml": "[dependency-groups]\ndev = ['pytest']\n"},
    "poetry's group": {"pyproject.toml": "[tool.poetry.group.dev.dependencies]\npytest = '*'\n"},
    "an import": {"tests/test_x.py": "import os\nimport pytest\n"},
}


@pytest.mark.parametrize("why", USES)
def test_pytest_is_used_where_anything_says_so(tmp_path: Path, why: str) -> None:
    assert project(tmp_path, USES[why]) == ["python3 -m pytest"]


@pytest.mark.parametrize(
    ("files", "run"),
    [
        ({"tests/test_x.py": "", "tests/__init__.py": ""}, "python3 -m unittest discover -s tests -t ."),
        ({"tests/test_x.py": ""}, "python3 -m unittest discover -s tests"),
        ({"test_x.py": ""}, "python3 -m unittest discover"),
        ({"src/x/test_x.py": ""}, "python3 -m unittest discover -s src/x"),
        ({"tests/test_x.py": "import pytest_like\n"}, "python3 -m unittest discover -s tests"),
        ({"requirements.in": "pytest-like\n", "tests/test_x.py": ""}, "python3 -m unittest discover -s tests"),
    ],
)
def test_unittest_is_used_where_nothing_says_pytest(tmp_path: Path, files: dict[str, str], run: str) -> None:
    assert project(tmp_path, files) == [run]


def test_python_code_without_tests_has_no_test_command(tmp_path: Path) -> None:
    assert project(tmp_path, {"pyproject.toml": PYTHON, "x.py": ""}) == []


@pytest.mark.parametrize(
    ("files", "run"),
    [
        ({".venv/bin/python": "", "uv.lock": ""}, ".venv/bin/python -m pytest"),
        ({"venv/bin/python": ""}, "venv/bin/python -m pytest"),
        ({"uv.lock": ""}, "uv run pytest"),
        ({"poetry.lock": ""}, "poetry run pytest"),
    ],
)
def test_the_interpreter_of_the_project_is_used(tmp_path: Path, files: dict[str, str], run: str) -> None:
    assert project(tmp_path, {"pyproject.toml": PYTEST, **files}) == [run]


def test_tools_of_python_are_used_where_they_are_configured(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": PYTHON
        + "dependencies = ['six']\n[tool.ruff]\n[tool.mypy]\nfiles = ['src']\n[tool.pyright]\n",
        ".venv/bin/python": "",
        ".venv/bin/ruff": "",
    }
    assert project(tmp_path, files) == [".venv/bin/ruff check --no-fix .", "mypy", "pip-audit ."]


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"setup.cfg": "[mypy]\n"}, ["mypy ."]),
        ({"mypy.ini": "[mypy]\nfiles = src\n", "setup.py": ""}, ["mypy"]),
        ({"pyrightconfig.json": "{}", "setup.py": ""}, ["pyright"]),
        ({"ruff.toml": "", "setup.py": ""}, ["ruff check --no-fix ."]),
        ({"requirements.txt": "six\n"}, ["pip-audit -r requirements.txt"]),
        ({"tox.ini": "[testenv]\ncommands = ./run\n"}, ["tox"]),
        ({"tox.ini": "[testenv]\ncommands = pytest\n[pytest]\n"}, ["python3 -m pytest"]),
    ],
)
def test_each_tool_of_python_has_its_own_file(tmp_path: Path, files: dict[str, str], found: list[str]) -> None:
    assert project(tmp_path, files) == found


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, []),
        ({"package.json": '{"scripts": {"test": " "}}', "a.test.js": ""}, ["node --test"]),
        ({"package.json": "{}", "test/a.mjs": ""}, ["node --test"]),
        (
            {"package.json": '{"devDependencies": {"vitest": "^4"}}', "yarn.lock": ""},
            ["yarn run vitest run", "yarn audit"],
        ),
        ({"package.json": '{"packageManager": "pnpm@9.1.0", "scripts": {"test": "x"}}'}, ["pnpm test"]),
        ({"package.json": '{"scripts": {"tsc": "tsc", "type-check": "tsc -b"}}'}, ["npm run type-check"]),
        ({"package.json": '{"scripts": {"audit": "better"}}', "package-lock.json": "{}"}, ["npm run audit"]),
        ({"package.json": "{}", "yarn.lock": "__metadata:\n  version: 8\n"}, ["yarn npm audit"]),
        (
            {"package.json": "{}", "eslint.config.mjs": "", "tsconfig.json": "{}"},
            ["npx --no-install eslint .", "npx --no-install tsc --noEmit"],
        ),
        (
            {"package.json": '{"eslintConfig": {}}', "pnpm-lock.yaml": "", "tsconfig.json": "{}"},
            ["pnpm exec eslint .", "pnpm exec tsc --noEmit", "pnpm audit"],
        ),
        ({"package.json": "{}", "src/a.js": ""}, []),
        ({"a.test.js": ""}, []),
    ],
)
def test_node_uses_scripts_then_what_is_configured(tmp_path: Path, files: dict[str, str], found: list[str]) -> None:
    assert project(tmp_path, files) == found


RUST = "[package]\nname = 'x'\n"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"Cargo.toml": RUST, "clippy.toml": ""}, ["cargo test", "cargo clippy --all-targets -- -D warnings"]),
        (
            {"Cargo.toml": RUST + "[lints.clippy]\nall = 'warn'\n"},
            ["cargo test", "cargo clippy --all-targets -- -D warnings"],
        ),
        (
            {
                "Cargo.toml": "[workspace]\nmembers = ['a']\nexclude = ['b']\n",
                "a/Cargo.toml": RUST,
                "b/Cargo.toml": RUST,
            },
            ["cargo test --workspace", "cd b && cargo test"],
        ),
        (
            {"go.mod": "module x\n\nrequire y v1\n", ".golangci.yml": ""},
            ["go test ./...", "golangci-lint run --fix=false", "govulncheck ./..."],
        ),
        (
            {
                "go.work": "go 1.19\n\nuse (\n\t./api // first\n\t./lib\n)\nuse ../outside\n",
                "api/go.mod": "module a\n",
                "lib/go.mod": "module l\n\nrequire (\n\ty v1\n)\n",
                "own/go.mod": "module o\n",
            },
            [
                "go test ./api/... ./lib/...",
                "cd own && go test ./...",
                "go vet ./api/... ./lib/...",
                "cd own && go vet ./...",
                "govulncheck ./api/... ./lib/...",
            ],
        ),
        (
            {
                "pom.xml": "<modules><module>core</module></modules>",
                "core/pom.xml": "",
                "core/web/pom.xml": "",
                "b/pom.xml": "",
            },
            ["mvn -B test", "cd b && mvn -B test"],
        ),
        ({"pom.xml": "", "mvnw": ""}, ["./mvnw -B test"]),
        ({"settings.gradle.kts": "", "gradlew": "", "app/build.gradle.kts": ""}, ["./gradlew test"]),
    ],
)
def test_compiled_languages_and_their_workspaces(tmp_path: Path, files: dict[str, str], found: list[str]) -> None:
    assert project(tmp_path, files) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("test:\n\tpytest\n", ["make test"]),
        (".PHONY: test\ntest-all:\n\ttrue\n", []),
        ("test := 1\ntest ::= 1\nlint ?= 2\n", []),
        ("test lint: ready ## both\n\ttrue\nready:\n", ["make test", "make lint"]),
        ("test::\n\ttrue\ntypecheck :\n\ttrue\n", ["make test", "make typecheck"]),
        ("all:\n\ttest: no\n\taudit:\n", []),
    ],
)
def test_the_targets_of_a_makefile(tmp_path: Path, text: str, found: list[str]) -> None:
    assert project(tmp_path, {"Makefile": text}) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("test:\n    pytest\n", ["just test"]),
        ("@test: build\n    x\n", ["just test"]),
        ("test name:\n    x\n", []),
        ("test name='a' *more:\n    x\n", ["just test"]),
        ("test +names:\n    x\n", []),
        ("test := 'x'\nset shell := ['bash']\n", []),
        ("alias audit := scan\nscan:\n    x\n", ["just audit"]),
    ],
)
def test_the_recipes_of_a_justfile(tmp_path: Path, text: str, found: list[str]) -> None:
    assert project(tmp_path, {"justfile": text}) == found


def test_a_makefile_wins_over_a_justfile_and_both_over_everything_else(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": PYTEST + "[tool.ruff]\n",
        "package.json": '{"scripts": {"test": "jest", "lint": "eslint", "audit": "a"}}',
        "justfile": "test:\n    x\nlint:\n    x\n",
        "Makefile": "test:\n\tx\n",
    }
    assert project(tmp_path, files) == ["make test", "just lint", "npm run audit"]


def test_two_ecosystems_in_one_folder_both_count(tmp_path: Path) -> None:
    files = {"pyproject.toml": PYTEST, "package.json": '{"scripts": {"test": "jest"}}'}
    assert project(tmp_path, files) == ["python3 -m pytest", "npm test"]


def test_folders_of_a_monorepo_have_their_own_commands_down_to_the_third(tmp_path: Path) -> None:
    own = '{"scripts": {"test": "x"}}'
    names = [
        "web",
        "a/b/c",
        "a/b/c/d",
        "node_modules/x",
        ".hidden",
        "tests/sample",
        "vendor/y",
        "agentd/z",
        "examples/e",
    ]
    files = {f"{name}/package.json": own for name in names} | {
        "tests/test_x.py": "",
        "api/requirements.txt": "pytest\n",
    }
    assert project(tmp_path, files) == [
        "python3 -m unittest discover -s tests",
        "cd a/b/c && npm test",
        "cd api && python3 -m pytest",
        "cd web && npm test",
        "cd api && pip-audit -r requirements.txt",
    ]


def test_tests_of_a_folder_with_its_own_manifest_are_not_the_roots(tmp_path: Path) -> None:
    files = {"package.json": "{}", "api/pyproject.toml": PYTEST, "api/tests/test_x.py": "", "web/package.json": "{}"}
    assert project(tmp_path, {**files, "web/a.test.js": ""}) == ["cd api && python3 -m pytest", "cd web && node --test"]


MEMBER = '{"scripts": {"test": "x"}}'


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"package.json": '{"workspaces": ["packages/*"], "scripts": {"test": "x"}}'}, ["npm test"]),
        ({"package.json": '{"workspaces": {"packages": ["./packages/**"]}, "scripts": {"test": "x"}}'}, ["npm test"]),
        ({"package.json": '{"workspaces": ["packages/*"]}'}, ["cd packages/a && npm test"]),
        (
            {"package.json": '{"workspaces": ["packages/*", "!packages/a"], "scripts": {"test": "x"}}'},
            ["npm test", "cd packages/a && npm test"],
        ),
        (
            {
                "package.json": '{"scripts": {"test": "x"}}',
                "pnpm-workspace.yaml": "# all\npackages:\n  - 'packages/*'\ncatalog:\n  - b\n",
                "pnpm-lock.yaml": "",
            },
            ["pnpm test", "pnpm audit"],
        ),
        ({"package.json": '{"scripts": {"test": "npm --prefix packages/a test"}}'}, ["npm test"]),
        ({"Makefile": "test:\n\tcd packages/a && npm test\n"}, ["make test"]),
        ({"Makefile": "test:\n\tcd packages/ab && npm test\n"}, ["make test", "cd packages/a && npm test"]),
    ],
)
def test_what_the_root_covers_is_not_run_again(tmp_path: Path, files: dict[str, str], found: list[str]) -> None:
    assert project(tmp_path, {"packages/a/package.json": MEMBER, **files}) == found


NAMES = ["package.json", "pyproject.toml", "Cargo.toml", "setup.cfg", "Makefile", "justfile", "go.work", "pom.xml"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "bytes_",
    [b"\xff\xfe\x00{", b'{"scripts": ', b"[" * 5000, b'{"a":' * 5000, b"[tool\n", b"x" * (2 << 20), b"[]", b'""'],
)
def test_a_broken_manifest_stops_nothing(tmp_path: Path, name: str, bytes_: bytes) -> None:
    (tmp_path / name).write_bytes(bytes_)
    write_at(tmp_path, "web/package.json", MEMBER)
    assert Command("test", "npm test", "web") in detect(tmp_path)


def test_a_manifest_that_is_no_file_stops_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "package.json")
    (tmp_path / "pyproject.toml").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    write_at(tmp_path, "web/package.json", MEMBER)
    assert runs(tmp_path) == ["cd web && npm test"]


KEYS = ["scripts", "test", "lint", "workspaces", "packages", "dependencies", "devDependencies", "packageManager"]
json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=12,
)


@given(json_like)
def test_any_json_in_package_json_is_survived(tmp_path_factory: pytest.TempPathFactory, data: object) -> None:
    root = tmp_path_factory.mktemp("any")
    write_at(root, "package.json", json.dumps(data))
    detect(root)
