"""RELEASE and DONE: who finishes a session, and why one is not done."""

import json

import pytest

from tests.landing.repositories import git
from tests.team.examples import Done
from tests.team.sessions import NAME, REPORT, Session, coded, say

FULL = {"approve_design": "approved", "choose_strategy": "per-batch"}
CORE = {"SpecAgent", "Architect", "Planner", "Coder", "Reviewer", "QA", "Security", "Integrator", "Docs"}


@pytest.mark.requirement(205)
def test_docs_write_before_the_integrator_releases(full: Done) -> None:
    assert full.steps()[-2:] == ["document", "release"]
    released = full.sent("release")
    assert f".agents-work/{NAME}/report.md" in released["artifact_list"]
    readme = git(full.session.root, "show", f"agentd/{NAME}:README.md")
    assert "Parts." in readme


@pytest.mark.requirement(205, 216)
@pytest.mark.parametrize("part", ["What was done", "How to run", "How to test", "Known issues"])
def test_a_report_without_one_of_its_parts_is_written_again(session: Session, part: str) -> None:
    short = REPORT.replace(f"## {part}\n", "")
    session.script(
        document=[{"documents": {"report.md": short}, "say": say()}] * 3 + [session.sandbox.entry("document")]
    )
    ran = session.start(answers=FULL)
    assert ran.code == 4
    assert part.lower() in ran.out
    assert session.status["current_state"] == "BLOCKED"
    assert "release" not in session.calls()
    session.script(document={"documents": {"report.md": REPORT}, "say": say()})
    assert session.decide("retry").code == 0
    assert session.status["current_state"] == "DONE"


@pytest.mark.requirement(216)
def test_a_part_of_the_report_that_says_nothing_is_missing(session: Session) -> None:
    session.script(document={"documents": {"report.md": REPORT.replace("Import it.\n", "")}, "say": say()})
    ran = session.start(answers=FULL)
    assert ran.code == 4
    assert "how to run" in ran.out


@pytest.mark.requirement(206)
def test_a_session_that_is_done_says_so_and_its_report_has_the_evidence(full: Done) -> None:
    assert full.session.status["current_state"] == "DONE"
    report = (full.session.folder / "report.md").read_text()
    tip = git(full.session.root, "rev-parse", f"agentd/{NAME}")
    assert report.startswith(REPORT.rstrip())
    assert f"Branch `agentd/{NAME}` at `{tip[:12]}`." in report
    for line in (
        "AC-001 test: test_part_1: test: test_part_1 (green)",
        "AC-002 cmd: test -f tally/part2.py: cmd: test -f tally/part2.py (green)",
        "AC-003 manual: the text is clear: manual: the text is clear (confirmed by a person)",
        "UD-REVIEW-STRATEGY",
    ):
        assert line in report


@pytest.mark.requirement(206, 216)
def test_what_the_release_changed_is_checked_before_it_is_done(full: Done) -> None:
    kept = json.loads((full.session.folder / "checks.json").read_text())
    assert kept["commit"] == git(full.session.root, "rev-parse", f"agentd/{NAME}")
    assert git(full.session.root, "log", "-1", "--format=%s", f"agentd/{NAME}").startswith("release:")


@pytest.mark.requirement(205, 216)
def test_a_release_that_breaks_a_criterion_does_not_end_the_session(session: Session) -> None:
    intake = session.sandbox.entry("intake")
    checks = {"acceptance_criteria": [{"id": "AC-001", "description": "x", "verify": ["cmd: test ! -e BROKEN"]}]}
    session.script(
        intake={**intake, "documents": {**intake["documents"], "acceptance.json": json.dumps(checks)}},
        release=[{"files": {"BROKEN": "1\n"}, "say": say()}, {"delete": ["BROKEN"], "say": say()}],
    )
    ran = session.start(answers=FULL)
    assert ran.code == 0, ran.out
    assert "prove_release: red" in ran.out
    assert session.calls().count("release") == 2
    assert "BROKEN" not in git(session.root, "ls-tree", "-r", "--name-only", f"agentd/{NAME}")


@pytest.mark.requirement(213)
def test_a_full_session_dispatches_all_nine_roles(full: Done, late: Done) -> None:
    for done in (full, late):
        assert {*done.session.status["dispatched"]} >= CORE


@pytest.mark.requirement(213, 214)
def test_security_looks_at_the_whole_once_if_no_task_needed_it(session: Session) -> None:
    assert session.start(answers=FULL).code == 0
    calls = session.calls()
    assert "T-001/audit" not in calls
    assert calls[calls.index("review_all") :][:3] == ["review_all", "audit_all", "integrate"]
    assert session.status["dispatched"]["Security"] == 1


@pytest.mark.requirement(213)
def test_qa_looks_at_the_whole_once_if_no_task_needed_it(session: Session) -> None:
    from tests.team.sessions import plan, task

    one = task(type="chore", acceptance_checks=["manual: it is tidy"])
    session.script(plan={"documents": {"tasks.yaml": plan(one)}, "say": say()})
    assert session.start(answers={**FULL, "confirm_checks": "confirmed"}).code == 0
    calls = session.calls()
    assert "T-001/test" not in calls
    assert calls[calls.index("review_all") :][:3] == ["review_all", "test_all", "audit_all"]


@pytest.mark.requirement(215)
def test_a_lean_session_needs_few_roles_and_agentd_writes_its_report(lean: Done) -> None:
    assert {*lean.session.status["dispatched"]} == {"SpecAgent", "Coder", "Reviewer", "QA"}
    report = (lean.session.folder / "report.md").read_text()
    for heading in ("## What was done", "## How to run", "## How to test", "## Known issues"):
        assert heading in report
    assert not (lean.session.folder / "architecture.md").exists()


@pytest.mark.requirement(216)
def test_a_report_that_the_person_cut_short_is_not_done(session: Session) -> None:
    session.script(release={"fail": "quota", "say": "limit reached"})
    assert session.start(answers=FULL).code == 4
    path = session.folder / "report.md"
    path.write_text(path.read_text().replace("## Known issues", "## Other"))
    session.script(release={"say": say()})
    ran = session.resume()
    assert ran.code != 0
    assert "known issues" in ran.out + ran.err
    assert session.status["current_state"] != "DONE"


@pytest.mark.requirement(216)
def test_a_session_with_an_open_decision_is_not_done(session: Session) -> None:
    session.script(release={"fail": "quota", "say": "limit reached"})
    assert session.start(answers=FULL).code == 4
    status = session.status
    made = {**status["user_decisions"][0], "decision_id": "UD-77", "status": "pending", "answer": None}
    status["user_decisions"].append({**made, "resolved_at": None, "resolution_reason": None})
    (session.folder / "status.json").write_text(json.dumps(status))
    session.script(release={"say": say()})
    ran = session.resume()
    assert session.status["current_state"] != "DONE"
    assert "UD-77" in ran.out + ran.err


@pytest.mark.requirement(216)
def test_a_state_set_to_done_by_hand_is_not_believed(session: Session) -> None:
    session.script(code={"say": say("BLOCKED", "Not yet.")})
    assert session.start("--lean").code == 4
    path = session.folder / "status.json"
    data = session.status
    data["current_state"] = "DONE"
    data.pop("run", None)
    path.write_text(json.dumps(data))
    session.script(code=coded())
    ran = session.resume()
    assert "finished: done" not in ran.out, ran.out
    assert not (session.folder / "report.md").exists()
