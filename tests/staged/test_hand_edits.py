"""A state.json that a person edited: what has another shape than agentd wrote is named, and nothing is lost."""

import json
from typing import Any

import pytest

from agentd.families.staged import stages
from tests.staged.runs import Staged, final, issue, review, task

SOUND: dict[str, Any] = {"stages": stages.begun(()), "gates": {}, "files": {}, "waivers": []}
ODD = [
    *[(key, 5) for key in stages.SHAPES],
    ("stages", {"IMPLEMENT": 5}),
    ("stages", {**stages.begun(()), "PLAN": {"status": 3, "phases": {}}}),
    ("gates", {"a": 1}),
    ("waivers", [1]),
]


def test_what_agentd_wrote_is_sound() -> None:
    assert stages.malformed({}) == ""
    assert stages.malformed(SOUND) == ""


@pytest.mark.parametrize(("key", "value"), ODD, ids=str)
def test_a_field_of_another_shape_is_named(key: str, value: Any) -> None:
    assert stages.malformed({**SOUND, key: value}) == key


def test_a_run_with_such_a_file_says_so_and_leaves_it_as_it_is(staged: Staged) -> None:
    assert staged.start("--json").code in (0, 4)
    path = staged.folder / "state.json"
    text = json.dumps({**staged.state, "stages": 5})
    path.write_text(text)
    shown = staged.sandbox.run("status", "staged/tmp", "--verbose")
    assert shown.code == 0
    assert "'stages' of state.json is not what agentd wrote there" in shown.out
    refused = staged.resume()
    assert refused.code == 1
    assert "'stages' is not what agentd wrote there" in refused.err
    assert path.read_text() == text


def test_a_plan_that_changed_after_its_tasks_were_done_closes_the_gate(staged: Staged) -> None:
    staged.sandbox.set("staged", phase_retries=0)
    staged.script(review_implementation={"say": "It looks fine to me."})
    assert staged.start().code == 4
    plan = staged.folder / "phases" / "1.2-plan.md"
    plan.write_text(f"{staged.phase('1.2-plan.md')}\n{task(2)}")
    staged.script(review_implementation=review())
    closed = staged.decide("retry")
    assert closed.code == 1
    assert "1.2-plan.md changed after its tasks were done" in closed.err
    assert "agentd resume staged/tmp --from-phase 2.1" in closed.err


def test_a_plan_that_is_no_plan_any_more_is_told_with_its_file(staged: Staged) -> None:
    staged.script(review_all=final("blocked", issue()))
    assert staged.start().code == 4
    (staged.folder / "phases" / "1.2-plan.md").write_text("Never mind.\n")
    told = staged.decide("restart")
    assert told.code == 1
    assert ".agents/tmp/phases/1.2-plan.md is no valid plan" in told.err
