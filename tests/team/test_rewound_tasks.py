"""A task that begins anew, after its session left the lean mode or was planned again, asks its questions anew."""

import shutil
from pathlib import Path

from tests.sandbox import make_sandbox
from tests.team.sessions import Session, other_task, plan, say, task


def test_an_answer_to_the_task_of_a_lean_session_is_not_taken_for_one_in_the_full_session(tmp_path: Path) -> None:
    session = Session(make_sandbox(tmp_path))
    unclear = {"say": say("BLOCKED", "Which words?", next={"recommended_agent": "user", "reason": "Which words?"})}
    larger = {"say": say("BLOCKED", "It is more.", next={"recommended_agent": "SpecAgent", "reason": "It is more."})}
    session.script(code=[unclear, larger, unclear])
    assert session.start("--lean").code == 4
    assert session.decide("all of them").code == 4  # the full session waits at its first gate
    assert session.status["mode"] == "full"
    assert session.decide("approved").code == 4
    session.decide("per-batch")
    (again,) = session.pending()
    assert (again["name"], again["item"]) == ("ask_user", "T-001")


def test_a_question_of_a_task_that_begins_anew_is_cancelled(session: Session) -> None:
    unclear = {"say": say("BLOCKED", "Which words?", next={"recommended_agent": "user", "reason": "Which words?"})}
    session.script(code=unclear)
    assert session.start("--lean").code == 4
    (first,) = session.pending()
    shutil.rmtree(session.folder / "children" / "lean_implement" / "T-001")
    assert session.resume().code == 4
    (second,) = session.pending()
    assert second["decision_id"] != first["decision_id"]
    assert session.decision(first["decision_id"])["resolution_reason"] == "T-001 began anew"


def test_a_phase_of_a_task_that_is_set_by_hand_cancels_no_question_of_another_task(session: Session) -> None:
    unclear = {"say": say("BLOCKED", "Which words?", next={"recommended_agent": "user", "reason": "Which words?"})}
    session.script(code=unclear, plan={"documents": {"tasks.yaml": plan(task(), other_task("T-002", 2))}, "say": say()})
    session.start(answers={"approve_design": "approved", "choose_strategy": "per-batch"})
    before = {one["item"]: one["decision_id"] for one in session.pending()}
    assert {*before} == {"T-001", "T-002"}
    state = session.folder / "children" / "implement_each" / "T-001" / "STATE.yaml"
    state.write_text(state.read_text().replace("phase: ASK_USER", "phase: IMPLEMENT_LOOP"))
    session.resume()
    after = {one["item"]: one["decision_id"] for one in session.pending()}
    assert after["T-002"] == before["T-002"]
    assert after["T-001"] != before["T-001"], "its own is asked anew"
