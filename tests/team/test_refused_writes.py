"""A decision that the disk does not take: tried again without asking again, and where that does not help, nothing goes on."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentd.app import open_project
from agentd.errors import DiskTrouble
from agentd.families.team import gates
from agentd.model.decision import Answer, Decision
from agentd.runs import commands, ports
from agentd.runs.persistence import RETRIES, persistently
from agentd.runs.work import Work, work_on
from tests.team.sessions import NAME, Session
from tests.team.waiting import copied

APPROVE, STRATEGY = "UD-APPROVE-DESIGN", "UD-REVIEW-STRATEGY"


@contextmanager
def refused(session: Session) -> Iterator[Path]:
    """The diary cannot be written, and so no save is whole: a folder is in its place."""
    path = session.folder / "journal.jsonl"
    aside = path.with_suffix(".aside")
    path.rename(aside)
    path.mkdir()
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        if aside.exists():
            aside.rename(path)


def heard(session: Session, name: str, answer: str) -> Work:
    """The run in memory, after a person's answer and before it is taken up."""
    session.answer(name, answer)
    project = open_project(session.root)
    work = work_on(project, project.find(NAME), runnable=True)
    run = ports.Ports(work)
    step = work.workflow.steps[work.state.run.step]
    assert run.ask(work.state.run, step) is not None
    return work


@pytest.mark.requirement(175, 202)
@pytest.mark.parametrize(("waiting", "name", "answer"), [("at_design", APPROVE, "approved"), ("at_strategy", STRATEGY, "per-batch")])  # fmt: skip
def test_a_gate_whose_answer_the_disk_refuses_is_blocked_once_that_can_be_written(
    request: pytest.FixtureRequest, tmp_path: Path, waiting: str, name: str, answer: str
) -> None:
    session = copied(request.getfixturevalue(waiting), tmp_path)
    work = heard(session, name, answer)
    with refused(session):
        outcome = gates.hear_design(work) if name == APPROVE else gates.hear_strategy(work)
    assert outcome.word == "missing"
    assert "the answer could not be saved" in outcome.note
    assert session.decision(name)["status"] == "pending"
    step = "hear_design" if name == APPROVE else "hear_strategy"
    asked = work.workflow.steps[work.workflow.steps[step].next["missing"].to]
    assert asked.phase == "BLOCKED"
    work.keep("blocked")
    assert session.decision(name)["status"] == "cancelled"
    assert session.status["blocker"]["gate"] == name


@pytest.mark.requirement(175, 202)
def test_a_save_with_an_answer_is_tried_again_for_a_while(at_design: Path, tmp_path: Path) -> None:
    session = copied(at_design, tmp_path)
    work = heard(session, APPROVE, "approved")
    with refused(session), pytest.raises(DiskTrouble, match=r"journal\.jsonl was not written"):
        work.keep("end")
    assert session.decision(APPROVE)["status"] == "pending"
    with refused(session) as path:
        later = threading.Timer(0.1, path.rmdir)
        later.start()
        work.keep("end")
        later.join()
    assert session.decision(APPROVE)["status"] == "answered"


@pytest.mark.requirement(175)
@pytest.mark.parametrize("refusals", range(6))
def test_a_write_is_tried_three_times_more_and_then_given_up(refusals: int) -> None:
    tried = []

    def write() -> str:
        tried.append(1)
        if len(tried) <= refusals:
            raise DiskTrouble("the disk is full")
        return "written"

    if refusals > RETRIES:
        with pytest.raises(DiskTrouble, match="the disk is full"):
            persistently(write)
    else:
        assert persistently(write) == "written"
    assert len(tried) == min(refusals, RETRIES) + 1
    assert RETRIES == 3


@pytest.mark.requirement(202)
def test_an_answer_at_the_terminal_is_not_asked_for_again_because_its_file_was_refused_once(
    at_design: Path, tmp_path: Path
) -> None:
    session = copied(at_design, tmp_path)
    asked: list[str] = []

    def ask(decision: Decision) -> Answer:
        asked.append(decision.id)
        (session.folder / "answers").write_text("in the way")
        threading.Timer(0.1, (session.folder / "answers").unlink).start()
        return Answer(decision.id, "approved")

    commands.resume(open_project(session.root, ask), f"team/{NAME}", steps=2)
    assert asked == [APPROVE]
    assert session.decision(APPROVE)["answer"] == "approved"


@pytest.mark.requirement(202)
def test_nothing_goes_on_while_a_decision_cannot_be_saved_and_afterwards_nobody_is_asked_again(
    at_design: Path, tmp_path: Path
) -> None:
    session = copied(at_design, tmp_path)
    session.answer(APPROVE, "approved")
    before = session.calls()
    with refused(session):
        ran = session.resume()
        assert ran.code == 1
        assert "journal.jsonl was not written: a folder is in its place." in ran.err
        assert "Fix: " in ran.err
        assert session.calls() == before
        assert session.status["current_state"] == "APPROVE_DESIGN"
    session.resume()
    assert session.status["current_state"] == "REVIEW_STRATEGY"
    assert session.decision(APPROVE)["answer"] == "approved"
