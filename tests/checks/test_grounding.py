"""A place that does not exist is told with the reason; whatever may be no place at all is left in peace."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.model.verdict import Issue
from agentd.review.plan_grounding import Place, places, ungrounded

FILES = {"proposal.md": 50, "tasks.md": 30, "src/x.py": 40, "specs/top-words.md": 60, "one.py": 1}
SPECS = {"top-words": {"R1", "R2"}}
SEVERAL = {**SPECS, "auth": {"R1", "R3"}}


def problem(specs: dict[str, set[str]] = SPECS, **fields: object) -> str:
    return ungrounded(Issue("High", "A title", "A description", **fields), specs, FILES.get)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "reference",
    [
        "top-words:R1",
        "top-words: R1",
        "Top-Words:R2",
        "`top-words:R1`",
        "**top-words:R1**",
        "top-words#R2",
        "top-words R1",
        "top-words (R2)",
        "top-words",
        "top-words:Overview",
        "top-words:R1, top-words:R2",
        "top-words:R1, R2",
        "top-words:R1 and R2",
        "top-words:R1-R2",
        "top-words：R1",
        "specs/top-words.md",
        "specs/top-words.md#R1",
        "./specs/top-words.md#r1",
        "agentd/changes/add-x/specs/top-words.md#R2",
        "specs/top-words.md:60",
        "specs/top-words.md, line 60",
        "specs/top-words.md#overview",
        "top-words.md#R1",
        "R1",
        "R01",
        "Requirement R2",
        "R1, R2",
        "proposal.md",
        "proposal.md#impact",
        "proposal.md#R7",
        "tasks.md#logic.1",
        "src/x.py:40",
    ],
)
def test_a_reference_that_leads_somewhere_is_grounded(reference: str) -> None:
    assert problem(spec_reference=reference) == ""


@pytest.mark.parametrize(
    "words",
    ["", "-", "–", "N/A", "n/a", "none", "general", "General", "all specs", "the whole plan", "security", "Overview",
     "cross-cutting", "Why", "specs/<id>.md#R1", "specs/*.md", "auth (R9)", "see R1", "scenario 3", "see: R1",
     "https://example.org/a.html", "整体", "并列"],
)  # fmt: skip
def test_words_that_are_no_reference_are_not_judged(words: str) -> None:
    assert problem(spec_reference=words) == ""


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("top-words:R9", "there is no requirement top-words:R9"),
        ("specs/top-words.md#R9", "there is no requirement top-words:R9"),
        ("top-words.md#R9", "there is no requirement top-words:R9"),
        ("top-words:R1, R9", "there is no requirement top-words:R9"),
        ("top-words:R1-R3", "there is no requirement top-words:R3"),
        ("R9", "there is no requirement top-words:R9"),
        ("stop-words", "there is no spec stop-words"),
        ("stop-words:R1", "there is no spec stop-words"),
        ("auth:R1", "there is no spec auth"),
        ("specs/gone.md#R1", "there is no file specs/gone.md"),
        ("specs/top-words.md:90", "specs/top-words.md has 60 lines, not 90"),
        ("top-words:R9, stop-words:R1", "there is no requirement top-words:R9; there is no spec stop-words"),
        ("top-words:R9, top-words:R9", "there is no requirement top-words:R9"),
        ("design.md", "there is no file design.md"),
    ],
)
def test_a_reference_that_leads_nowhere_is_told_with_the_reason(reference: str, why: str) -> None:
    assert problem(spec_reference=reference) == why


def test_a_requirement_alone_is_looked_for_in_every_spec() -> None:
    assert problem(SEVERAL, spec_reference="R3") == ""
    assert problem(SEVERAL, spec_reference="R9") == "there is no requirement R9"
    assert problem({}, spec_reference="R9") == ""
    assert problem(SEVERAL, spec_reference="auth:R1, R2") == "there is no requirement auth:R2"


@pytest.mark.parametrize(
    "location",
    [
        "src/x.py",
        "./src/x.py",
        "`src/x.py:12`",
        "src/x.py:40",
        "src/x.py:12:95",
        "src/x.py:12-40",
        "src/x.py#L12",
        "src/x.py#L12-L40",
        "src/x.py, line 12",
        "src/x.py (lines 10-40)",
        "src/x.py L12",
        "src/x.py:12.",
        "src/x.py, one.py:1",
        "proposal.md",
        "proposal.md > Impact",
        "tasks.md#logic.1",
        "top-words:R1",
        "## Impact",
        "What Changes",
        "Section 2.1",
        "src/",
        "src/auth",
        "src/*.py",
        "and/or",
        "TCP/IP",
        "Node.js",
        "os.path",
        "auth.py",
        "e.g. here",
        "v1.2",
        "https://example.org/a.html",
        "src\\x.py",
        "N/A",
        "-",
        "",
    ],
)
def test_a_location_that_is_there_or_may_be_none_is_grounded(location: str) -> None:
    assert problem(location=location) == ""


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("src/y.py", "there is no file src/y.py"),
        ("src/y.py:3", "there is no file src/y.py"),
        ("y.py:3", "there is no file y.py"),
        ("__init__.py:3", "there is no file __init__.py"),
        (".github/workflows/ci.yml", "there is no file .github/workflows/ci.yml"),
        ("src/x.py:90", "src/x.py has 40 lines, not 90"),
        ("src/x.py#L41", "src/x.py has 40 lines, not 41"),
        ("src/x.py:10-90", "src/x.py has 40 lines, not 90"),
        ("src/x.py, line 90", "src/x.py has 40 lines, not 90"),
        ("one.py:2", "one.py has 1 line, not 2"),
        ("src/x.py and src/z.py", "there is no file src/z.py"),
        ("top-words:R9", "there is no requirement top-words:R9"),
    ],
)
def test_a_location_that_is_not_there_is_told_with_the_reason(location: str, why: str) -> None:
    assert problem(location=location) == why


def test_a_file_and_its_line_are_looked_up() -> None:
    assert problem(file_path="src/x.py", line_number=40) == ""
    assert problem(file_path="src/x.py") == ""
    assert problem(file_path="`src/x.py`", line_number=41) == "src/x.py has 40 lines, not 41"
    assert problem(file_path="src/x.py:41") == "src/x.py has 40 lines, not 41"
    assert problem(file_path="x.js", line_number=3) == "there is no file x.js"
    assert problem(file_path="a file.py", line_number=3) == ""
    assert problem(file_path="Makefile", line_number=3) == ""


def test_places_are_read_from_every_field_once() -> None:
    issue = Issue("Low", "t", "d", spec_reference="auth:R1", location="src/x.py:3, auth:R1", file_path="src/x.py")
    assert places(issue) == (Place("auth", "R1"), Place(path="src/x.py"), Place(path="src/x.py", line=3))


@given(st.text(), st.text(), st.text(), st.none() | st.integers(1, 99))
def test_any_words_at_all_are_understood_or_left_alone(reference: str, location: str, file: str, line: int) -> None:
    issue = Issue("Low", "t", "d", spec_reference=reference, location=location, file_path=file, line_number=line)
    assert ungrounded(issue, {"a": {"R1"}}, lambda _: 10**9) == "" or "R" in reference + location or "-" in reference


@given(st.lists(st.sampled_from(["top-words:R1", "specs/top-words.md#R2", "R1", "top-words", "N/A", "src/x.py:7"])))
def test_several_good_references_are_good(references: list[str]) -> None:
    assert problem(spec_reference=", ".join(references)) == ""
    assert problem(location=", ".join(references)) == ""
