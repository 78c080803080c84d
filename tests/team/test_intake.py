"""From a goal to documents: the states in order, full and lean, the gate of INTAKE, and the way out of a lean session."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentd.families.team import LAYOUT
from agentd.state.codecs import decode
from tests.landing.repositories import git
from tests.plan.plans import Spy, spied
from tests.sandbox import copy_sandbox
from tests.shared import Shared
from tests.team.sessions import CRITERIA, HONEST, SPEC, Session, coded, other_task, plan, say, task

LEAN_SPEC = SPEC.split("## Definition")[0]
UNNAMED = {**HONEST["intake"]["documents"], "spec.md": SPEC.replace("- AC-001", "- AC-002: ties are sorted\n- AC-001")}


def states(session: Session) -> list[str]:
    """The states of a session in the order in which its diary has them."""
    lines = (session.folder / "journal.jsonl").read_text().splitlines()
    seen = [str(json.loads(line)["phase"]) for line in lines]
    return [state for at, state in enumerate(seen) if at == 0 or seen[at - 1] != state]


@pytest.mark.requirement(155, 157)
def test_a_full_session_goes_through_its_states_in_order_and_writes_in_its_own_folder(session: Session) -> None:
    ran = session.start(answers={"approve_design": "approved", "choose_strategy": "per-batch"})
    assert ran.code == 0, ran
    assert states(session) == ["INTAKE", "DESIGN", "APPROVE_DESIGN", "PLAN", "REVIEW_STRATEGY", "IMPLEMENT_LOOP", "INTEGRATE", "RELEASE", "DONE"]  # fmt: skip
    assert session.status["current_state"] == "DONE"
    assert session.folder.relative_to(session.root).as_posix() == ".agents-work/s1"
    for name in ("spec.md", "acceptance.json", "architecture.md", "tasks.yaml", "status.json", "report.md"):
        assert (session.folder / name).is_file(), name
    changed = git(session.root, "status", "--porcelain", "--untracked-files=all", "--ignored").splitlines()
    assert {line[3:].split("/")[0] for line in changed} <= {".agents-work", "agentd"}
    assert git(session.root, "log", "-1", "--format=%s") == "settings"


def spied_spec_agent(session: Session) -> Spy:
    spy = spied(session.sandbox)
    session.sandbox.set("roles", spec_agent="spy")
    return spy


class Lean:
    """A lean session that ran to its end, with what its roles were sent."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.spy = spied_spec_agent(session)
        session.script(
            intake_lean={
                "documents": {**HONEST["intake_lean"]["documents"], "spec.md": LEAN_SPEC},
                "say": say(),
            }
        )
        self.ran = session.start("--lean")


@pytest.fixture(scope="session")
def lean(prepared_once: Path, shared: Shared) -> Lean:
    return shared.once("short", lambda folder: Lean(Session(copy_sandbox(prepared_once, folder))))


@pytest.mark.requirement(156, 177)
def test_a_lean_session_goes_through_its_states_and_past_both_gates(lean: Lean) -> None:
    assert lean.ran.code == 0, lean.ran
    assert states(lean.session) == ["INTAKE_LEAN", "IMPLEMENT_LOOP", "INTEGRATE", "DONE"]
    assert lean.session.status.get("user_decisions", []) == []


@pytest.mark.requirement(159, 296)
def test_a_lean_session_has_a_short_specification_one_task_and_no_architecture(lean: Lean) -> None:
    folder = lean.session.folder
    assert (folder / "spec.md").read_text() == LEAN_SPEC
    assert json.loads((folder / "acceptance.json").read_text()) == CRITERIA
    assert lean.session.tasks() == {"T-001": "completed"}
    assert lean.session.status["mode"] == "lean"
    assert not (folder / "architecture.md").exists()


@pytest.mark.requirement(296)
def test_spec_agent_is_told_that_the_session_is_lean(lean: Lean) -> None:
    prompt = lean.spy.of("intake_lean")[0]["prompt"]
    assert '"mode": "lean"' in prompt
    assert '"step": "intake_lean"' in prompt


@pytest.mark.requirement(158)
@pytest.mark.parametrize(
    ("documents", "reason"),
    [
        (UNNAMED, "spec.md names AC-002, which acceptance.json does not have"),
        ({**UNNAMED, "spec.md": LEAN_SPEC}, "spec.md: it has no heading definition of done"),
        ({"spec.md": SPEC, "acceptance.json": '{"acceptance_criteria": []}'}, "it has no acceptance_criteria"),
        ({"spec.md": SPEC}, "acceptance.json: it is missing"),
    ],
    ids=["a criterion without a check", "no definition of done", "no criteria", "no file"],
)
def test_a_specification_that_cannot_be_tested_goes_no_further(
    session: Session, documents: dict[str, str], reason: str
) -> None:
    session.script(intake={"documents": documents, "say": say()})
    ran = session.start()
    assert reason in ran.out
    assert session.calls() == ["intake"] * 3
    assert session.status["current_state"] == "BLOCKED"


@pytest.mark.requirement(158)
def test_what_spec_agent_says_of_the_state_is_taken_into_a_status_that_stays_valid(session: Session) -> None:
    draft = {
        "assumptions": ["one"],
        "project_type": "cli",
        "current_state": "DONE",
        "mode": "lean",
        "user_decisions": 7,
    }
    documents = {**HONEST["intake"]["documents"], "status-draft.json": json.dumps(draft)}
    session.script(intake={"documents": documents, "say": say()})
    session.start()
    status = session.status
    assert decode(LAYOUT.codec, status).run.phase == "APPROVE_DESIGN"
    assert (status["assumptions"], status["project_type"], status["mode"]) == (["one"], "cli", "full")
    assert {"session", "gate_tracking", "runtime_flags", "retry_counts", "known_issues", "last_ci_result", "last_update"} <= {*status}  # fmt: skip
    assert not (session.folder / "status-draft.json").exists()


@pytest.mark.requirement(159)
def test_a_lean_plan_of_two_tasks_does_not_count(session: Session) -> None:
    documents = {**HONEST["intake_lean"]["documents"], "tasks.yaml": plan(task(), other_task("T-002", 2))}
    session.script(intake_lean=[{"documents": documents, "say": say()}, HONEST["intake_lean"]])
    ran = session.start("--lean")
    assert "a lean session has exactly one task" in ran.out
    assert session.tasks() == {"T-001": "completed"}


@pytest.mark.requirement(160)
def test_a_lean_session_whose_spec_agent_is_not_to_be_had_makes_the_goal_its_specification(session: Session) -> None:
    session.script(intake_lean={"fail": "error"})
    ran = session.start("--lean")
    assert "the goal itself is the specification" in ran.out
    assert states(session)[:2] == ["INTAKE_LEAN", "IMPLEMENT_LOOP"]
    assert session.calls()[:4] == ["intake_lean"] * 3 + ["T-001/code"]
    assert "Give the most frequent words of a text" in (session.folder / "spec.md").read_text()
    (one,) = json.loads((session.folder / "acceptance.json").read_text())["acceptance_criteria"]
    assert one["verify"] == ["manual: Give the most frequent words of a text"]
    assert list(session.tasks()) == ["T-001"]
    assert session.pending()[0]["name"] == "lean_confirm_checks"


@pytest.mark.requirement(160)
def test_a_full_session_whose_spec_agent_is_not_to_be_had_is_blocked(session: Session) -> None:
    session.script(intake={"fail": "error"})
    session.start()
    assert session.status["current_state"] == "BLOCKED"
    assert not (session.folder / "spec.md").exists()


@pytest.mark.requirement(161)
def test_a_lean_session_that_turns_out_complex_begins_anew_as_a_full_one_with_what_was_learned(
    session: Session,
) -> None:
    why = {"recommended_agent": "SpecAgent", "reason": "Three modules have to change."}
    spy = spied_spec_agent(session)
    session.script(code={"say": say("BLOCKED", "Too large.", next=why)})
    session.start("--lean")
    assert states(session) == ["INTAKE_LEAN", "IMPLEMENT_LOOP", "INTAKE", "DESIGN", "APPROVE_DESIGN"]
    assert session.status["mode"] == "full"
    assert session.calls() == ["intake_lean", "T-001/code", "intake", "design"]
    notes = (session.folder / "lean-notes.md").read_text()
    assert "Three modules have to change." in notes
    assert "the n most frequent words" in notes
    prompt = spy.of("intake")[0]["prompt"]
    assert "Three modules have to change." in prompt
    assert '"mode": "full"' in prompt
    assert not (session.folder / "tasks.yaml").exists()
    session.script(code=coded())
    ran = session.resume(answers={"approve_design": "approved", "choose_strategy": "per-batch"})
    assert ran.code == 0, ran
    assert session.status["current_state"] == "DONE"


def test_a_draft_that_is_no_json_is_passed_over(session: Session) -> None:
    documents: dict[str, Any] = {**HONEST["intake"]["documents"], "status-draft.json": "{"}
    session.script(intake={"documents": documents, "say": say()})
    session.start()
    assert session.status["assumptions"] == []
    assert session.status["current_state"] == "APPROVE_DESIGN"
