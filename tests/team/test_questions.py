"""ASK_USER: what leads to a question, that it is a record before it is asked, and where its answer leads back to."""

import time
from typing import Any

import pytest

from agentd.engine.advance import advance
from agentd.families.team import contract, roles
from agentd.model.workflow import RESERVED
from tests.team.sessions import HONEST, NAME, Session, coded, say
from tests.workflows.tables import built_in
from tests.workflows.walker import at

TEAM, TASK, LATE = (built_in(name) for name in ("team", "team-task", "team-task-late"))
GATES = {"approve_design": "APPROVE_DESIGN", "confirm_design": "APPROVE_DESIGN", "choose_strategy": "REVIEW_STRATEGY"}
TO_PERSON = {"recommended_agent": "User", "reason": "Which one?"}


@pytest.mark.requirement(304)
def test_every_question_but_those_of_the_two_gates_is_asked_in_a_state_for_it() -> None:
    for workflow in (TEAM, TASK, LATE):
        for step in workflow.steps.values():
            if step.kind == "ask":
                assert step.phase in ([GATES[step.name]] if step.name in GATES else ["ASK_USER", "BLOCKED"]), step.name


FINDING = [{"severity": "medium", "category": "input", "file": "a.py", "description": "d", "recommended_fix": "f"}]


@pytest.mark.parametrize("gaps", [3, "nothing is covered", {"a": 1}])
def test_gaps_that_are_no_list_make_a_reply_unreadable(gaps: object) -> None:
    assert contract.read(say(coverage_gaps=gaps), ("OK",)) == (None, "artifacts.coverage_gaps must be a list")


@pytest.mark.parametrize("severity", ["high", "High (CVSS 8)", " CRITICAL ", "**high**"])
def test_a_severe_finding_blocks_however_it_is_written(severity: str) -> None:
    result, _ = contract.read(say(findings=[{"severity": severity}]), ("OK",))
    assert result is not None
    assert contract.outcome(result, "Security", ["ok", "needs_decision", "blocked"])[0] == "blocked"


@pytest.mark.parametrize(("severity", "word"), [("low", "ok"), ("Info", "ok"), ("severe", "needs_decision")])
def test_a_finding_of_a_severity_that_nobody_knows_is_for_the_person(severity: str, word: str) -> None:
    result, _ = contract.read(say(findings=[{"severity": severity}]), ("OK",))
    assert result is not None
    assert contract.outcome(result, "Security", ["ok", "needs_decision", "blocked"])[0] == word


@pytest.mark.parametrize(
    ("failed", "word"),
    [(2, "blocked"), ("2", "blocked"), (["test_a"], "blocked"), ("0 of 12", "ok"), ([], "ok"), (None, "ok")],
)
def test_failed_tests_block_however_qa_counts_them(failed: object, word: str) -> None:
    result, _ = contract.read(say(test_results={"failed": failed}), ("OK",))
    assert result is not None
    assert contract.outcome(result, "QA", ["ok", "blocked"])[0] == word


@pytest.mark.parametrize("junk", ["{" * 200_000, '{"\n' * 100_000, '{ "a":\n' * 100_000])
def test_a_reply_of_braces_is_unreadable_at_once(junk: str) -> None:
    began = time.process_time()
    assert contract.read(junk, ("OK",))[0] is None
    assert time.process_time() - began < 2  # seconds; minutes where each brace is looked at


def test_a_second_result_after_many_broken_objects_is_not_passed_over() -> None:
    assert contract.read(say() + '{"' * 5000 + say("BLOCKED", "No."), ("OK", "BLOCKED"))[0] is None


@pytest.mark.requirement(201)
@pytest.mark.parametrize(
    ("step", "reply", "question"),
    [
        ("intake", say("BLOCKED", "Two readings.", next=TO_PERSON), "question_of_an_agent"),
        ("intake_lean", say("BLOCKED", "Two readings.", next=TO_PERSON), "question_of_an_agent"),
        ("research", say("NEEDS_INFO", "Which licence?"), "question_of_an_agent"),
        ("design", say("BLOCKED", "Speed or size?", next=TO_PERSON), "question_of_an_agent"),
        ("design_ui", say("BLOCKED", "Left or right?", next=TO_PERSON), "question_of_an_agent"),
        ("plan", say("BLOCKED", "Now or later?", next=TO_PERSON), "question_of_an_agent"),
        ("team-task.code", say("BLOCKED", "Which one?", next=TO_PERSON), "question_of_an_agent"),
        ("team-task-late.code", say("BLOCKED", "Which one?", next=TO_PERSON), "question_of_an_agent"),
        ("team-task.review", say(verdict="PASS WITH NOTES"), "which_notes_to_fix"),
        ("review_all", say(verdict="PASS WITH NOTES"), "which_notes_to_fix"),
        ("team-task.audit", say("NEEDS_DECISION", "Medium.", findings=FINDING), "security_needs_a_decision"),
        ("audit_all", say("NEEDS_DECISION", "Medium.", findings=FINDING), "security_needs_a_decision"),
        ("team-task.audit", say(findings=FINDING), "security_needs_a_decision"),
    ],
)
def test_a_reply_that_needs_a_person_leads_to_a_question_in_ask_user(step: str, reply: str, question: str) -> None:
    workflow = built_in(step.partition(".")[0]) if "." in step else TEAM
    here = workflow.steps[step.rpartition(".")[2]]
    role = roles.built_in(here.what)
    result, problem = contract.read(reply, role.statuses)
    assert result is not None, problem
    word, _ = contract.outcome(result, role.name, [word for word in here.next if word not in RESERVED])
    asked = advance(workflow, at(workflow, here.name), word)
    assert (asked.phase, workflow.steps[asked.step].what) == ("ASK_USER", question)


@pytest.mark.requirement(201)
@pytest.mark.parametrize("loop", ["implement_each", "implement_all"])
def test_a_task_that_grows_is_asked_about_before_more_is_done(loop: str) -> None:
    asked = advance(TEAM, at(TEAM, loop), "complex")
    assert (asked.phase, TEAM.steps[asked.step].what) == ("ASK_USER", "scope_has_grown")


@pytest.mark.requirement(200, 304)
def test_a_question_of_a_role_is_a_record_and_its_answer_leads_back_to_the_state_that_asked(session: Session) -> None:
    session.script(intake=[{"say": say("BLOCKED", "Two readings.", next=TO_PERSON)}, HONEST["intake"]])
    ran = session.start()
    assert ran.code == 4
    assert session.status["current_state"] == "ASK_USER"
    (asked,) = session.pending()
    assert asked["decision_id"] == "UD-1"
    assert asked["state_context"] == "INTAKE"
    assert asked["question"] == "SpecAgent asks: Which one?"
    assert (asked["answer"], asked["resolved_at"], asked["resolution_reason"]) == (None, None, None)
    assert "Next: agentd answer team/s1 UD-1 " in ran.out

    session.answer("UD-1", "the first one")
    ran = session.sandbox.run("resume", "team/s1", "--steps", "1")
    assert session.status["current_state"] == "INTAKE"
    found = session.decision("UD-1")
    assert (found["status"], found["answer"]) == ("answered", "the first one")
    assert found["resolved_at"]
    session.resume()
    assert session.calls()[:3] == ["intake", "intake", "design"]


@pytest.mark.requirement(200, 304)
def test_a_question_of_a_task_shows_ask_user_for_the_session_and_leads_back_to_the_loop(session: Session) -> None:
    session.script(code=[{"say": say("BLOCKED", "Unclear.", next=TO_PERSON)}, coded()])
    assert session.start("--lean").code == 4
    assert session.status["current_state"] == "ASK_USER"
    (asked,) = session.pending()
    assert asked["question"] == "T-001: Coder asks: Which one?"
    assert asked["state_context"] == "IMPLEMENT_LOOP"
    assert session.tasks() == {"T-001": "in-progress"}
    session.decide("the first one")
    assert session.status["current_state"] == "DONE"
    assert session.decision("UD-1")["answer"] == "the first one"


@pytest.mark.requirement(201)
def test_the_question_about_a_task_that_grew_says_why(session: Session) -> None:
    why: dict[str, Any] = {"recommended_agent": "Planner", "reason": "It needs a parser first."}
    session.script(code={"say": say("BLOCKED", "Too large.", next=why)})
    session.start(answers={"approve_design": "approved", "choose_strategy": "per-batch"})
    assert session.status["current_state"] == "ASK_USER"
    (asked,) = session.pending()
    assert "T-001: It needs a parser first." in asked["question"]
    session.script(code=coded())
    session.decide("plan_again")
    assert session.status["current_state"] == "REVIEW_STRATEGY"
    assert session.calls().count("plan") == 2


def test_a_role_that_fails_is_told_with_its_own_reason_not_with_an_earlier_question(session: Session) -> None:
    unclear = {"say": say("BLOCKED", "Two readings.", next=TO_PERSON)}
    session.script(intake=[unclear, HONEST["intake"]], plan={"say": "I have planned it."})
    asked = session.start("--json")
    assert asked.data["next"] == f'agentd answer team/{NAME} UD-1 "your answer"'
    session.decide("this one")
    session.decide("approved")
    (stuck,) = session.pending()
    assert "Planner: the reply has no JSON object with a status" in stuck["question"]
    assert TO_PERSON["reason"] not in stuck["question"]


def test_a_loop_that_cannot_go_on_names_the_task_that_was_given_up(session: Session) -> None:
    session.script(code={"say": say("BLOCKED", "No way.")})
    assert session.start("--lean").code == 4
    assert session.decide("give_up", "It is not worth it.").code == 4
    (open_one,) = session.pending()
    assert "(given up: T-001: Coder: No way.: It is not worth it.)" in open_one["question"]
    log = session.sandbox.run("log", f"team/{NAME}").out
    (line,) = [line for line in log.splitlines() if "child=lean_implement/T-001" in line and "outcome=blocked" in line]
    assert "step=code" in line
    assert "note=No way." in line, "the diary of a task is kept when the task begins anew"
