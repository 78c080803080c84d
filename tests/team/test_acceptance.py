"""INTEGRATE: agentd runs the acceptance checks itself, on exactly what is delivered, and believes nothing else."""

import json
from typing import Any

import pytest

from agentd.families.team.acceptance import _names
from tests.landing.repositories import git
from tests.team.examples import criteria
from tests.team.sessions import NAME, Session, coded, plan, say, task

FULL = {"approve_design": "approved", "choose_strategy": "per-batch"}
TEST = "test: test_the_most_frequent_word_comes_first"


def wanting(session: Session, *verify: str, checks: tuple[str, ...] = (TEST,)) -> None:
    """Criteria with these checks, for a lean session and for a full one."""
    for step in ("intake", "intake_lean"):
        entry = session.sandbox.entry(step)
        documents = {**entry["documents"], "acceptance.json": criteria(*verify)}
        if "tasks.yaml" in documents:
            documents["tasks.yaml"] = plan(task(acceptance_checks=[*checks]))
        session.script(**{step: {**entry, "documents": documents}})


def checks_of(session: Session) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((session.folder / "checks.json").read_text())
    return found


@pytest.mark.requirement(203)
def test_the_checks_run_on_the_tip_of_the_branch_and_each_result_is_kept(session: Session) -> None:
    wanting(session, "cmd: test -f tally/top.py", TEST, "cmd: test ! -e agentd/config.toml -o -f README.md")
    assert session.start(answers=FULL).code == 0
    kept = checks_of(session)
    assert kept["commit"] == git(session.root, "rev-parse", f"agentd/{NAME}")
    assert kept["status"] == "green"
    assert [one["status"] for one in kept["checks"].values()] == ["green"] * 3
    assert not (session.root / "tally/top.py").exists()  # not in the person's checkout
    assert session.status["last_ci_result"]["status"] == "green"


@pytest.mark.requirement(203, 204)
@pytest.mark.parametrize(
    ("check", "why"),
    [
        ("cmd: false", "cmd: false: exit 1"),
        ("test: test_that_nobody_wrote", "no test of this name ran"),
    ],
)
def test_an_integrator_that_says_ok_does_not_make_a_red_check_green(session: Session, check: str, why: str) -> None:
    wanting(session, check)
    session.script(integrate={"say": say(summary="Everything is green.", gates={"meets_definition_of_done": True})})
    ran = session.start(answers=FULL)
    assert ran.code == 4
    assert why in ran.out
    assert session.status["current_state"] == "ASK_USER"
    assert session.status["last_ci_result"]["status"] == "red"
    assert session.calls().count("fix_build") == 3
    assert "document" not in session.calls()


@pytest.mark.requirement(203, 204)
def test_the_checks_of_tasks_are_run_too(session: Session) -> None:
    wanting(session, TEST, checks=("cmd: test -f NEVER",))
    assert session.start("--lean").code == 4
    assert "lean_fix_build" in session.calls()
    assert "cmd: test -f NEVER" in session.pending()[0]["question"]


@pytest.mark.requirement(204)
def test_a_lean_session_runs_its_checks_without_an_integrator(session: Session) -> None:
    wanting(session, "cmd: test -f tally/top.py")
    assert session.start("--lean").code == 0
    assert checks_of(session)["checks"]["cmd: test -f tally/top.py"]["status"] == "green"
    assert "integrate" not in session.calls()


@pytest.mark.requirement(203)
def test_a_manual_check_is_confirmed_by_a_person_and_by_nobody_else(session: Session) -> None:
    wanting(session, "manual: the words are well sorted")
    session.script(test={"say": say(summary="I looked: the words are well sorted.")})
    assert session.start("--lean").code == 4
    (asked,) = session.pending()
    assert "manual: the words are well sorted" in asked["question"]
    assert asked["state_context"] == "INTEGRATE"
    assert session.decide("confirmed").code == 0
    assert "(confirmed by a person)" in (session.folder / "report.md").read_text()


@pytest.mark.requirement(203, 210)
def test_a_manual_check_that_the_person_refuses_is_repaired_and_asked_again(session: Session) -> None:
    wanting(session, "manual: the words are well sorted")
    session.script(lean_fix_build={"append": {"tally/top.py": "# sorted\n"}, "say": say()})
    assert session.start("--lean").code == 4
    assert session.decide("refused", "They are not.").code == 4
    assert session.calls()[-1] == "lean_fix_build"
    (asked,) = session.pending()
    assert asked["name"] == "lean_confirm_checks"
    assert session.decide("confirmed").code == 0


@pytest.mark.requirement(203, 216)
def test_a_check_whose_words_are_a_part_of_a_confirmed_one_is_not_confirmed(session: Session) -> None:
    wanting(session, "manual: the words are well sorted")
    assert session.start("--lean").code == 4
    (asked,) = session.pending()
    session.answer(asked["decision_id"], "confirmed")
    path = session.folder / "acceptance.json"
    path.write_text(criteria("manual: the words are well sorted", "manual: the words"))
    ran = session.resume()
    assert ran.code != 0, ran.out
    assert session.status["current_state"] != "DONE"


@pytest.mark.requirement(203)
def test_a_test_that_is_skipped_proves_nothing(session: Session) -> None:
    skipped = 'import unittest\n\n\nclass Top(unittest.TestCase):\n    @unittest.skip("later")\n    def test_later(self) -> None: ...\n'
    wanting(session, "test: test_later")
    session.script(code={**coded(), "files": {**coded()["files"], "tests/test_later.py": skipped}})
    session.script(fix_tests={"append": {"tally/top.py": "# {{visit}}\n"}, "say": say()})
    session.start("--lean")
    assert session.status["current_state"] != "DONE"


@pytest.mark.requirement(203)
@pytest.mark.parametrize(
    ("case", "wanted", "same"),
    [
        ("tests.test_top.Top.test_x", "test_x", True),
        ("tests.test_top.Top.test_x", "tests/test_top.py::Top::test_x".replace(".py", ""), True),
        ("tests/test_top.py::test_x[1]", "test_x", True),
        ("tests/test_top.py::test_x", "tests/test_top.py::test_x", True),
        ("tests.test_top.Top.test_x", "tests/test_top.py::Top::test_x", True),
        ("tests.test_top.Top.test_xy", "test_x", False),
        ("tests.test_top.Top.another_test_x", "test_x", False),
    ],
)
def test_a_check_names_a_test_by_its_name_or_the_end_of_it(case: str, wanted: str, same: bool) -> None:
    assert _names(case, wanted) is same


@pytest.mark.requirement(216)
def test_a_result_that_somebody_else_wrote_does_not_count(session: Session) -> None:
    wanting(session, "cmd: false")
    session.script(
        lean_fix_build={
            "documents": {
                "checks.json": json.dumps({"status": "green", "checks": {"cmd: false": {"status": "green"}}})
            },
            "say": say(),
        }
    )
    session.sandbox.set("sandbox", mode="off")
    assert session.start("--lean").code == 4
    assert checks_of(session)["status"] == "red"


def test_a_test_that_the_work_broke_stays_red_however_often_it_is_looked_at(session: Session) -> None:
    """The checks are compared with the commit that the session began with, never with a later one that is red already."""
    session.script(integrate={"files": {"tests/test_words.py": "import unittest\n\n\nclass Bad(unittest.TestCase):\n    def test_it(self) -> None:\n        self.fail()\n"}, "say": say()})  # fmt: skip
    session.start()
    session.decide("approved")
    done = session.decide("per-batch")
    assert done.code == 4
    assert session.status["current_state"] == "ASK_USER"


def test_a_test_that_was_red_before_the_session_is_a_known_issue_and_not_held_against_it(session: Session) -> None:
    test = "import unittest\n\n\nclass Old(unittest.TestCase):\n    def test_old(self) -> None:\n        self.fail()\n"
    (session.root / "tests" / "test_old.py").write_text(test)
    git(session.root, "add", "--all")
    git(session.root, "commit", "--quiet", "-m", "a red test")
    done = session.start("--lean")
    assert done.code == 0, done.out + done.err
    assert any("test_old failed before the session began" in issue for issue in session.status["known_issues"])
