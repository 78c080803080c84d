"""What a person made of status.json by hand: anything in it is read, and nothing ends in a defect."""

import json
from typing import Any

import pytest

from tests.team.sessions import Session

ODD: list[dict[str, Any]] = [
    {"retry_counts": [1], "active_tasks": [1], "known_issues": 5, "dispatched": [1], "waived": 7},
    {"retry_counts": {"T-001": 3}, "dispatched": {"Coder": "x"}, "assumptions": 1, "attempts": "x"},
    {
        "retry_counts": {"T-001": {"FIX_TESTS": "x"}},
        "active_tasks": {"T-009": 4},
        "gate_tracking": [],
        "runtime_flags": 1,
    },
]


@pytest.mark.parametrize("odd", ODD)
def test_fields_of_a_wrong_kind_do_not_stop_a_session(session: Session, odd: dict[str, Any]) -> None:
    session.start()
    path = session.folder / "status.json"
    path.write_text(json.dumps({**session.status, **odd}))
    assert session.decide("approved").code == 4
    done = session.decide("per-batch")
    assert done.code == 0, done.err
    assert session.status["current_state"] == "DONE"
