"""A README that names what a session took away is not current; one that does not is left alone."""

import pytest

from agentd.families.team.readme import dropped_options, named_paths
from tests.landing.repositories import git, write
from tests.team.sessions import NAME, Session, coded

FULL = {"approve_design": "approved", "choose_strategy": "per-batch"}
README = "# tally\n\nRun `tally --sorted` with `tally/extra.py`, or `tally --fast`.\n"
OPTIONS = 'NAMES = ["--sorted", "--fast"]\n'


def patch(*lines: str, file: str = "tally/options.py") -> str:
    return "\n".join([f"diff --git a/{file} b/{file}", f"--- a/{file}", f"+++ b/{file}", *lines])


@pytest.mark.requirement(205)
@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("see `tally/extra.py`", ["tally/extra.py"]),
        ("see ./tally/extra.py.", ["tally/extra.py"]),
        ("see tally/extra.python or my-tally/extra.py", []),
        ("see src/tally/extra.py", []),
        ("extra is gone", []),
    ],
)
def test_a_path_is_named_only_as_a_whole(text: str, paths: list[str]) -> None:
    assert named_paths(text, ["tally/extra.py"]) == paths


@pytest.mark.requirement(205)
@pytest.mark.parametrize(
    ("line", "file", "found"),
    [
        ('-    parser.add("--sorted")', "tally/options.py", ["--sorted"]),
        ('+    parser.add("--sorted")', "tally/options.py", []),
        ('-    parser.add("--sorted-by")', "tally/options.py", []),
        ('-    parser.add("--other")', "tally/options.py", []),
        ("-Use --sorted.", "docs/use.md", []),
        ("-Use --sorted.", "CHANGELOG.rst", []),
    ],
)
def test_an_option_is_dropped_by_code_and_not_by_prose(line: str, file: str, found: list[str]) -> None:
    assert dropped_options(README, patch(line, file=file)) == found


@pytest.fixture
def dropping(session: Session) -> Session:
    """A project whose README names a file and two options, and a task that takes the file and one of them away."""
    write(session.root, {"README.md": README, "tally/extra.py": "X = 1\n", "tally/options.py": OPTIONS})
    git(session.root, "add", "README.md", "tally")
    git(session.root, "commit", "--quiet", "-m", "options")
    made = coded()
    session.script(
        code={
            **made,
            "files": {**made["files"], "tally/options.py": 'NAMES = ["--fast"]\n'},
            "delete": ["tally/extra.py"],
        }
    )
    return session


@pytest.mark.requirement(205)
def test_docs_correct_a_readme_that_names_what_is_gone(dropping: Session) -> None:
    report = dropping.sandbox.entry("document")
    dropping.script(document=[report, {**report, "files": {"README.md": "# tally\n\nRun `tally --fast`.\n"}}])
    ran = dropping.start(answers=FULL)
    assert ran.code == 0, ran.out
    assert "README still names tally/extra.py, --sorted)" in ran.out
    assert dropping.calls().count("document") == 2
    assert "--sorted" not in git(dropping.root, "show", f"agentd/{NAME}:README.md")


@pytest.mark.requirement(205)
def test_a_readme_that_stays_as_it_is_is_released_only_if_a_person_says_so(dropping: Session) -> None:
    assert dropping.start(answers=FULL).code == 4
    (asked,) = dropping.pending()
    assert "  - tally/extra.py\n  - --sorted\n" in asked["question"]
    assert "release" not in dropping.calls()
    assert dropping.decide("accept", "It tells of version 1.").code == 0
    (issue,) = dropping.status["known_issues"]
    assert issue.startswith("README still names tally/extra.py, --sorted")
    assert "It tells of version 1." in issue
