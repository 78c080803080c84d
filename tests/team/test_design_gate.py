"""APPROVE_DESIGN: what is shown, what counts as an approval, where corrections go, and what keeps the gate closed."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from agentd.app import open_project
from agentd.model.decision import Answer, Decision
from agentd.runs import commands, ports
from agentd.runs.work import work_on
from tests.team.sessions import NAME, Session, say
from tests.team.waiting import FULL_SPEC, copied

APPROVE = "UD-APPROVE-DESIGN"
COPY = "import shutil, sys; shutil.copyfile(sys.argv[1], sys.argv[2])"


@pytest.fixture
def gate(at_design: Path, tmp_path: Path) -> Session:
    """A session that waits for the approval of its design."""
    return copied(at_design, tmp_path)


def steps(session: Session, number: int) -> str:
    """Go on for so many steps; gives the step that comes next."""
    commands.resume(open_project(session.root), f"team/{NAME}", steps=number)
    return str(session.status["run"]["step"])


def tracking(session: Session) -> dict[str, Any]:
    return dict(session.status["gate_tracking"]["APPROVE_DESIGN"])


def history(session: Session) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (session.folder / "approve-design-history.jsonl").read_text().splitlines()]


def edit_status(session: Session, **values: Any) -> None:
    path = session.folder / "status.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}, indent=2))


def edit_decision(session: Session, name: str, **values: Any) -> None:
    found = session.status["user_decisions"]
    edit_status(session, user_decisions=[{**one, **values} if one["decision_id"] == name else one for one in found])


@pytest.mark.requirement(162, 164, 297)
def test_researcher_architect_and_designer_work_in_this_order_and_then_the_gate_is_there(gate: Session) -> None:
    assert gate.calls() == ["intake", "research", "design", "design_ui"]
    assert gate.status["current_state"] == "APPROVE_DESIGN"
    wanted = ("architecture.md", "adr/ADR-001.md", "research/research-counting.md", "design-specs/design-spec-words.md")
    assert all((gate.folder / name).is_file() for name in wanted)


@pytest.mark.requirement(162, 163)
def test_no_researcher_and_no_designer_where_none_is_needed(at_strategy: Path, tmp_path: Path) -> None:
    assert copied(at_strategy, tmp_path).calls() == ["intake", "design", "plan"]


@pytest.mark.requirement(165, 298)
def test_the_question_shows_what_is_to_be_approved_and_asks_for_approval_or_corrections(gate: Session) -> None:
    said = gate.decision(APPROVE)["question"]
    assert "approve the design" in said
    assert "comments, corrections or concerns" in said
    for shown in (
        "Scope: Only words, no phrases.",
        "AC-001 the most frequent word comes first",
        "Assumptions: A text fits into memory.",
        "Assumption: ASCII is enough",
        "Modules: tally/top.py",
        "Data Flow: text, words, counts",
        "Key Decisions: A counter",
        "Decision: Use collections.Counter.",
        "Layout: A table of words.",
        "Interactions: A click sorts it.",
        "Components: The project's table.",
    ):
        assert shown in said, shown
    assert [option["value"] for option in gate.decision(APPROVE)["options"]] == [
        "approved", "spec", "architecture", "design", "deferred",
    ]  # fmt: skip


@pytest.mark.requirement(166, 304)
def test_the_decision_is_on_the_disk_as_pending_before_anybody_is_asked(gate: Session) -> None:
    edit_status(gate, user_decisions=[])
    seen: list[tuple[str, str, str]] = []

    def ask(decision: Decision) -> Answer | None:
        status = gate.status
        seen.append((decision.id, status["user_decisions"][0]["status"], status["current_state"]))
        return None

    commands.resume(open_project(gate.root, ask), f"team/{NAME}")
    assert seen == [(APPROVE, "pending", "APPROVE_DESIGN")]


@pytest.mark.requirement(167)
def test_an_approval_is_saved_and_the_plan_follows(gate: Session) -> None:
    ran = gate.decide("approved")
    assert ran.code == 4, ran
    found = gate.decision(APPROVE)
    assert (found["status"], found["answer"]) == ("answered", "approved")
    assert found["resolved_at"]
    assert gate.status["current_state"] == "REVIEW_STRATEGY"
    assert "plan" in gate.calls()


@pytest.mark.requirement(167, 176)
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"answer": "changes-requested: a smaller scope"}, "answered with changes-requested: a smaller scope"),
        ({"status": "pending", "answer": None, "resolved_at": None}, f"{APPROVE} is not answered"),
    ],
)
def test_the_planner_is_dispatched_only_by_what_the_file_says(
    gate: Session, change: dict[str, Any], reason: str
) -> None:
    gate.answer(APPROVE, "approved")
    assert steps(gate, 2) == "plan"
    edit_decision(gate, APPROVE, **change)
    ran = gate.resume()
    assert ran.code == 1
    assert reason in ran.err
    assert "plan" not in gate.calls()


@pytest.mark.requirement(167)
def test_a_document_that_changed_after_the_approval_closes_the_gate(gate: Session) -> None:
    gate.answer(APPROVE, "approved")
    assert steps(gate, 2) == "plan"
    (gate.folder / "spec.md").write_text(FULL_SPEC.replace("no phrases", "and phrases"))
    ran = gate.resume()
    assert ran.code == 1
    assert "spec.md changed after the design was approved" in ran.err
    assert "plan" not in gate.calls()


@pytest.mark.requirement(168, 169, 170, 171)
@pytest.mark.parametrize(
    ("part", "role"), [("spec", "SpecAgent"), ("architecture", "Architect"), ("design", "Designer")]
)
def test_a_correction_is_queued_dispatched_and_completed_and_the_gate_asks_again(
    gate: Session, part: str, role: str
) -> None:
    step, seen = f"correct_{part}", gate.root.parent / "during.json"
    gate.script(**{step: {"run": [sys.executable, "-c", COPY, f"{gate.folder}/status.json", str(seen)], "say": say()}})
    gate.answer(APPROVE, part, "make it smaller")
    assert steps(gate, 2) == step
    first = history(gate)
    assert [one["answer"] for one in first] == ["changes-requested: make it smaller"]
    assert {*first[0]} == {"at", "decision_id", "answer", "state_context"}
    assert first[0]["state_context"] == "APPROVE_DESIGN"
    found = gate.decision(APPROVE)
    assert (found["status"], found["answer"]) == ("answered", "changes-requested: make it smaller")
    assert tracking(gate)["correction_status"] == "queued"

    gate.resume()
    during = json.loads(seen.read_text())["gate_tracking"]["APPROVE_DESIGN"]
    assert during["correction_status"] == "dispatched"
    assert during["last_correction_dispatch"]["agent"] == role
    assert during["last_correction_dispatch"]["at"]
    assert tracking(gate)["correction_status"] == "completed"
    assert gate.calls()[-1] == step
    assert gate.decision(APPROVE)["status"] == "pending"
    assert gate.status["current_state"] == "APPROVE_DESIGN"

    before = (gate.folder / "approve-design-history.jsonl").read_bytes()
    gate.decide(part, "smaller still")
    assert [one["answer"] for one in history(gate)] == [
        "changes-requested: make it smaller",
        "changes-requested: smaller still",
    ]
    assert (gate.folder / "approve-design-history.jsonl").read_bytes().startswith(before)
    assert gate.decision(APPROVE)["status"] == "pending"


@pytest.mark.requirement(169)
def test_a_correction_that_its_role_could_not_make_is_not_completed(gate: Session) -> None:
    gate.script(correct_spec={"say": say("BLOCKED", "The goal is gone.")})
    gate.decide("spec", "make it smaller")
    assert gate.status["current_state"] == "BLOCKED"
    assert tracking(gate)["correction_status"] == "dispatched"


@pytest.mark.requirement(299)
@pytest.mark.parametrize(
    ("words", "understood"),
    [
        ("Looks good to me, thanks!", "you approve the design"),
        ("looks good, but rename the module", "changes are requested, which go to Architect"),
        ("not approved: the scope is too large", "changes are requested, which go to SpecAgent"),
    ],
)
def test_free_words_are_shown_back_and_count_only_when_they_are_confirmed(
    gate: Session, words: str, understood: str
) -> None:
    gate.decide(words)
    (asked,) = gate.pending()
    assert f"You said “{words}”. Understood: {understood}." in asked["question"]
    assert gate.status["current_state"] == "APPROVE_DESIGN"
    assert gate.calls() == ["intake", "research", "design", "design_ui"]
    gate.decide(asked["options"][0]["value"])
    if "approve" in understood:
        assert gate.decision(APPROVE)["answer"] == "approved"
        assert gate.status["current_state"] == "REVIEW_STRATEGY"
    else:
        assert history(gate)[0]["answer"] == f"changes-requested: {words}"
        assert gate.calls()[-1] == ("correct_spec" if "SpecAgent" in understood else "correct_architecture")


@pytest.mark.requirement(176, 299)
def test_who_was_misunderstood_says_so_and_nothing_of_it_counts(gate: Session) -> None:
    gate.decide("Looks good to me")
    gate.decide("architecture")
    assert gate.decision(APPROVE)["status"] == "pending"
    assert "plan" not in gate.calls()
    assert history(gate)[0]["answer"] == "changes-requested: Looks good to me"


@pytest.mark.requirement(172)
def test_an_answer_that_cannot_be_used_is_asked_again_three_times_and_then_the_session_is_blocked(
    gate: Session,
) -> None:
    ran = gate.resume(answers={"approve_design": ["hm", "genehmigt", "so so", "vielleicht", "approved"]})
    assert ran.out.count("is no answer that can be used") == 3
    assert "(3 of 3)" in ran.out
    found = gate.decision(APPROVE)
    assert (found["status"], found["answer"]) == ("cancelled", None)
    assert found["resolution_reason"] == "no valid answer after 3 more questions"
    assert gate.status["current_state"] == "BLOCKED"
    assert gate.status["blocker"]["reason"] == "mandatory_user_decision_missing"
    assert "plan" not in gate.calls()


@pytest.mark.requirement(173)
def test_a_resume_asks_three_times_again(gate: Session) -> None:
    for _ in range(2):
        ran = gate.resume(answers={"approve_design": ["hm", "so so", "vielleicht"]})
        assert "(3 of 3)" in ran.out
        assert gate.status["current_state"] == "APPROVE_DESIGN"
    assert gate.decision(APPROVE)["status"] == "pending"


@pytest.mark.requirement(174)
@pytest.mark.parametrize("words", ["deferred", "not now"])
def test_a_gate_that_is_put_off_blocks_the_session_and_can_be_opened_again(gate: Session, words: str) -> None:
    gate.decide(words)
    found = gate.decision(APPROVE)
    assert found["status"] == "cancelled"
    assert found["resolution_reason"].startswith("put off by ")
    assert gate.status["current_state"] == "BLOCKED"
    assert gate.status["blocker"] == {
        "reason": "mandatory_user_decision_missing",
        "gate": APPROVE,
        "why": found["resolution_reason"],
    }
    gate.decide("retry")
    assert gate.status["current_state"] == "APPROVE_DESIGN"
    assert gate.decision(APPROVE)["status"] == "pending"
    assert "plan" not in gate.calls()


@pytest.mark.requirement(198)
def test_a_session_that_waits_at_the_gate_resumes_at_the_gate(gate: Session) -> None:
    before = gate.calls()
    assert gate.resume().code == 4
    assert gate.calls() == before
    assert gate.status["current_state"] == "APPROVE_DESIGN"
    assert [one["decision_id"] for one in gate.pending()] == [APPROVE]


FOREIGN: dict[str, Any] = {
    "current_state": "APPROVE_DESIGN",
    "session": NAME,
    "assumptions": [],
    "user_decisions": [
        {
            "decision_id": APPROVE,
            "question": "Do you approve?",
            "status": "answered",
            "answer": "changes-requested: the criteria are too vague",
            "asked_at": "2026-01-01T00:00:00Z",
            "resolved_at": "2026-01-01T00:01:00Z",
            "state_context": "APPROVE_DESIGN",
            "resolution_reason": None,
        }
    ],
    "last_update": "2026-01-01T00:01:00Z",
}


def foreign(session: Session, **values: Any) -> None:
    """The session as another tool would have left it: no word of agentd's own in its status.json."""
    (session.folder / "status.json").write_text(json.dumps({**FOREIGN, **values}))


@pytest.mark.requirement(198, 199)
@pytest.mark.parametrize(
    ("tracked", "step", "status"),
    [
        ({}, "correct_spec", "queued"),
        ({"gate_tracking": {}}, "correct_spec", "queued"),
        ({"gate_tracking": {"APPROVE_DESIGN": {"correction_status": None}}}, "correct_spec", "queued"),
        ({"gate_tracking": {"APPROVE_DESIGN": {"correction_status": "none"}}}, "correct_spec", "queued"),
        ({"gate_tracking": {"APPROVE_DESIGN": {"correction_status": "queued"}}}, "correct_spec", "queued"),
        ({"gate_tracking": {"APPROVE_DESIGN": {"correction_status": "dispatched"}}}, "approve_design", "completed"),
        ({"gate_tracking": {"APPROVE_DESIGN": {"correction_status": "completed"}}}, "approve_design", "completed"),
    ],
    ids=lambda value: str(value)[-30:],
)
def test_what_a_correction_status_leads_to_where_another_tool_left_it(
    gate: Session, tracked: dict[str, Any], step: str, status: str
) -> None:
    foreign(gate, **tracked)
    commands.resume(open_project(gate.root), f"team/{NAME}", steps=1)
    assert gate.status["run"]["step"] == step
    assert tracking(gate)["correction_status"] == status
    assert gate.status["current_state"] == "APPROVE_DESIGN"


@pytest.mark.requirement(199)
@pytest.mark.parametrize(("status", "corrections"), [("none", 1), ("dispatched", 0)])
def test_a_session_of_another_tool_gets_the_correction_that_is_due_once_and_is_asked_again(
    gate: Session, status: str, corrections: int
) -> None:
    foreign(gate, gate_tracking={"APPROVE_DESIGN": {"correction_status": status}})
    assert gate.resume().code == 4
    assert gate.calls() == ["correct_spec"] * corrections
    assert tracking(gate)["correction_status"] == "completed"
    found = gate.decision(APPROVE)
    assert (found["status"], found["answer"]) == ("pending", None)


@pytest.mark.requirement(198)
@pytest.mark.parametrize("state", ["PLAN", "REVIEW_STRATEGY"])
def test_a_session_that_another_tool_had_approved_goes_on_from_its_state(
    at_strategy: Path, tmp_path: Path, state: str
) -> None:
    session = copied(at_strategy, tmp_path)
    approved = {**FOREIGN["user_decisions"][0], "answer": "approved as is"}
    foreign(session, current_state=state, user_decisions=[approved])
    assert session.resume(answers={"choose_strategy": None}).code == 4
    assert session.calls() == (["plan"] if state == "PLAN" else [])
    assert session.status["current_state"] == "REVIEW_STRATEGY"
    assert [one["decision_id"] for one in session.pending()] == ["UD-REVIEW-STRATEGY"]
    session.answer("UD-REVIEW-STRATEGY", "per-batch")
    assert steps(session, 2) == "implement_each"
    project = open_project(session.root)
    found = ports.facts(work_on(project, project.find(NAME)), ("design_is_approved", "strategy_is_per_batch"))
    assert {*found.values()} == {""}


@pytest.mark.requirement(163)
@pytest.mark.parametrize(
    ("architecture", "reason"),
    [
        ("# A\n\n## Overview\nx\n\n## Modules\ny for AC-007\n\n## Risks\nnone\n", "names AC-007, which acceptance.json does not have"),
        ("# A\n\n## Overview\nx\n\n## Modules\ny\n", "architecture.md records no risks"),
    ],
)  # fmt: skip
def test_an_architecture_that_does_not_fit_its_specification_is_not_shown_for_approval(
    gate: Session, architecture: str, reason: str
) -> None:
    (gate.folder / "architecture.md").write_text(architecture)
    ran = gate.resume()
    assert ran.code == 1
    assert reason in ran.err


@pytest.mark.requirement(163)
@pytest.mark.parametrize("name", ["research/research-counting.md", "design-specs/design-spec-words.md"])
def test_a_report_or_a_design_that_was_wanted_has_to_be_there(gate: Session, name: str) -> None:
    (gate.folder / name).unlink()
    ran = gate.resume()
    assert ran.code == 1
    assert ("there is no report" if "research" in name else "there is no design for it") in ran.err
