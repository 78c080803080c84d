"""A task that begins anew, after its session left the lean mode or was planned again, asks its questions anew."""

import shutil
from pathlib import Path

from tests.sandbox import make_sandbox
from tests.team.sessions import Session, say


def test_an_answer_to_the_task_of_a_lean_session_is_not_taken_for_one_in_the_full_session(tmp_path: Path) -> None:
    session = Session(make_sandbox(tmp_path))
    unclear = {"say": say("BLOCKED", "Which words?", next={"recommended_agent": "user", "reason": "Which words?"})}
    larger = {"say": say("BLOCKED", "It is more.", next={"recommended_agent": "SpecAgent", "reason": "It is more."})}
    session.script(code=[unclear, larger])
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
