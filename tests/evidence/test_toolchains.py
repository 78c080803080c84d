"""Real projects of each ecosystem, their commands detected and really run: green, red when broken, none when emptied."""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentd.evidence.detection import detect
from agentd.evidence.runner import run_command
from agentd.model.evidence import Counts, Result
from tests.evidence.toolchains import PROMISED

PROJECTS = Path(__file__).parent / "projects"
GREEN, RED = Counts(3, 2, 0, 1), Counts(3, 1, 1, 1)


@dataclass(frozen=True)
class Project:
    """A project, what runs it, the file to break, what to empty, and the place where the broken one fails."""

    tool: str
    source: str
    tests: tuple[str, ...]
    fails: str
    green: Counts = GREEN
    red: Counts = RED
    failing: int = 1


PYTHON = ("shop.py", ("tests/test_shop.py",), "tests/test_shop.py:12")
UNITTEST = ("shop.py", ("tests/test_shop.py",), "tests/test_shop.py:13")
NODE = ("price.js", ("price.test.js",), "price.test.js:12")
TABLE = {
    "python-pytest": Project("python3", *PYTHON),
    "python-unittest": Project("python3", *UNITTEST),
    "make": Project("make", *UNITTEST),
    "node-npm": Project("npm", *NODE),
    "node-pnpm": Project("pnpm", *NODE),
    "node-yarn": Project("yarn", *NODE),
    "workspace": Project(
        "npm", "packages/price/price.js", ("packages/price/price.test.js",), "packages/price/price.test.js:12"
    ),
    "rust": Project("cargo", "src/lib.rs", ("src/lib.rs", "tests/discounts.rs"), "tests/discounts.rs:5"),
    "go": Project(
        "go", "price.go", ("price_test.go",), "price_test.go:14", Counts(4, 3, 0, 1), Counts(4, 1, 2, 1), failing=2
    ),
    "java-maven": Project(
        "mvn", "src/main/java/org/example/Shop.java", ("src/test/java/org/example/ShopTest.java",), "ShopTest.java:16"
    ),
}

# What is left of a file of tests that must stay what it is; of the others nothing is.
EMPTIED = {
    "price_test.go": "package shop\n",
    "src/lib.rs": "pub fn price(cents: u32, percent: u32) -> u32 {\n    cents - cents * percent / 100\n}\n",
}


def copy(name: str, tmp_path: Path) -> Path:
    """The project to be run here, offline, by the interpreter that runs the tests."""
    tool = PROMISED[TABLE[name].tool]
    if not tool.here:
        pytest.skip(f"{tool.program} is not here: {' '.join((*tool.debian, tool.npm))}")
    place = tmp_path / name
    shutil.copytree(PROJECTS / name, place)
    if name == "python-pytest":
        interpreter = place / ".venv" / "bin" / "python"
        interpreter.parent.mkdir(parents=True)
        interpreter.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        interpreter.chmod(0o755)
    if name == "java-maven":
        (place / ".mvn").mkdir()
        (place / ".mvn" / "settings.xml").write_text(
            "<settings><localRepository>/usr/share/maven-repo</localRepository></settings>\n"
        )
        (place / ".mvn" / "maven.config").write_text("-o\n-s\n.mvn/settings.xml\n-DforkCount=0\n")
    return place


def run_tests(place: Path) -> Result:
    (command,) = [each for each in detect(place) if each.kind == "test"]
    return run_command(command, place, {}, 240.0, None)


@pytest.mark.parametrize("name", TABLE)
def test_a_sound_project_is_green(name: str, tmp_path: Path) -> None:
    found = run_tests(copy(name, tmp_path))
    assert (found.status, found.exit_code, found.counts, found.note) == ("green", 0, TABLE[name].green, ""), (
        found.output
    )


@pytest.mark.parametrize("name", TABLE)
def test_a_broken_project_is_red_and_its_failure_named(name: str, tmp_path: Path) -> None:
    place, project = copy(name, tmp_path), TABLE[name]
    source = place / project.source
    source.write_text(source.read_text("utf-8").replace("cents - ", "cents + "), "utf-8")
    found = run_tests(place)
    assert (found.status, found.counts) == ("red", project.red), found.output
    failed = [case for case in found.cases if case.status == "failed"]
    assert len(failed) == project.failing
    assert project.fails in {f"{case.file}:{case.line}" for case in failed}


@pytest.mark.parametrize("name", TABLE)
def test_an_emptied_project_is_none(name: str, tmp_path: Path) -> None:
    place, project = copy(name, tmp_path), TABLE[name]
    for test in project.tests:
        (place / test).write_text(EMPTIED.get(test, ""))
    found = run_tests(place)
    assert (found.status, found.note) == ("none", "it collected no tests"), found.output


@pytest.mark.parametrize("name", ["node-npm", "make", "go"])
def test_the_other_commands_of_a_sound_project_are_green(name: str, tmp_path: Path) -> None:
    place = copy(name, tmp_path)
    commands = [each for each in detect(place) if each.kind in ("lint", "types")]
    assert commands
    assert [run_command(each, place, {}, 240.0, None).status for each in commands] == ["green"] * len(commands)


def test_a_monorepo_is_as_red_as_its_parts(tmp_path: Path) -> None:
    place = tmp_path / "monorepo"
    shutil.copytree(PROJECTS / "monorepo", place)
    (place / "web" / "price.js").write_text("exports.price = () => 0\n")
    commands = {each.folder: each for each in detect(place) if each.kind == "test"}
    assert list(commands) == ["", "web"]
    found = run_command(commands["web"], place, {}, 240.0, None)
    assert (found.status, found.counts) == ("red", Counts(3, 0, 2, 1))
    assert {case.file for case in found.cases if case.status == "failed"} == {"web/price.test.js"}
