"""The documents of a session are those that were decided on, to the end: whoever changed one, nothing is done on it."""

import json

import pytest

from tests.team.sessions import CRITERIA, SPEC, Session, plan, say, task

LOOK = {"acceptance_criteria": [{**CRITERIA["acceptance_criteria"][0], "verify": ["manual: look at it"]}]}


@pytest.mark.requirement(167)
def test_a_specification_that_changes_after_its_approval_closes_the_gate(session: Session) -> None:
    session.start()
    assert session.decide("approved").code == 4
    (session.folder / "spec.md").write_text(SPEC + "\nOne more wish.\n")
    done = session.decide("per-batch")
    assert done.code == 1
    assert "spec.md changed after the design was approved" in done.err
    assert "set current_state in .agents-work/s1/status.json to APPROVE_DESIGN" in done.err
    (session.folder / "spec.md").write_text(SPEC)
    assert session.resume().code == 0


def test_a_lean_session_whose_criteria_change_under_way_is_not_done(session: Session) -> None:
    documents = {"spec.md": SPEC, "acceptance.json": json.dumps(LOOK), "tasks.yaml": plan(task())}
    session.script(intake_lean={"documents": documents, "say": say()})
    assert session.start("--lean").code == 4
    easier = json.dumps({"acceptance_criteria": [{"id": "AC-001", "description": "anything", "verify": ["cmd: true"]}]})
    (session.folder / "acceptance.json").write_text(easier)
    done = session.decide("confirmed")
    assert done.code == 1
    assert "acceptance.json changed after the work was begun" in done.err
    assert session.status["current_state"] != "DONE"
    (session.folder / "acceptance.json").write_text(json.dumps(LOOK))
    assert session.resume().code == 0
    assert session.status["current_state"] == "DONE"
