"""The gates between the stages: what closes one, what the state and the person are told, and how it opens again."""

import json
import shlex
import sys

import pytest

from agentd.families.staged.schedule import by_phase
from tests.landing.repositories import git
from tests.staged.examples import Moment
from tests.staged.runs import BRAINSTORM, NAME, Staged, final, review

# The first phase of a stage with the files that its gate needs.
GATES = [
    ("1.1", "0-explore.md"),
    ("2.1", "1.2-plan.md"),
    ("2.1", "1.3-plan-review.json"),
    ("3.1", "2.1-tasks.json"),
    ("3.1", "2.3-impl-review.json"),
    ("4.1", "3.1-test-results.json"),
    ("4.1", "3.3-test-review.json"),
]
FORGER = """
import json, pathlib, sys
path = pathlib.Path(sys.argv[1])
state = json.loads(path.read_text())
path.write_text(json.dumps({**state, "currentPhase": "4.3", "status": "completed"}))
"""


def edit(staged: Staged, **values: object) -> None:
    path = staged.folder / "state.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}, indent=2))


def step_to(staged: Staged, name: str) -> None:
    """Go on step by step until a run stands at this one."""
    for _ in range(20):
        if staged.state["run"]["step"] == name:
            return
        staged.resume("--steps", "1")
    raise AssertionError(f"it stands at {staged.state['run']['step']}")


@pytest.mark.requirement(226, 229, 234, 240, 244)
@pytest.mark.parametrize(("phase", "name"), GATES)
def test_a_stage_is_not_entered_without_a_file_of_the_one_before(
    final_is_blocked: Moment, phase: str, name: str
) -> None:
    staged = final_is_blocked.again()
    text = staged.phase(name)
    (staged.folder / "phases" / name).unlink()
    calls = len(staged.calls())
    ran = staged.resume("--from-phase", phase)
    entry = by_phase(phase)
    assert entry is not None
    assert ran.code != 0
    assert f"The gate to {entry.stage} is closed: {name}" in ran.err
    assert f"--from-phase {name.split('-')[0]}" in ran.err
    state = staged.state
    assert (state["status"], state["currentStage"], state["currentPhase"]) == ("blocked", entry.stage, phase)
    assert name in state["stages"][entry.stage]["blockReason"]
    assert state["stages"][entry.stage]["status"] == "blocked"
    assert len(staged.calls()) == calls
    (staged.folder / "phases" / name).write_text(text)
    staged.resume("--steps", "1")
    assert staged.state["run"]["step"] != "begin_" + entry.stage.lower()


@pytest.mark.requirement(226, 229, 234, 240, 244)
@pytest.mark.parametrize(("phase", "name"), GATES)
def test_a_file_that_the_state_does_not_record_opens_no_gate(final_is_blocked: Moment, phase: str, name: str) -> None:
    staged = final_is_blocked.again()
    edit(staged, files={key: path for key, path in staged.state["files"].items() if key != name})
    ran = staged.resume("--from-phase", phase)
    assert ran.code != 0
    assert f"{name}: it is not recorded in state.json" in ran.err
    assert staged.state["status"] == "blocked"


@pytest.mark.requirement(234, 240, 244)
@pytest.mark.parametrize(("phase", "name"), [each for each in GATES if each[1].endswith(".json")])
def test_a_file_that_agentd_did_not_write_opens_no_gate(final_is_blocked: Moment, phase: str, name: str) -> None:
    staged = final_is_blocked.again()
    (staged.folder / "phases" / name).write_text(staged.phase(name) + "\n")
    ran = staged.resume("--from-phase", phase)
    assert ran.code != 0
    assert f"{name}: it is not what agentd wrote" in ran.err


@pytest.mark.requirement(234)
def test_a_plan_that_was_changed_after_its_review_opens_no_gate(final_is_blocked: Moment) -> None:
    staged = final_is_blocked.again()
    path = staged.folder / "phases" / "1.2-plan.md"
    path.write_text(path.read_text().replace("Do part 1, with a test.", "Do all of it."))
    ran = staged.resume("--from-phase", "2.1")
    assert ran.code != 0
    assert "1.3-plan-review.json: 1.2-plan.md changed after it was reviewed" in ran.err


@pytest.mark.requirement(246)
def test_completion_is_not_entered_without_the_final_review(final_is_blocked: Moment) -> None:
    staged = final_is_blocked.again()
    staged.script(review_all=final())
    staged.decide("retry", resume=False)
    step_to(staged, "complete")
    (staged.folder / "phases" / "4.2-final-review.json").unlink()
    ran = staged.resume()
    assert ran.code != 0
    assert "The gate to FINAL is closed: 4.2-final-review.json" in ran.err
    assert staged.state["status"] == "blocked"
    assert staged.state["stages"]["FINAL"]["phases"]["4.3"]["status"] == "blocked"
    assert staged.resume("--from-phase", "4.2").code == 0
    assert staged.state["status"] == "completed"


@pytest.mark.requirement(251)
@pytest.mark.parametrize("values", [{"currentPhase": "2.1"}, {"currentPhase": "4.3", "status": "completed"}])
def test_a_phase_written_into_the_state_by_hand_moves_nothing(plan_is_stuck: Moment, values: dict[str, str]) -> None:
    staged = plan_is_stuck.again()
    edit(staged, **values)
    assert staged.resume().code == 4
    assert "task-1/implement" not in staged.calls()
    assert staged.state["run"]["step"] == "what_now"


@pytest.mark.requirement(251)
def test_a_phase_that_an_agent_writes_into_the_state_is_put_back(staged: Staged) -> None:
    staged.sandbox.set("sandbox", mode="off")
    forge = [sys.executable, "-c", FORGER, str(staged.folder / "state.json")]
    staged.sandbox.set("staged", phase_retries=1)
    staged.script(brainstorm={"say": BRAINSTORM, "run": forge})
    ran = staged.start()
    assert ran.code == 4
    assert "currentPhase, status in state.json changed while the agent worked, and was put back" in ran.out
    assert (staged.state["currentStage"], staged.state["currentPhase"]) == ("PLAN", "1.1")
    assert staged.calls()[2:] == ["brainstorm", "brainstorm"]


@pytest.mark.parametrize("fixed", ["the branch is put back", "the tasks are done again"])
def test_a_run_whose_branch_lost_a_task_does_not_go_on_without_it(code_is_stuck: Moment, fixed: str) -> None:
    staged = code_is_stuck.again()
    landed = staged.landed()
    assert landed
    git(staged.root, "branch", "--force", f"agentd/{NAME}", "main")
    staged.script(review_implementation=review())
    ran = staged.decide("retry")
    assert ran.code == 1
    assert "is not on it any more" in ran.err
    assert staged.state["currentStage"] == "IMPLEMENT"
    again = shlex.split(ran.err.split("Fix:")[1].split("#")[0])
    if fixed == "the branch is put back":
        git(staged.root, *again[3:])
        assert staged.resume().code == 0
    else:
        assert staged.resume("--from-phase", "2.1").code == 0
    assert staged.landed()[: len(landed)] == landed


def test_a_run_whose_branch_lost_a_task_in_its_last_stage_is_not_completed(final_is_blocked: Moment) -> None:
    staged = final_is_blocked.again()
    git(staged.root, "branch", "--force", f"agentd/{NAME}", "main")
    staged.script(review_all=final())
    ran = staged.decide("retry")
    assert ran.code == 1
    assert "is not on it any more" in ran.err
    assert staged.state["status"] != "completed"
