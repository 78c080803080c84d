"""REVIEW_STRATEGY: what is shown and recommended, the two words that count, and that the file is asked before each review."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.app import open_project
from agentd.families.team import verdicts
from agentd.families.team.gates import recommended
from agentd.families.team.session_documents import Task
from agentd.model.decision import Answer, Decision
from agentd.runs import commands, ports
from agentd.runs.work import Work, work_on
from tests.team.sessions import NAME, Session, other_task, plan, task
from tests.team.waiting import copied

STRATEGY = "UD-REVIEW-STRATEGY"


@pytest.fixture
def gate(at_strategy: Path, tmp_path: Path) -> Session:
    """A session that waits for the choice of a review strategy."""
    return copied(at_strategy, tmp_path)


def steps(session: Session, number: int) -> str:
    """Go on for so many steps; gives the step that comes next."""
    commands.resume(open_project(session.root), f"team/{NAME}", steps=number)
    return str(session.status["run"]["step"])


def edit_answer(session: Session, answer: str) -> None:
    path = session.folder / "status.json"
    data = json.loads(path.read_text())
    for one in data["user_decisions"]:
        if one["decision_id"] == STRATEGY:
            one["answer"] = answer
    path.write_text(json.dumps(data, indent=2))


@pytest.mark.requirement(155, 300, 304)
def test_the_plan_is_followed_by_the_question_which_is_a_state_of_its_own(gate: Session) -> None:
    assert gate.calls()[-1] == "plan"
    assert gate.status["current_state"] == "REVIEW_STRATEGY"
    assert gate.decision(STRATEGY)["status"] == "pending"


@pytest.mark.requirement(300)
def test_the_decision_is_on_the_disk_as_pending_before_anybody_is_asked(gate: Session) -> None:
    (gate.folder / "status.json").write_text(
        json.dumps({**gate.status, "user_decisions": gate.status["user_decisions"][:1]})
    )
    seen: list[tuple[str, str, str]] = []

    def ask(decision: Decision) -> Answer | None:
        seen.append((decision.id, gate.decision(STRATEGY)["status"], gate.status["current_state"]))
        return None

    commands.resume(open_project(gate.root, ask), f"team/{NAME}")
    assert seen == [(STRATEGY, "pending", "REVIEW_STRATEGY")]


@pytest.mark.requirement(179)
def test_the_question_shows_the_tasks_both_strategies_and_a_recommendation(gate: Session) -> None:
    listed = [task(), other_task("T-002", 2, depends_on=["T-001"], risk_flags=["security"])]
    (gate.folder / "tasks.yaml").write_text(plan(*listed))
    edit = {**gate.status, "user_decisions": gate.status["user_decisions"][:1]}
    (gate.folder / "status.json").write_text(json.dumps(edit))
    gate.resume()
    found = gate.decision(STRATEGY)
    for shown in ("2 tasks are planned", "T-001 Do T-001 (feat; 2 files)", "T-002 Do T-002 (feat; 2 files; after T-001; security)"):  # fmt: skip
        assert shown in found["question"], shown
    assert "recommended: per-batch (security or breaking changes in T-002)" in found["question"]
    labels = {option["value"]: option["label"] for option in found["options"]}
    assert list(labels) == ["per-batch", "single-final", "deferred"]
    assert all(word in labels["per-batch"] for word in ("thorough", "slower", "earlier"))
    assert all(word in labels["single-final"] for word in ("faster", "late", "rework"))


def made(number: int, **values: Any) -> Task:
    return Task(f"T-{number:03}", "a title", "not-started", "feat", "a goal", **values)


@pytest.mark.requirement(180)
@pytest.mark.parametrize(
    ("tasks", "word"),
    [
        ([made(1)], "single-final"),
        ([made(number) for number in range(4)], "single-final"),
        ([made(number) for number in range(5)], "per-batch"),
        ([made(1), made(2, depends_on=("T-001",))], "single-final"),
        ([made(1), made(2), made(3, depends_on=("T-001", "T-002"))], "per-batch"),
        ([made(1), made(2, depends_on=("T-001",)), made(3, depends_on=("T-001",))], "per-batch"),
        ([made(1, risk_flags=("security",))], "per-batch"),
        ([made(1, risk_flags=("breaking-change",))], "per-batch"),
        ([made(1, risk_flags=("perf",)), made(2, risk_flags=("none",))], "single-final"),
        ([made(1, files_expected=tuple("abcdef"))], "per-batch"),
    ],
)
def test_one_review_at_the_end_is_recommended_only_for_few_simple_tasks_without_risk(
    tasks: list[Task], word: str
) -> None:
    assert recommended(tasks)[0] == word


FLAGS = st.lists(st.sampled_from(["security", "perf", "breaking-change", "none"]), max_size=2).map(tuple)
NAMES = st.lists(st.integers(1, 6).map(lambda number: f"T-{number:03}"), max_size=2, unique=True).map(tuple)


@pytest.mark.requirement(180)
@given(st.lists(st.tuples(FLAGS, NAMES), min_size=1, max_size=6))
def test_what_speaks_for_reviewing_each_task_speaks_for_it_in_any_plan(parts: list[Any]) -> None:
    tasks = [made(n, risk_flags=flags, depends_on=names) for n, (flags, names) in enumerate(parts, 1)]
    word, why = recommended(tasks)
    risky = any({"security", "breaking-change"} & {*one.risk_flags} for one in tasks)
    if len(tasks) >= 5 or risky or any(len(one.depends_on) > 1 for one in tasks):
        assert word == "per-batch"
    assert why


@pytest.mark.requirement(181, 300)
@pytest.mark.parametrize(("words", "kept", "step"), [("Per Batch", "per-batch", "implement_each"), ("single_final review", "single-final", "implement_all")])  # fmt: skip
def test_only_the_canonical_word_is_kept(gate: Session, words: str, kept: str, step: str) -> None:
    gate.answer(STRATEGY, words)
    assert steps(gate, 2) == step
    found = gate.decision(STRATEGY)
    assert (found["status"], found["answer"]) == ("answered", kept)


@pytest.mark.requirement(181, 182)
def test_any_other_answer_is_asked_again_three_times_and_then_the_session_is_blocked(gate: Session) -> None:
    ran = gate.resume(answers={"choose_strategy": ["both", "per-task", "yes", "whatever", "per-batch"]})
    assert ran.out.count("is no answer that can be used") == 3
    found = gate.decision(STRATEGY)
    assert (found["status"], found["answer"]) == ("cancelled", None)
    assert gate.status["current_state"] == "BLOCKED"
    assert gate.status["blocker"]["reason"] == "mandatory_user_decision_missing"
    assert "code" not in "".join(gate.calls())


@pytest.mark.requirement(182)
def test_a_choice_that_is_put_off_blocks_the_session_and_can_be_made_later(gate: Session) -> None:
    gate.decide("cancel")
    assert gate.decision(STRATEGY)["status"] == "cancelled"
    assert gate.decision(STRATEGY)["resolution_reason"].startswith("put off by ")
    assert gate.status["current_state"] == "BLOCKED"
    gate.decide("retry")
    assert gate.status["current_state"] == "REVIEW_STRATEGY"
    assert gate.decision(STRATEGY)["status"] == "pending"


@pytest.mark.requirement(198)
def test_a_session_that_waits_at_the_gate_resumes_at_the_gate(gate: Session) -> None:
    before = gate.calls()
    assert gate.resume().code == 4
    assert (gate.calls(), gate.status["current_state"]) == (before, "REVIEW_STRATEGY")


@pytest.mark.requirement(300)
def test_no_task_is_begun_by_an_answer_that_the_file_does_not_have(gate: Session) -> None:
    gate.answer(STRATEGY, "per-batch")
    assert steps(gate, 2) == "implement_each"
    edit_answer(gate, "sometimes")
    ran = gate.resume()
    assert ran.code == 1
    assert f"{STRATEGY} is not answered with per-batch" in ran.err
    assert gate.calls()[-1] == "plan"


@pytest.mark.requirement(183)
def test_each_dispatch_of_a_reviewer_asks_the_file_for_the_strategy(gate: Session) -> None:
    gate.answer(STRATEGY, "per-batch")
    assert steps(gate, 2) == "implement_each"
    project = open_project(gate.root)
    work = work_on(project, project.find(NAME))
    store = ports.child_store(work, "implement_each", "T-001")
    child = Work(project, work.layout, project.workflow("team-task"), store, work.state, work)

    def closed() -> set[str]:
        """The steps of Reviewer, QA and Security that may not be dispatched now."""
        return {
            step.name
            for at in (work, child)
            for step in at.workflow.steps.values()
            if step.what in ("reviewer", "qa", "security") and any(ports.facts(at, step.needs).values())
        }

    assert closed() == set()
    edit_answer(gate, "single-final")
    assert closed() == {"review", "test", "audit"}
    edit_answer(gate, "sometimes")
    assert closed() == {"review", "test", "audit", "review_all", "test_all", "audit_all"}
    assert verdicts.STRATEGY in {one.id for one in work.state.decisions if one.answer == "per-batch"}


@pytest.mark.requirement(178)
@pytest.mark.parametrize("field", ["depends_on", "acceptance_checks", "done_when"])
def test_a_plan_whose_tasks_lack_a_field_does_not_count(gate: Session, field: str) -> None:
    lacking = {key: value for key, value in task().items() if key != field}
    (gate.folder / "tasks.yaml").write_text(plan(lacking))
    ran = gate.resume()
    assert ran.code == 1
    assert field in ran.err
    assert gate.calls()[-1] == "plan"
