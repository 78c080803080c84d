"""Two tasks that want the same file do not run at once, however they name it; two that do not, do."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentd.landing.leases import overlap, undeclared, why_waiting

SAME = [
    ("src/a.py", "src/a.py"),
    ("src/a.py", "./src//a.py"),
    ("src/a.py", "/src/b/../a.py"),
    ("README.md", "readme.MD"),
    ("caf\u00e9.md", "cafe\u0301.md"),
    ("src/", "src/deep/down/a.py"),
    ("src", "src/a.py"),
    ("src", "src/*.py"),
    ("./", "anything/at/all"),
    ("src/*.py", "src/a*"),
    ("src/*", "src/sub/a.py"),
    ("src/**", "src/a.py"),
    ("src/**/a.py", "src/a.py"),
    ("src/**/a.py", "src/x/y/a.py"),
    ("**/*.py", "tests/test_*"),
    ("**/a/**/b", "a/x/**/b"),
    ("src/**.py", "src/x/a.py"),
    ("a?.py", "ab.py"),
    ("[ab].py", "b.py"),
    ("[[:alpha:]].py", "b.py"),
    ("[]x].py", "].py"),
    ("app/[id]/page.tsx", "app/[id]/*.tsx"),
    ("app/[id]/[ab].tsx", "app/x/b.tsx"),
    ("src/{a,b}.py", "src/b.py"),
    ("{src,lib/core}/a.py", "lib/core/a.py"),
    ("src/{a,{b,c}}.py", "src/c.py"),
    ("src/@(a|b).py", "src/b.py"),
    (r"src/\*.py", "src/*.py"),
    ("*/../a.py", "a.py"),
]
DIFFERENT = [
    ("src/a.py", "src/b.py"),
    ("src/a.py", "src/a.pyi"),
    ("src/", "src2/a.py"),
    ("src/*.py", "src/sub/a.py"),
    ("src/*.py", "src/*.ts"),
    ("src/a*.py", "src/b*.py"),
    ("**/*.py", "docs/b.md"),
    ("**/a.py", "src/sub"),
    ("src/**/test_*.py", "src/x/conftest.py"),
    ("*.md", "docs/a.md"),
    ("a?.py", "a.py"),
    ("app/[id]/page.tsx", "app/about/page.tsx"),
    ("a/**/b/c", "a/**/b/d"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_patterns_that_mean_the_same_file_overlap(one: str, other: str) -> None:
    assert overlap(one, other)
    assert overlap(other, one)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_patterns_that_have_no_file_in_common_do_not_overlap(one: str, other: str) -> None:
    assert not overlap(one, other)
    assert not overlap(other, one)


def test_a_task_waits_for_the_one_that_has_its_file_and_names_it() -> None:
    declared = {"T1": ["src/a.py", "docs/"], "T2": ["src/*.py"], "T3": ["docs/guide.md"], "T4": ["tests/"]}
    assert why_waiting(declared, {}, ["T2", "T4"], "T1") == "waits for T2, which has src/a.py"
    assert why_waiting(declared, {}, ["T4", "T1"], "T3") == "waits for T1, which has docs/guide.md"
    assert why_waiting(declared, {}, ["T1", "T2"], "T4") == ""
    assert why_waiting(declared, {}, [], "T1") == ""
    assert why_waiting(declared, {}, ["T1"], "T1") == ""


def test_a_file_that_was_written_without_being_declared_belongs_to_its_writer_from_then_on() -> None:
    declared = {"T1": ["src/a.py"], "T2": ["src/b.py"]}
    assert why_waiting(declared, {}, ["T1"], "T2") == ""
    assert why_waiting(declared, {"T1": {"src/b.py"}}, ["T1"], "T2") == "waits for T1, which has src/b.py"
    assert why_waiting(declared, {"T1": {"src/b.py"}}, [], "T2") == ""


def test_a_task_that_declares_nothing_is_in_nobodys_way_until_it_writes() -> None:
    declared: dict[str, list[str]] = {"T1": ["./"], "T2": [], "T3": [" "]}
    assert why_waiting(declared, {}, ["T2", "T3"], "T1") == ""
    assert why_waiting(declared, {}, ["T1"], "T2") == ""
    assert why_waiting(declared, {}, ["T1"], "T3") == ""
    assert why_waiting(declared, {}, ["T1"], "unknown") == ""
    assert why_waiting(declared, {"T2": ["x"]}, ["T2"], "T1") == "waits for T2, which has x"
    assert why_waiting(declared, {"T2": ["x"]}, ["T1"], "T2") == "waits for T1, which has x"


def test_a_file_that_was_written_is_no_pattern() -> None:
    declared = {"T1": ["app/i.tsx"], "T2": ["app/[id].tsx"]}
    assert why_waiting(declared, {"T3": ["app/[id].tsx"]}, ["T3"], "T1") == ""
    assert why_waiting(declared, {"T3": ["app/[id].tsx"]}, ["T3"], "T2") == "waits for T3, which has app/[id].tsx"


def test_what_was_written_and_not_declared_is_told_by_task() -> None:
    declared = {"T1": ["src/", "*.md"], "T2": ["a.py"]}
    written = {"T1": ["src/deep/a.py", "README.md", "docs/a.md"], "T2": ["a.py"], "T3": ["y", "x"]}
    assert undeclared(declared, written) == {"T1": ("docs/a.md",), "T3": ("x", "y")}


NAMES = st.text("ab", min_size=1, max_size=2)
GLOBS = st.text("ab*?", min_size=1, max_size=4).filter(lambda text: "**" not in text)
PARTS = st.lists(NAMES | GLOBS | st.just("**"), min_size=1, max_size=4)
PATTERNS = st.builds(lambda parts, end: "/".join(parts) + end, PARTS, st.sampled_from(["", "/"]))


def means(pattern: str, path: str) -> bool:
    """Another reading of the same language, as a regular expression."""
    parts = [*pattern.rstrip("/").split("/"), *(["**"] if pattern.endswith("/") else [])]
    text = "".join(
        "(?:[^/]+/)*" if part == "**" else re.escape(part).replace(r"\*", "[^/]*").replace(r"\?", "[^/]") + "/"
        for part in parts
    )
    return re.fullmatch(text, path + "/") is not None


@given(PATTERNS, PATTERNS, st.lists(NAMES, min_size=1, max_size=5).map("/".join))
@example("**/*", "a/b/", "a/b")
@example("**/a", "b/**", "b/b/a")
def test_no_file_that_two_patterns_mean_is_missed(one: str, other: str, path: str) -> None:
    if means(one, path) and means(other, path):
        assert overlap(one, other), path
    if means(one, path):
        assert not undeclared({"T": [one]}, {"T": [path]})
        assert why_waiting({"T": [one]}, {"U": [path]}, ["U"], "T")
