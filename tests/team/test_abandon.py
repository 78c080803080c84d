"""`agentd abandon` ends a session wherever it stands, and loses nothing that a role wrote."""

from tests.landing.repositories import git
from tests.team.sessions import NAME, TOP, Session, say

TO_PERSON = {"recommended_agent": "user", "reason": "Which words?"}


def test_a_session_ends_though_no_answer_to_its_question_would_end_it(session: Session) -> None:
    session.script(review={"say": say(verdict="PASS WITH NOTES")})
    assert session.start("--lean").code == 4
    (asked,) = session.pending()
    assert "abandon" not in [option["value"] for option in asked["options"]]
    done = session.sandbox.run("abandon", f"team/{NAME}")
    assert done.code == 0, done.err
    assert f"team/{NAME} is abandoned" in done.out
    assert (session.status["current_state"], session.status["active_tasks"]) == ("BLOCKED", {})
    assert session.pending() == []
    shown = session.sandbox.run("status", f"team/{NAME}", "--json").data
    assert (shown["doing"], shown["note"]) == ("finished", "abandoned")
    kept = git(session.root, "for-each-ref", "--format=%(refname)", f"refs/agentd/team/{NAME}/tasks").splitlines()
    assert any(git(session.root, "show", f"{ref}:tally/top.py") == TOP.strip() for ref in kept)
    assert session.resume().code == 1
    again = session.sandbox.run("abandon", NAME)
    assert again.code == 1
    assert f"team/{NAME} is finished already (abandoned)" in again.err


def test_a_name_that_git_refuses_is_refused_before_anything_is_paid(session: Session) -> None:
    for name in ("x.lock", "a..b", "ends."):
        refused = session.sandbox.run("run", "team", "goal", "--session", name)
        assert (refused.code, f"'{name}' cannot name a run" in refused.err) == (2, True), refused.err
        assert not (session.root / ".agents-work" / name).exists()
