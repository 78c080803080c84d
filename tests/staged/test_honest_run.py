"""A run through all stages: what each phase leaves, what each agent is sent, and how the state says where the run stands."""

import json
from pathlib import Path

import pytest

from agentd.agents import plugins
from agentd.app import LAYOUTS
from agentd.families.staged.schedule import SCHEDULE, STAGES, entry_of
from agentd.runs.config import read_config
from tests.landing.repositories import git
from tests.staged.examples import Done, branch

REVIEWS = {
    "review_plan": ("plan", "plan-review", "1.3-plan-review.json"),
    "review_implementation": ("implementation", "implementation", "2.3-impl-review.json"),
    "review_tests": ("tests", "test-review", "3.3-test-review.json"),
    "review_all": ("final", "final-review", "4.2-final-review.json"),
}
FIXES = {
    "review_plan": "fix_plan",
    "review_implementation": "fix_implementation",
    "review_tests": "fix_tests",
    "review_all": "fix_all",
}


def entries(full: Done) -> list[str]:
    """The entries of the schedule in the order in which the run first came to them."""
    events = full.staged.sandbox.events(full.staged.folder)
    found = (entry_of(event.get("step", "")) for event in events if event["event"] == "begin")
    return [*dict.fromkeys(entry.phase for entry in found if entry)]


@pytest.mark.requirement(223, 224, 227)
def test_the_entries_of_the_schedule_are_gone_through_in_order_and_none_is_left_out(full: Done) -> None:
    listed = [entry.phase for entry in SCHEDULE]
    assert entries(full) == [phase for phase in listed if phase != "3.2"]
    shown = full.staged.state["schedule"]
    assert [entry["phase"] for entry in shown] == listed
    assert [*dict.fromkeys(entry["stage"] for entry in shown)] == [*STAGES]


@pytest.mark.requirement(225, 227)
def test_every_phase_is_completed_but_the_analysis_of_failures_that_there_were_none_of(full: Done) -> None:
    stages = full.staged.state["stages"]
    words = {name: one["status"] for stage in stages.values() for name, one in stage["phases"].items()}
    assert words == {entry.phase: "skipped" if entry.phase == "3.2" else "completed" for entry in SCHEDULE}
    assert {stage["status"] for stage in stages.values()} == {"completed"}


@pytest.mark.requirement(224, 225)
@pytest.mark.parametrize(
    ("step", "phase"),
    [
        ("brainstorm", "1.1"),
        ("review_plan", "1.3"),
        ("fix_plan", "1.3"),
        ("simplify", "2.2"),
        ("review_implementation", "2.3"),
        ("review_tests", "3.3"),
        ("document", "4.1"),
        ("review_all", "4.2"),
    ],
)
def test_the_state_says_where_the_run_stands_and_what_is_behind_it(full: Done, step: str, phase: str) -> None:
    seen = full.saw(step)
    here = next(entry for entry in SCHEDULE if entry.phase == phase)
    assert (seen["status"], seen["currentPhase"], seen["currentStage"]) == ("in_progress", phase, here.stage)
    words = {name: one["status"] for stage in seen["stages"].values() for name, one in stage["phases"].items()}
    for entry in SCHEDULE:
        at = SCHEDULE.index(entry) - SCHEDULE.index(here)
        wanted = (
            "in_progress" if not at else "pending" if at > 0 else "skipped" if entry.phase == "3.2" else "completed"
        )
        assert words[entry.phase] == wanted, entry.phase
    before = STAGES[: STAGES.index(here.stage)]
    assert {seen["stages"][stage]["status"] for stage in before} == {"completed"}
    assert {seen["stages"][stage]["status"] for stage in STAGES[len(before) + 1 :]} <= {"pending"}


@pytest.mark.requirement(228)
def test_explorers_are_at_work_at_the_same_time_and_their_findings_are_one_file(full: Done) -> None:
    assert sorted(full.steps()[:2]) == ["query-1/explore", "query-2/explore"]  # each waited for the other
    text = full.staged.phase("0-explore.md")
    first, second = text.index("## Query 1"), text.index("## Query 2")
    assert first < text.index("The code is in tally/words.py.") < second < text.index("The tests are in tests/.")
    assert "2 of 2 queries were answered." in text.partition("## Summary")[2]
    assert full.staged.state["stages"]["EXPLORE"]["agentCount"] == 2


@pytest.mark.requirement(230)
def test_the_brainstorm_is_made_from_the_findings_and_kept_without_the_talk_around_it(full: Done) -> None:
    assert "The code is in tally/words.py." in full.prompt("brainstorm")
    assert full.staged.phase("1.1-brainstorm.md").startswith("# Approach\n")


@pytest.mark.requirement(231)
def test_planners_are_at_work_at_the_same_time_and_their_plans_become_one(full: Done) -> None:
    assert sorted(step for step in full.steps() if step.endswith("/plan")) == ["docs/plan", "logic/plan"]
    assert full.spy.of("plan", "docs")[0]["prompt"].count("One function for each part, and a page about them.") == 1
    reviewed = full.prompt("review_plan")  # what the planners left, before the fixer had it
    assert [
        reviewed.index(f"### Task {number}: {name}") for number, name in ((1, "Part 1"), (2, "Part 2"), (3, "A page"))
    ]
    assert "**Dependencies:** Task 1, Task 2" in reviewed


@pytest.mark.requirement(232, 239, 243, 245, 252)
@pytest.mark.parametrize("step", REVIEWS)
def test_a_review_is_written_to_its_file_and_an_approval_leads_on(full: Done, step: str) -> None:
    data = full.staged.data(REVIEWS[step][2])
    assert (data["status"], data["issues"], data["summary"]) == ("approved", [], "It is approved.")
    after = full.steps()[len(full.steps()) - full.steps()[::-1].index(step) :]
    assert FIXES[step] not in after


@pytest.mark.requirement(245)
def test_a_final_review_has_the_fields_of_its_own(full: Done) -> None:
    data = full.staged.data("4.2-final-review.json")
    assert (data["overallQuality"], data["readyForCommit"]) == ("high", True)
    assert data["metrics"]["testsPassed"] is True
    assert full.staged.phase("4.1-documentation.md").startswith("# Documentation")
    assert branch(full.staged, "README.md") == "# tally\n\nParts."


@pytest.mark.requirement(233, 253)
@pytest.mark.parametrize("step", REVIEWS)
def test_what_a_review_finds_goes_to_the_fixer_from_the_threshold_up_and_is_reviewed_again(
    full: Done, step: str
) -> None:
    assert [one["issue"] for one in full.sent(FIXES[step])["issues"]] == ["It is wrong."]
    assert "A blank too many." not in json.dumps(full.sent(FIXES[step]))
    steps = full.steps()
    assert [name for name in steps if name in (step, FIXES[step])] == [step, FIXES[step], step]


@pytest.mark.requirement(306)
@pytest.mark.parametrize("step", REVIEWS)
def test_a_review_is_dispatched_with_its_kind_its_criteria_and_the_files_under_review(full: Done, step: str) -> None:
    kind, criteria, _ = REVIEWS[step]
    prompt = full.prompt(step)
    assert prompt.startswith(f"# Review: {kind}\n")
    assert f"## Criteria ({criteria})\n" in prompt
    files = full.sent(step)["files"]
    assert files == [".agents/tmp/phases/1.2-plan.md"] if kind == "plan" else {"tally/part1.py"} <= {*files}
    effort = "extra high" if kind == "final" else "high"
    assert {job["effort"] for job in full.spy.of(step)} == {effort}


@pytest.mark.requirement(239)
def test_the_review_of_the_implementation_is_about_all_modified_files(full: Done) -> None:
    changed = git(full.staged.root, "diff", "--name-only", "HEAD...agentd/tmp").split()
    assert [*full.sent("review_implementation")["files"], "README.md"] == sorted(
        changed, key=lambda name: name == "README.md"
    )


@pytest.mark.requirement(245, 306, 307)
def test_reviews_and_fixes_are_codex_at_high_and_the_final_review_at_the_highest_by_default(
    full: Done, tmp_path: Path
) -> None:
    config = read_config(tmp_path, LAYOUTS, {})
    assert {config.agent_of(role) for role in ("reviewer", "bug_fixer", "final_reviewer")} == {"codex"}
    efforts = {model.complexity: model.effort for model in plugins.find("codex").models}
    assert (efforts["high"], efforts["critical"]) == ("high", "extra high")
    for step in FIXES.values():
        assert {job["effort"] for job in full.spy.of(step)} == {"high"}


@pytest.mark.requirement(250)
def test_every_file_of_a_phase_is_recorded_with_its_path(full: Done) -> None:
    recorded = full.staged.state["files"]
    assert sorted(recorded) == full.staged.phases()
    assert {*recorded} >= {
        "0-explore.md",
        "1.1-brainstorm.md",
        "1.2-plan.md",
        "1.3-plan-review.json",
        "2.1-tasks.json",
        "2.2-simplify.md",
        "2.3-impl-review.json",
        "3.1-test-results.json",
        "3.3-test-review.json",
        "4.1-documentation.md",
        "4.2-final-review.json",
    }
    for name, path in recorded.items():
        assert (full.staged.root / path).read_text() == full.staged.phase(name)


@pytest.mark.requirement(247)
def test_completion_leaves_a_branch_and_a_pull_request(full: Done) -> None:
    assert sorted(full.staged.landed()[:2]) == ["task-1: Part 1", "task-2: Part 2"]
    assert [subject.partition(":")[0] for subject in full.staged.landed()[2:]] == ["task-3", "implement", "final"]
    there = full.staged.root.parent / "there.git"
    assert git(there, "rev-parse", "agentd/tmp") == git(full.staged.root, "rev-parse", "agentd/tmp")
    words = (full.staged.root.parent / "words").read_text().split("\n")
    assert words[:4] == ["pr", "create", "--head", "agentd/tmp"]
    assert "https://example.org/pull/1" in full.ran.out
    state = full.staged.state
    assert (state["status"], state["currentPhase"], state["currentStage"]) == ("completed", "4.3", "FINAL")
    assert (state["failure"], state["stoppedAt"]) == (None, None)


def test_the_persons_checkout_is_as_it_was(full: Done) -> None:
    assert full.after == full.before
