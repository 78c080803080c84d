"""Repair loops: which role blocks, who repairs, how often, and what a person is asked when it does not help."""

from typing import Any

import pytest

from tests.team.sessions import Session, coded, plan, say, task

OPTIONS = {"different_approach", "accept", "simplify", "guidance"}
FIXES = {"review": "fix_review", "test": "fix_tests", "audit": "fix_security"}
LOOPS = {"review": "FIX_REVIEW", "test": "FIX_TESTS", "audit": "FIX_SECURITY"}
HIGH = [{"severity": "high", "file": "tally/top.py", "description": "No limit."}]


def blocking(step: str, words: str = "It is not good enough.") -> dict[str, Any]:
    parts: dict[str, dict[str, Any]] = {"audit": {"findings": HIGH}, "review": {"verdict": "NEEDS FIXES"}}
    return {"say": say("BLOCKED", words, **parts.get(step, {}))}


def repairing(session: Session, step: str, *verdicts: dict[str, Any]) -> None:
    """A lean session with a task for all roles, in which this step says so in turn, and repairs change something."""
    documents = session.sandbox.entry("intake_lean")["documents"]
    session.script(
        intake_lean={"documents": {**documents, "tasks.yaml": plan(task(risk_flags=["security"]))}, "say": say()},
        **{step: list(verdicts)},
        **{fix: {"append": {"tally/top.py": f"# {fix} {{{{visit}}}}\n"}, "say": say()} for fix in FIXES.values()},
    )


@pytest.mark.parametrize(
    ("step", "again"),
    [
        pytest.param("review", ["review", "test", "audit"], marks=pytest.mark.requirement(207)),
        pytest.param("test", ["review", "test", "audit"], marks=pytest.mark.requirement(208)),
        pytest.param("audit", ["review", "test", "audit"], marks=pytest.mark.requirement(209)),
    ],
)
def test_what_blocks_is_repaired_by_the_coder_and_goes_back_to_who_blocked_it(
    session: Session, step: str, again: list[str]
) -> None:
    repairing(session, step, blocking(step), {"say": say()})
    ran = session.start("--lean")
    assert ran.code == 0, ran.out
    calls = [call.removeprefix("T-001/") for call in session.calls() if call.startswith("T-001/")]
    at = calls.index(FIXES[step])
    assert calls[at - 1] == step
    assert calls[at + 1 :] == again  # all of them: each has to have seen exactly what lands
    counts = session.status["retry_counts"]["T-001"]
    assert counts == {"FIX_REVIEW": 0, "FIX_TESTS": 0, "FIX_SECURITY": 0, "FIX_BUILD": 0, LOOPS[step]: 1}
    assert session.tasks() == {"T-001": "completed"}


@pytest.mark.requirement(211, 212)
@pytest.mark.parametrize("step", FIXES)
def test_after_three_repairs_the_person_is_asked_with_what_was_tried_and_four_ways_to_go_on(
    session: Session, step: str
) -> None:
    repairing(session, step, *(blocking(step, f"Round {number} is wrong.") for number in range(1, 5)), {"say": say()})
    assert session.start("--lean").code == 4
    assert session.calls().count(f"T-001/{FIXES[step]}") == 3
    assert session.status["retry_counts"]["T-001"][LOOPS[step]] == 3
    assert session.status["current_state"] == "ASK_USER"
    (asked,) = session.pending()
    assert {option["value"] for option in asked["options"]} == OPTIONS
    assert all(f"Round {number} is wrong." in asked["question"] for number in range(1, 5))
    assert session.landed() == []
    assert session.decide("accept", "We live with it.").code == 0
    (issue,) = session.status["known_issues"]
    assert "Round 4 is wrong." in issue
    assert "We live with it." in issue
    assert issue in (session.folder / "report.md").read_text()


@pytest.mark.requirement(212)
@pytest.mark.parametrize("answer", ["different_approach", "simplify", "guidance"])
def test_the_coder_goes_on_with_what_the_person_said(session: Session, answer: str) -> None:
    from tests.plan.plans import spied
    from tests.team.sessions import ROLES

    spy = spied(session.sandbox)
    session.sandbox.set("roles", **dict.fromkeys(ROLES, "spy"))
    repairing(session, "review", *[blocking("review")] * 4, {"say": say()})
    assert session.start("--lean").code == 4
    session.script(code={"append": {"tally/top.py": "# anew\n"}, "say": say()})
    assert session.decide(answer, "Use a heap.").code == 0
    prompt = spy.of("code")[-1]["prompt"]
    assert f"{answer}: Use a heap." in prompt
    assert "It is not good enough." in prompt


@pytest.mark.requirement(211)
def test_repairs_are_counted_on_across_commands(session: Session) -> None:
    repairing(session, "review", *[blocking("review")] * 9)
    session.script(
        fix_review=[
            {"append": {"tally/top.py": "# 1\n"}, "say": say()},
            {"append": {"tally/top.py": "# 2\n"}, "say": say()},
            {"fail": "quota", "say": "limit reached"},
        ]
    )
    assert "limit reached" in session.start("--lean").err
    assert session.status["retry_counts"]["T-001"]["FIX_REVIEW"] == 3
    assert session.status["current_state"] == "FIX_REVIEW"
    session.script(fix_review={"append": {"tally/top.py": "# 3\n"}, "say": say()})
    assert session.resume().code == 4
    assert session.status["retry_counts"]["T-001"]["FIX_REVIEW"] == 3
    assert "Three repairs did not help" in session.pending()[0]["question"]


@pytest.mark.requirement(211)
def test_red_tests_and_qa_share_the_three_repairs_of_tests(session: Session) -> None:
    red = {
        "tests/test_top.py": "import unittest\n\n\nclass Top(unittest.TestCase):\n    def test_top(self) -> None:\n        self.fail()\n"
    }
    session.script(
        code={"files": {"tally/top.py": "X = 1\n", **red}, "say": say()},
        fix_tests=[
            {"append": {"tally/top.py": "# 1\n"}, "say": say()},
            coded(),
            *[_touched(number) for number in range(9)],
        ],
        test=blocking("test"),
    )
    assert session.start("--lean").code == 4
    assert session.calls().count("T-001/fix_tests") == 3
    assert session.status["retry_counts"]["T-001"]["FIX_TESTS"] == 3


def _touched(number: int) -> dict[str, Any]:
    return {"append": {"tally/top.py": f"# touched {number}\n"}, "say": say()}


@pytest.mark.requirement(210)
def test_red_acceptance_checks_are_repaired_and_the_build_is_made_again(session: Session) -> None:
    documents = session.sandbox.entry("intake_lean")["documents"]
    checks = '{"acceptance_criteria": [{"id": "AC-001", "description": "x", "verify": ["cmd: test -f VERSION"]}]}'
    session.script(
        intake_lean={"documents": {**documents, "acceptance.json": checks}, "say": say()},
        lean_fix_build={"files": {"VERSION": "1\n"}, "say": say()},
    )
    ran = session.start("--lean")
    assert ran.code == 0, ran.out
    assert session.calls()[-1] == "lean_fix_build"
    assert session.status["retry_counts"] == {
        "meta": {"FIX_REVIEW": 0, "FIX_TESTS": 0, "FIX_SECURITY": 0, "FIX_BUILD": 1}
    }
    assert len(session.landed()) == 2


@pytest.mark.requirement(210, 211, 212)
def test_a_build_that_stays_red_is_the_persons_after_three_repairs(session: Session) -> None:
    checks = '{"acceptance_criteria": [{"id": "AC-001", "description": "x", "verify": ["cmd: test -f VERSION"]}]}'
    intake = session.sandbox.entry("intake")
    session.script(
        intake={**intake, "documents": {**intake["documents"], "acceptance.json": checks}},
        fix_build={"append": {"notes.txt": "{{visit}}\n"}, "say": say()},
    )
    assert session.start(answers={"approve_design": "approved", "choose_strategy": "per-batch"}).code == 4
    assert session.calls().count("fix_build") == 3
    (asked,) = session.pending()
    assert asked["state_context"] == "INTEGRATE"
    assert "cmd: test -f VERSION" in asked["question"]
    session.script(fix_build={"files": {"VERSION": "1\n"}, "say": say()})
    ran = session.decide("guidance", "Write VERSION.")
    assert ran.code == 0, ran.out
    assert session.status["current_state"] == "DONE"


@pytest.mark.requirement(211)
def test_the_loops_of_two_tasks_are_counted_apart(session: Session) -> None:
    from tests.team.sessions import other_code, other_task

    session.script(
        plan={"documents": {"tasks.yaml": plan(other_task("T-001", 1), other_task("T-002", 2))}, "say": say()},
        **{
            "code@T-001": other_code(1),
            "code@T-002": other_code(2),
            "review@T-001": [blocking("review"), {"say": say()}],
            "review@T-002": [blocking("review"), blocking("review"), {"say": say()}],
            "fix_review@T-001": {"append": {"tally/part1.py": "# {{visit}}\n"}, "say": say()},
            "fix_review@T-002": {"append": {"tally/part2.py": "# {{visit}}\n"}, "say": say()},
        },
    )
    session.start(answers={"approve_design": "approved", "choose_strategy": "per-batch"})
    counts = session.status["retry_counts"]
    assert counts["T-001"]["FIX_REVIEW"] == 1
    assert counts["T-002"]["FIX_REVIEW"] == 2
