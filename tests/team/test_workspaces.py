"""What lands is exactly what was proved and reviewed; a test that was forged or weakened lands only with a person's word."""

from pathlib import Path
from typing import Any

import pytest

from tests.landing.repositories import git
from tests.landing.runs import put_below
from tests.team.sessions import NAME, TOP, TOP_TEST, Session, coded, say

WORDS_TEST = "tests/test_words.py"
MEANINGLESS = TOP_TEST.replace('self.assertEqual(top("a b b", 1), [("b", 2)])', "self.assertTrue(True)")
SKIPPED = [["class Counting(unittest.TestCase):\n", '@unittest.skip("later")\nclass Counting(unittest.TestCase):\n']]
HARMS: dict[str, dict[str, Any]] = {
    "a test that was deleted": {"delete": [WORDS_TEST]},
    "a test that is skipped": {"replace": {WORDS_TEST: SKIPPED}},
}


def tip(session: Session, path: str) -> str:
    return git(session.root, "show", f"agentd/{NAME}:{path}")


@pytest.mark.parametrize("harm", HARMS)
def test_a_weakened_test_is_found_whatever_the_roles_say_and_only_a_person_accepts_it(
    session: Session, harm: str
) -> None:
    session.script(code=coded(**HARMS[harm]), fix_tests={"append": {"tally/top.py": "# {{visit}}\n"}, "say": say()})
    ran = session.start("--lean")
    assert ran.code == 4
    assert "T-001/review" not in session.calls()
    assert session.calls().count("T-001/fix_tests") == 3
    (asked,) = session.pending()
    assert WORDS_TEST in asked["question"] or "Counting" in asked["question"]
    assert session.landed() == []
    refused = session.answer(asked["decision_id"], "accept")
    assert refused.code != 0  # without a reason
    ran = session.decide("accept", "It moves to another project.")
    assert ran.code == 0, ran.out
    assert "T-001/review" in session.calls()
    (issue, *_) = session.status["known_issues"]
    assert "It moves to another project." in issue
    assert issue in (session.folder / "report.md").read_text()


def test_a_test_that_the_old_code_passes_too_is_found(session: Session) -> None:
    session.script(
        code={"files": {"tally/top.py": TOP, "tests/test_top.py": MEANINGLESS}, "say": say()},
        fix_tests={"files": {"tests/test_top.py": TOP_TEST}, "say": say()},
    )
    ran = session.start("--lean")
    assert ran.code == 0, ran.out
    assert session.calls()[1:4] == ["T-001/code", "T-001/fix_tests", "T-001/review"]
    assert tip(session, "tests/test_top.py") == TOP_TEST.rstrip()


def test_weakened_tests_do_not_get_in_by_the_integrator(session: Session) -> None:
    session.script(
        integrate={"delete": [WORDS_TEST], "say": say()},
        fix_build={"files": {WORDS_TEST: (session.root / WORDS_TEST).read_text()}, "say": say()},
    )
    ran = session.start(answers={"approve_design": "approved", "choose_strategy": "per-batch"})
    assert ran.code == 0, ran.out
    assert "land_integration: red" in ran.out
    assert tip(session, WORDS_TEST) == (session.root / WORDS_TEST).read_text().rstrip()


def test_verdicts_on_other_files_than_those_that_land_are_asked_for_again(session: Session) -> None:
    """The workspace changes after the Reviewer has passed it, while QA has not begun."""
    session.script(test=[{"fail": "quota", "say": "limit reached"}, {"say": say()}])
    assert session.start("--lean").code == 4
    (place,) = (session.root.parent / f"{session.root.name}-agentd/tasks/team/{NAME}").glob("T-001")
    (place / "tally/top.py").write_text(TOP + "# slipped in\n")
    session.script(test={"say": say()})
    ran = session.resume()
    assert ran.code == 0, ran.out
    calls = session.calls()
    assert calls.count("T-001/review") == 2
    assert "slipped in" in tip(session, "tally/top.py")
    assert "land: stale" in ran.out


@pytest.mark.parametrize("place", ["project", "folder"])
def test_agentds_own_files_are_no_part_of_the_work(session: Session, tmp_path: Path, place: str) -> None:
    """Also where the project is a folder of its repository."""
    if place == "folder":
        session = Session(put_below(session.sandbox, tmp_path / "top"))
    session.sandbox.set("sandbox", mode="off")
    session.script(
        code=coded(append={"agentd/config.toml": "\n# mine\n"}, run=["true"]),
        fix_tests={"delete": ["agentd/config.toml"], "say": say()},
    )
    ran = session.start("--lean")
    assert "agentd/config.toml is agentd's own and no part of the work" in ran.out
    listed = git(session.root, "log", "--name-only", "--format=", "--branches=agentd/*", "--not", "HEAD")
    assert "agentd/" not in listed


def test_a_task_that_changed_nothing_is_not_implemented(session: Session) -> None:
    session.script(code={"say": say(summary="It was there already.")})
    assert session.start("--lean").code == 4
    assert "nothing was changed in the workspace" in session.pending()[0]["question"]
    assert "T-001/review" not in session.calls()
    assert session.tasks() != {"T-001": "completed"}
