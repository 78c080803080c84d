"""Summaries of stages for the stages after them."""

import json

from hypothesis import given
from hypothesis import strategies as st

from agentd.families.staged.stage_summary import MOST, summary

PLAN = "### Task 1: Grammar\n**Files:** `a.py`\n\nDo it.\n\n### Task 2: Use it\n**Files:** `b.py`, `c.py`\n\nDo it.\n"
REVIEW = {
    "status": "needs_revision",
    "issues": [
        {"severity": "LOW", "location": "a.py:1", "issue": "A typo."},
        {"severity": "HIGH", "location": "b.py:2", "issue": "It\nfails."},
    ],
    "summary": "Almost.",
}
TASKS = {
    "waves": [{"waveNumber": 1, "tasks": [{"id": "task-1", "status": "completed", "summary": "Done."}, {"id": "task-2", "status": "failed", "summary": "No time."}]}],
    "completedTasks": ["task-1"],
    "failedTasks": ["task-2"],
}  # fmt: skip


def test_a_plan_and_its_review_are_told_in_a_few_lines() -> None:
    files = {
        "1.3-plan-review.json": json.dumps(REVIEW),
        "1.2-plan.md": PLAN,
        "1.1-brainstorm.md": "# Ideas\n\nUse a parser. It is fast.\n",
    }
    assert summary("PLAN", files) == """\
# Summary of PLAN

## 1.1-brainstorm.md
- Ideas: Use a parser.

## 1.2-plan.md
- 2 tasks
- Task 1: Grammar (not rated, 1 files)
- Task 2: Use it (not rated, 2 files, after 1)

## 1.3-plan-review.json
- status: needs_revision
- summary: Almost.
- 2 issues (1 HIGH, 1 LOW)
- HIGH b.py:2: It fails.
- LOW a.py:1: A typo.
"""  # fmt: skip


def test_the_tasks_that_failed_are_named() -> None:
    text = summary("IMPLEMENT", {"2.1-tasks.json": json.dumps(TASKS)})
    assert "- failedTasks: 1 (task-2)\n- task-2 failed: No time.\n" in text


def test_what_cannot_be_read_is_said() -> None:
    text = summary("PLAN", {"1.2-plan.md": "# Nothing", "1.3-plan-review.json": "{"})
    assert "- Not a valid plan: it has no task" in text
    assert "- It is not JSON.\n" in text
    assert "It has no files." in summary("PLAN", {})


def test_a_long_file_leaves_room_for_the_others() -> None:
    text = summary("PLAN", {"0-explore.md": "# A heading\n\nSome words here.\n\n" * 500, "1.2-plan.md": PLAN})
    assert "- 492 more headings\n" in text
    assert "Task 2: Use it" in text
    assert len(text) <= MOST


documents = st.text() | st.lists(st.sampled_from(["# A\n", "x. " * 100, "```\n", "### Task 1: A\n", "\n\n"])).map(
    "".join
)
values = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["issues", "waves", "tasks", "status", "summary"]), inner))  # fmt: skip


@given(st.text(), st.dictionaries(st.text(max_size=80) | st.sampled_from(["1.2-plan.md", "a.json", "b.json"]), documents | values.map(json.dumps)))  # fmt: skip
def test_a_summary_is_short_whatever_the_files_are(stage: str, files: dict[str, str]) -> None:
    assert len(summary(stage, files)) <= MOST


def test_a_summary_of_very_many_files_is_cut() -> None:
    text = summary("PLAN", {f"{number}-{'x' * 50}.md": "# A\n\nB.\n" for number in range(100)})
    assert len(text) <= MOST
    assert text.endswith("…\n")
