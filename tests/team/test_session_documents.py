"""The documents of a session as texts: what counts, and every reason why one does not."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.families.team.session_documents import (
    TASK_STATUSES,
    Invalid,
    criteria,
    excerpts,
    problem,
    tasks,
    with_statuses,
    without_statuses,
)
from tests.team.sessions import ARCHITECTURE, CRITERIA, REPORT, SPEC, other_task, plan, task

LEAN_SPEC = "# Words\n\n## Goal\nThe words.\n\n## Acceptance Criteria\n- AC-001: they are counted\n"


def criterion(**values: Any) -> str:
    one = {"id": "AC-001", "description": "it works", "verify": ["cmd: make test"], **values}
    return json.dumps({"acceptance_criteria": [{key: value for key, value in one.items() if value is not None}]})


def test_files_that_are_declared_as_plain_text_are_not_taken_for_none() -> None:
    with pytest.raises(Invalid, match="T-001: files_expected must be a list"):
        tasks(plan(task(files_expected="tally/top.py")))


@pytest.mark.requirement(158, 296)
def test_a_full_specification_needs_a_definition_of_done_and_a_lean_one_does_not() -> None:
    assert problem("spec.md", SPEC) == problem("spec.md", SPEC, lean=True) == ""
    assert problem("spec.md", LEAN_SPEC, lean=True) == ""
    assert problem("spec.md", LEAN_SPEC) == "it has no heading definition of done"


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("", "goal, acceptance criteria"),
        ("# Goal\n", "acceptance criteria"),
        (LEAN_SPEC.replace("## Goal", "## Non-goals"), "goal"),
        (LEAN_SPEC.replace("## Acceptance Criteria", "```\n## Acceptance Criteria\n```"), "acceptance criteria"),
    ],
)
def test_a_specification_says_what_is_wanted_under_its_own_headings(text: str, missing: str) -> None:
    assert problem("spec.md", text, lean=True) == f"it has no heading {missing}"


@pytest.mark.requirement(158)
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "it is not JSON"),
        ("[]", "it has no acceptance_criteria"),
        ('{"acceptance_criteria": []}', "it has no acceptance_criteria"),
        (criterion(id="1"), "1: its id must be like AC-001"),
        (criterion(description=" "), "AC-001: it has no description"),
        (criterion(verify=[]), "AC-001: verify names no check"),
        (criterion(verify=None), "AC-001: verify names no check"),
        (criterion(verify=["somebody looks"]), "AC-001: 'somebody looks' is none of cmd: …, test: …, manual: …"),
        (criterion(verify=["cmd: "]), "AC-001: 'cmd: ' is none of"),
        (json.dumps({"acceptance_criteria": CRITERIA["acceptance_criteria"] * 2}), "AC-001 is there twice"),
    ],
)
def test_a_criterion_without_a_check_is_not_testable(text: str, reason: str) -> None:
    assert problem("acceptance.json", text).startswith(reason)
    with pytest.raises(Invalid):
        criteria(text)


@pytest.mark.requirement(178)
@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"depends_on": None}, "depends_on must be a list"),
        ({"acceptance_checks": []}, "acceptance_checks is empty"),
        ({"acceptance_checks": ["look at it"]}, "'look at it' is none of"),
        ({"done_when": None}, "done_when must be a list"),
        ({"done_when": []}, "done_when is empty"),
        ({"goal": ""}, "it has no goal"),
        ({"id": "1"}, "its id must be like T-001"),
        ({"status": "done"}, "its status must be one of"),
        ({"type": "idea"}, "its type must be one of"),
        ({"risk_flags": ["fire"]}, "the risk flag fire is none of"),
        ({"files_expected": ["../other"]}, "../other leads out of the project"),
        ({"depends_on": ["T-009"]}, "T-009"),
        ({"depends_on": ["T-001"]}, "T-001"),
    ],
)
def test_a_task_has_all_that_is_needed_to_do_it_and_to_see_that_it_is_done(values: dict[str, Any], reason: str) -> None:
    assert problem("tasks.yaml", plan(task())) == ""
    assert reason in problem("tasks.yaml", plan(task(**values)))


@pytest.mark.requirement(159)
def test_a_lean_session_has_one_task() -> None:
    two = plan(task(), other_task("T-002", 2))
    assert problem("tasks.yaml", two) == ""
    assert problem("tasks.yaml", two, lean=True) == "a lean session has exactly one task"
    assert problem("tasks.yaml", plan(task()), lean=True) == ""
    assert problem("tasks.yaml", "tasks: []", lean=True) == "it has no tasks"


def test_architecture_and_report_have_their_headings() -> None:
    assert problem("architecture.md", ARCHITECTURE) == problem("report.md", REPORT) == ""
    assert problem("architecture.md", "# Overview\n") == "it has no heading modules"
    assert problem("report.md", "# What was done\n## How to run\n") == "it has no heading how to test, known issues"


NAMES = [f"T-{number:03}" for number in range(1, 5)]


@given(st.lists(st.sampled_from(TASK_STATUSES), min_size=4, max_size=4))
def test_a_status_changes_nothing_else_and_is_no_part_of_what_an_answer_is_bound_to(said: list[str]) -> None:
    text = "# the plan\n" + plan(*(task(name) for name in NAMES)) + "# its end\n"
    changed = with_statuses(text, dict(zip(NAMES, said, strict=True)))
    assert [one.status for one in tasks(changed)] == said
    assert without_statuses(changed) == text
    assert with_statuses(changed, {"T-009": "completed"}) == changed


@pytest.mark.requirement(165)
def test_an_excerpt_is_the_beginning_of_the_sections_that_are_named() -> None:
    text = "# A\n\n## Data flow\nin,\n\nthen out\n\n## Other\nx\n\n## Key decisions\n" + "long " * 200 + "\n"
    flow, decision = excerpts(text, ("data flow", "decision"))
    assert flow == "Data flow: in, then out"
    assert decision.startswith("Key decisions: long long")
    assert len(decision) == 300
    assert excerpts(text, ("layout",)) == []
