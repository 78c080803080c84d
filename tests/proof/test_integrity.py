"""A change that harms the tests is told what it did, in each language; an honest change is left in peace."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agentd.model.evidence import Changed
from agentd.proof.integrity import broken_python, compiled, javascript, python
from agentd.proof.integrity.command_files import files_run
from agentd.proof.integrity.harm_audit import audit
from agentd.proof.integrity.inventory import may_hold_tests
from agentd.proof.integrity.inventory import tests_in as found_in
from agentd.proof.integrity.parsed import ParsedFile
from agentd.proof.integrity.paths import is_test, is_test_config, language

Case = dict[str, Any]
CASES: list[Case] = yaml.safe_load((Path(__file__).parent / "harms.yaml").read_text("utf-8"))
HONEST = [case for case in CASES if not case.get("rules")]
ADDED = {
    "python": "\n\ndef test_that_was_added():\n    assert sorted([2, 1]) == [1, 2]\n",
    "javascript": "\ntest('that was added', () => {\n  expect(sorted([2, 1])).toEqual([1, 2]);\n});\n",
    "rust": "\n#[test]\nfn that_was_added() {\n    assert_eq!(sorted(2, 1), 12);\n}\n",
    "go": "\nfunc TestAdded(t *testing.T) {\n\tif got := Sorted(); got != 12 {\n\t\tt.Fatal(got)\n\t}\n}\n",
    "java": "\nclass AddedTest {\n    @Test\n    void added() {\n        assertEquals(12, sorted(2, 1));\n    }\n}\n",
}


def changes(case: Case) -> list[Changed]:
    files = case.get("files") or [{**case, "path": case["file"]}]
    return [Changed(each["path"], each.get("before"), each.get("after")) for each in files]


def texts() -> Iterator[tuple[str, str]]:
    """Every text of a test file of the cases, with its path."""
    for case in CASES:
        for each in changes(case):
            for text in {each.old, each.new} - {None}:
                if is_test(each.path) and language(each.path) and text:
                    yield each.path, text


TEXTS = sorted(set(texts()))


def reading(path: str, text: str) -> ParsedFile:
    if language(path) == "python":
        return python.parse(text) or broken_python.parse(text)
    return javascript.parse(text) if language(path) == "javascript" else compiled.parse(text, language(path))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_change_breaks_the_rules_it_breaks_and_no_others(case: Case) -> None:
    found = audit(changes(case), case.get("planned", []))
    assert sorted({harm.rule for harm in found}) == sorted(case.get("rules", [])), found
    for harm in found:
        assert harm.message
        assert harm.file in {each.path for each in changes(case)}


def test_there_are_enough_cases_of_both_kinds() -> None:
    assert len(HONEST) >= 30
    assert len(CASES) - len(HONEST) >= 40
    assert len({case["name"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", [case for case in CASES if case.get("rules")], ids=lambda case: case["name"])
def test_a_quote_stands_at_the_line_that_is_told(case: Case) -> None:
    files = {each.path: each for each in changes(case)}
    for harm in audit(list(files.values()), case.get("planned", [])):
        sides = [(text or "").split("\n") for text in (files[harm.file].old, files[harm.file].new)]
        if is_test(harm.file) and harm.line:
            assert harm.quote in {side[harm.line - 1].strip() for side in sides if harm.line <= len(side)}, harm
        elif harm.line:
            assert any(harm.line <= len(side) for side in sides), harm


def test_a_message_says_what_became_of_what() -> None:
    before = "class T(TestCase):\n    def test_ties(self):\n        self.assertEqual(top(), [1])\n"
    [harm] = audit([Changed("tests/test_top.py", before, before.replace("Equal(top(), [1])", "True(top())"))], [])
    assert harm.rule == "weakened_test"
    assert "test_ties no longer" in harm.message
    assert "assertEqual became assertTrue" in harm.message
    assert (harm.line, harm.quote) == (3, "self.assertTrue(top())")


def test_the_same_harm_keeps_its_id_when_its_line_moves() -> None:
    before = "def test_a():\n    assert f() == 1\n"
    after = before.replace("== 1", "is not None")
    [one] = audit([Changed("tests/test_a.py", before, after)], [])
    [two] = audit([Changed("tests/test_a.py", before, f"\n\n{after}")], [])
    assert (one.line, two.line) == (2, 4)
    assert one.id == two.id


@pytest.mark.parametrize(
    "path",
    [
        *("tests/test_a.py", "a/test_a.py", "a_test.py", "conftest.py", "tests/fixtures/a.json", "web/a.test.ts"),
        *("a.spec.js", "src/__tests__/a.js", "src/test/java/A.java", "a_test.go", "tests/a.rs", "x/ATest.java"),
        *("tests/conftest.py", "spec/a_spec.rb", "./tests/a.py", "cypress/a.cy.ts", "Tests/A.swift", "testdata/x"),
    ],
)
def test_a_test_file_is_one_by_custom(path: str) -> None:
    assert is_test(path)


@pytest.mark.parametrize(
    "path",
    ["src/a.py", "contest.py", "latest.js", "specs/a.md", "src/testing.py", "docs/tests.md", "attest/a.go", "a.ts"],
)
def test_other_files_are_no_tests(path: str) -> None:
    assert not is_test(path)


@pytest.mark.parametrize(
    "path",
    [
        *(
            "pyproject.toml",
            "web/package.json",
            "pytest.ini",
            "tox.ini",
            "setup.cfg",
            "jest.config.js",
            "Makefile",
            "justfile",
        ),
        *(
            "vitest.config.mts",
            ".mocharc.yml",
            "Cargo.toml",
            "pom.xml",
            "app/build.gradle.kts",
            ".github/workflows/ci.yml",
        ),
        *("conftest.py", "agentd/config.toml", "run_tests.sh", ".gitlab-ci.yml", "noxfile.py", ".coveragerc"),
    ],
)
def test_a_file_that_may_say_how_tests_are_run_is_known(path: str) -> None:
    assert is_test_config(path)


@pytest.mark.parametrize("path", ["src/a.py", "README.md", "tests/test_a.py", "docs/config.toml", "package-lock.json"])
def test_other_files_say_nothing_about_tests(path: str) -> None:
    assert not is_test_config(path)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tests/test_top.py", "from tally import top\n\nassert top\n"),
        ("tests/test_top.py", "class Top(TestCase):\n    def order(self):\n        assert top()\n"),
        ("tests/test_top.py", "def test_a(:\n"[4:]),
        ("web/top.test.ts", "import { top } from './top';\n\ntop(['a']);\n"),
        ("top_test.go", "package top\n\nfunc help() int {\n\treturn 1\n}\n"),
        ("tests/top.rs", "fn help() -> u32 {\n    3\n}\n"),
        ("src/test/java/TopTest.java", "class TopTest {\n    void sorts() {}\n}\n"),
    ],
)
def test_a_file_without_a_test_is_known(path: str, text: str) -> None:
    assert not found_in(path, text)
    assert found_in(path, text) is not None


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tests/test_top.py", "from tests.shared import *\n"),
        ("tests/test_top.py", "from tests.shared import Shared\n\n\nclass TestTop(Shared):\n    top = 1\n"),
        ("tests/test_top.py", "scenarios('top.feature')\n"),
        ("tests/conftest.py", "import pytest\n"),
        ("tests/__init__.py", ""),
        ("tests/words.json", "{}"),
        ("spec/top_spec.rb", "top\n"),
        ("tests/common/mod.rs", "pub fn help() {}\n"),
        ("tests/top.rs", "each! { one, two }\n"),
        ("src/test/kotlin/TopSpec.kt", "class TopSpec : StringSpec({})\n"),
        ("tally/words.py", "top = 1\n"),
    ],
)
def test_a_file_whose_tests_may_come_from_elsewhere_is_not_said_to_have_none(path: str, text: str) -> None:
    assert found_in(path, text) is None


def test_tests_are_named() -> None:
    assert set(
        found_in("tests/test_top.py", "class TestTop:\n    def test_a(self):\n        assert top()\n") or ()
    ) == {"TestTop > test_a"}
    assert found_in("tests/test_top.py", "TestMachine = Machine.TestCase\n")


@pytest.mark.parametrize("path", ["tests/conftest.py", "tests/words.json", "tests/__init__.py", "tests/a.snap"])
def test_what_serves_tests_holds_none(path: str) -> None:
    assert not may_hold_tests(path, "")
    assert may_hold_tests("tests/top.py", "def test_a():\n    assert top()\n")
    assert may_hold_tests("tests/test_top.py", "")


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("./tool", {"tool"}),
        ("bash scripts/test.sh --fast", {"scripts/test.sh", "tools/more.py"}),
        ("python -B tools/run.py tests/test_a.py", {"tools/run.py"}),
        ("CI=1 ./tool && sh scripts/test.sh", {"tool", "scripts/test.sh", "tools/more.py"}),
        ("make test", {"tools/run.py"}),
        ("npm test", {"tools/run.js"}),
        ("tests/run", {"tests/run"}),
        ("python -m pytest src/a.py tests/test_a.py -c pytest.ini", set()),
        ("ruff check src/a.py", set()),
        ("uv run tools/run.py src/a.py", {"tools/run.py"}),
        ("timeout 60 ./tool src/a.py", {"tool"}),
        ("pytest 'tests", set()),
        ("/usr/bin/true ../outside", set()),
    ],
)
def test_the_files_that_a_command_runs_are_known(command: str, runs: set[str]) -> None:
    files = {
        **dict.fromkeys(("tool", "tools/run.py", "tools/run.js", "tools/more.py", "tests/run"), "1"),
        **dict.fromkeys(("tests/test_a.py", "src/a.py", "pytest.ini", "../outside", "tools/other.py"), "1"),
        "scripts/test.sh": "#!/bin/sh\nset -e\nexec python tools/more.py\n",
        "Makefile": "other:\n\tpython tools/other.py\n\ntest: run\n\nrun:\n\t@python tools/run.py\n",
        "package.json": '{"scripts": {"test": "node tools/run.js", "lint": "node tools/other.js"}}',
    }
    assert files_run(command, "", files.get) == runs


PATHS = st.sampled_from(
    [
        *(
            "tests/test_a.py",
            "conftest.py",
            "a.test.ts",
            "a_test.go",
            "tests/a.rs",
            "src/test/java/ATest.java",
            "ATests.cs",
        ),
        *("package.json", "Makefile", "justfile", "pyproject.toml", "tox.ini", "Cargo.toml", "pom.xml", "build.gradle"),
        *("jest.config.js", ".github/workflows/ci.yml", "test.sh", "agentd/config.toml", "pytest.py", "tests/x.bin"),
    ]
)
WORDS = st.sampled_from(
    [
        *(
            "def test_a():\n    ",
            "assert ",
            "it('x', () => {",
            "expect(",
            ")",
            "{",
            "}",
            "'",
            '"',
            "`",
            "/*",
            "//",
            "#",
            "\n",
            "\\",
        ),
        *(
            "#[test]\nfn a()",
            "@Test\nvoid a()",
            "func TestA(t *testing.T) {",
            "t.Skip()",
            "test:\n\t",
            "pytest | tail",
            "\0",
        ),
        *(
            '{"scripts": {"test": "',
            "[tool.pytest",
            "[pytest]\naddopts",
            "<plugin>",
            "<skipTests>",
            "\ud800",
            "\r",
            "\x0c",
            "1e999",
        ),
    ]
)
ANY = st.one_of(
    st.none(), st.text(max_size=80), st.lists(WORDS, max_size=12).map("".join), st.sampled_from([t for _, t in TEXTS])
)


@given(st.lists(st.builds(Changed, PATHS, ANY, ANY), max_size=4), st.lists(PATHS, max_size=2))
def test_no_text_is_too_odd_to_be_audited(changed: list[Changed], planned: list[str]) -> None:
    for harm in audit(changed, planned):
        assert harm.rule


@given(st.lists(st.tuples(PATHS, ANY), max_size=4))
def test_files_that_did_not_change_harm_nothing(files: list[tuple[str, str | None]]) -> None:
    assert audit([Changed(path, text, text) for path, text in files], []) == ()


@given(st.sampled_from(TEXTS))
def test_a_test_with_a_real_assertion_harms_nothing(file: tuple[str, str]) -> None:
    path, text = file
    assert audit([Changed(path, text, text + ADDED[language(path)])], []) == ()


@given(st.sampled_from([file for file in TEXTS if reading(*file).tests]), st.data())
def test_no_test_is_deleted_unseen(file: tuple[str, str], data: st.DataObject) -> None:
    path, text = file
    test = data.draw(st.sampled_from(reading(path, text).tests))
    lines = text.split("\n")
    left = "\n".join([*lines[: test.start - 1], *lines[test.end :]])
    assert audit([Changed(path, text, left)], [path])
