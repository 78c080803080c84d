"""A task that begins anew, after its session left the lean mode or was planned again, asks its questions anew."""

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
