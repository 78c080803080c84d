"""The implementation of a session: which role looks at a task when, what a task waits for, who calls it completed."""

import json

import pytest

from tests.team.examples import GONE, NEW, OLD, Done
from tests.team.sessions import Session, coded, other_code, other_task, plan, say, task

APPROVED = {"approve_design": "approved", "choose_strategy": "per-batch"}


def planned(session: Session, *tasks: dict[str, object]) -> None:
    session.script(plan={"documents": {"tasks.yaml": plan(*tasks)}, "say": say()})


def order(done: Done, item: str) -> list[str]:
    return [step.partition("/")[2] for step in done.steps() if step.startswith(f"{item}/")]


@pytest.mark.requirement(184)
def test_each_task_is_coded_reviewed_tested_and_audited_by_the_roles_that_it_needs(full: Done) -> None:
    assert order(full, "T-001") == ["code", "review", "test"]
    assert order(full, "T-002") == ["code", "review", "test", "audit"]  # its risk flag is security
    assert order(full, "T-003") == ["code", "review"]  # documents, which a person checks
    assert order(full, "T-004") == ["code", "review", "test", "audit"]  # it takes a password


@pytest.mark.requirement(184)
def test_a_concern_of_the_coder_brings_security_to_a_task_without_a_flag(session: Session) -> None:
    session.script(code=coded(say=say(gates={"security_concerns": ["the text is not checked"]})))
    assert session.start("--lean").code == 0
    assert session.calls()[1:] == ["T-001/code", "T-001/review", "T-001/test", "T-001/audit"]


@pytest.mark.requirement(185)
def test_a_task_begins_when_those_it_depends_on_have_landed(full: Done) -> None:
    events = [(each["item"], each["event"], each.get("step")) for each in journal(full.session)]
    for item, others in {"T-003": ["T-001"], "T-004": ["T-002", "T-003"]}.items():
        begun = events.index((item, "begin", "open"))
        assert all(events.index((other, "end", "land")) < begun for other in others)


def journal(session: Session) -> list[dict[str, str]]:
    """What the diaries of the tasks say, in the order of the clock."""
    found = []
    for path in (session.folder / "children").rglob("journal.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        found += [{"item": path.parent.name, **line} for line in lines]
    return sorted(found, key=lambda line: line["at"])


@pytest.mark.requirement(185)
def test_a_task_is_not_begun_while_what_it_depends_on_is_not_done(session: Session) -> None:
    planned(session, other_task("T-001", 1), other_task("T-002", 2, depends_on=["T-001"]))
    session.script(**{"code@T-001": {"say": say("BLOCKED", "The data is missing.")}, "code@T-002": other_code(2)})
    assert session.start(answers=APPROVED).code == 4
    assert session.tasks() == {"T-001": "blocked", "T-002": "not-started"}
    session.script(**{"code@T-001": other_code(1)})
    (asked,) = session.pending()
    assert "The data is missing." in asked["question"]
    session.answer(asked["decision_id"], "give_up")
    assert session.resume().code == 4
    assert session.tasks() == {"T-001": "blocked", "T-002": "not-started"}
    assert "T-002/code" not in session.calls()


@pytest.mark.requirement(185, 189)
def test_tasks_that_are_reviewed_together_are_done_one_after_another_and_wait_only_for_being_implemented(
    late: Done,
) -> None:
    steps = late.steps()
    assert [step for step in steps if step.endswith("/code")] == ["T-001/code", "T-004/code", "T-005/code"]
    at_work = [each for each in journal(late.session) if each.get("step") in ("open", "land")]
    assert [(each["item"], each["event"], each["step"]) for each in at_work] == [
        (item, event, step)
        for item in ("T-001", "T-004", "T-005")
        for step in ("open", "land")
        for event in ("begin", "end")
    ]
    assert seen(late, "code", "T-005") == {"T-001": "implemented", "T-004": "implemented", "T-005": "in-progress"}


def seen(done: Done, step: str, item: str = "") -> dict[str, str]:
    """The status of the tasks as tasks.yaml had it when an agent worked at this step."""
    lines = (done.session.root.parent / "told.jsonl").read_text().splitlines()
    (words, *_) = [one["seen"] for line in lines if (one := json.loads(line))["step"] == step and one["item"] == item]
    return dict(zip(words[::2], words[1::2], strict=True))


@pytest.mark.requirement(189)
def test_no_role_reviews_before_all_tasks_are_implemented(late: Done) -> None:
    steps = late.steps()
    first = steps.index("review_all")
    assert {*steps[:first]} == {"intake", "design", "plan", "T-001/code", "T-004/code", "T-005/code"}
    assert {*seen(late, "review_all").values()} == {"implemented"}


@pytest.mark.requirement(190, 193, 301)
def test_the_combined_review_is_about_all_tasks_and_every_file_that_the_session_changed(late: Done) -> None:
    for step in ("review_all", "test_all", "audit_all"):
        task_ = late.sent(step)["task"]
        assert (task_["id"], task_["goal"]) == ("meta", "Single-final review of all session changes")
    sent = late.sent("review_all")["task"]["session_changed_files"]
    assert {one["path"]: one["change_type"] for one in sent} == {
        **dict.fromkeys(("tally/part1.py", "tally/part4.py", "tally/part5.py", "tally/ask.py"), "added"),
        **dict.fromkeys(("tests/test_part1.py", "tests/test_part4.py", "tests/test_part5.py"), "added"),
        "tally/fixed.py": "added",
        GONE: "deleted",
        NEW: "renamed",
    }
    assert [one["old_path"] for one in sent if "old_path" in one] == [OLD]


@pytest.mark.requirement(191)
def test_a_combined_review_that_blocks_is_repaired_by_the_coder_and_made_again(late: Done) -> None:
    steps = late.steps()
    assert steps[steps.index("review_all") :][:5] == ["review_all", "fix_review", "review_all", "test_all", "audit_all"]
    (finding,) = late.sent("fix_review")["task"]["findings"]
    assert (finding["from"], finding["summary"]) == ("Reviewer", "PART is no good name.")
    assert late.session.status["retry_counts"]["meta"]["FIX_REVIEW"] == 1


@pytest.mark.requirement(192)
def test_the_tasks_are_completed_by_the_combined_review_and_no_second_one_follows(late: Done) -> None:
    steps = late.steps()
    assert steps[steps.index("audit_all") + 1] == "integrate"
    assert {*seen(late, "integrate").values()} == {"completed"}
    assert steps.count("review_all") == 2  # the one that blocked, and the one that passed


@pytest.mark.requirement(193)
def test_a_review_sees_what_other_tasks_changed_also_in_a_workspace_that_does_not_have_it(full: Done) -> None:
    sent = {one["path"] for one in full.sent("review", "T-003")["task"]["session_changed_files"]}
    assert {"docs/parts.md", "tally/part1.py"} <= sent
    last = full.sent("review", "T-004")["task"]
    assert {"tally/part1.py", "tally/part2.py", "docs/parts.md", "tally/ask.py"} <= {
        one["path"] for one in last["session_changed_files"]
    }
    assert "tally/part1.py" not in " ".join(last["context_files"])


@pytest.mark.requirement(194, 301, 303)
def test_after_single_reviews_one_review_is_about_all_tasks_together(full: Done) -> None:
    steps = full.steps()
    assert steps.index("review_all") == steps.index("integrate") - 1
    assert steps.count("review_all") == 1
    sent = full.sent("review_all")["task"]
    assert (sent["id"], sent["goal"]) == ("meta", "Cross-task final review of all session changes")
    prompt = " ".join(full.prompt("review_all").split())
    for words in (
        "read every file that was not deleted in full",
        "interfaces between tasks",
        "duplicated logic",
        "conflicting assumptions",
        "regressions",
        "does anything still refer to it?",
    ):
        assert words in prompt


@pytest.mark.requirement(197)
def test_a_deleted_file_is_reviewed_by_its_diff(full: Done) -> None:
    sent = full.sent("review_all")["task"]
    assert {"path": GONE, "change_type": "deleted"} in sent["session_changed_files"]
    assert "deleted file mode 100644\nindex" in sent["diff"]
    assert "\n-HERE = 1\n" in sent["diff"]
    assert "Of a deleted file read the diff" in full.prompt("review_all")


@pytest.mark.requirement(302)
def test_the_review_of_a_task_goes_deep_on_its_files_and_follows_others_along_dependencies(full: Done) -> None:
    sent = full.sent("review", "T-004")["task"]
    assert sent["id"] == "T-004"
    assert "tally/part4.py" in sent["files_expected"]
    assert "tally/part4.py" in sent["diff"]
    assert "tally/part1.py" not in sent["diff"]
    words = "With a task: read its files in depth, and of the others what its changes depend on and what calls them."
    assert words in full.prompt("review", "T-004")


@pytest.mark.requirement(196, 305)
def test_a_lean_session_reviews_its_task_and_has_no_final_review(lean: Done) -> None:
    assert lean.steps() == ["intake_lean", "T-001/code", "T-001/review", "T-001/test"]
    assert lean.session.tasks() == {"T-001": "completed"}
    assert lean.session.status.get("user_decisions", []) == []


@pytest.mark.requirement(195)
def test_a_final_review_that_blocks_is_repaired_with_its_findings_and_made_again(session: Session) -> None:
    comment = {"severity": "major", "file": "tally/top.py", "line": 4, "message": "Ties are in no order."}
    session.script(
        review_all=[{"say": say("BLOCKED", "Ties.", verdict="NEEDS FIXES", review_comments=[comment])}, {"say": say()}],
        fix_review={"append": {"tally/top.py": "# ties as they come\n"}, "say": say()},
    )
    assert session.start(answers=APPROVED).code == 0
    calls = session.calls()
    assert calls[calls.index("review_all") :][:3] == ["review_all", "fix_review", "review_all"]
    assert session.landed()[-1].startswith("implement loop:")


@pytest.mark.requirement(194)
def test_notes_of_the_final_review_are_for_the_person_and_then_it_passes(session: Session) -> None:
    notes = [{"severity": "nit", "file": "tally/top.py", "message": "A docstring would help."}]
    session.script(review_all={"say": say(verdict="PASS WITH NOTES", review_comments=notes)})
    assert session.start(answers=APPROVED).code == 4
    assert "A docstring would help." in session.pending()[0]["question"]
    assert session.decide("none").code == 0
    assert session.status["current_state"] == "DONE"


@pytest.mark.requirement(186)
def test_a_task_is_completed_when_each_role_that_it_needs_has_passed_it(session: Session) -> None:
    session.script(
        intake_lean={**session.sandbox.entry("intake_lean"), "documents": _risky(session)},
        audit=[{"say": say("BLOCKED", "No limit.", findings=[{"severity": "high", "description": "No limit."}])}],
        fix_security=coded(append={"tally/top.py": "# limit\n"}),
    )
    session.sandbox.set("sandbox", mode="off")
    assert session.start("--lean").code == 4
    assert session.calls().count("T-001/audit") == 4
    assert session.tasks() == {"T-001": "in-progress"}
    assert session.landed() == []
    session.script(audit={"say": say()})
    assert session.decide("different_approach").code == 0
    assert session.tasks() == {"T-001": "completed"}


def _risky(session: Session) -> dict[str, str]:
    documents: dict[str, str] = session.sandbox.entry("intake_lean")["documents"]
    return {**documents, "tasks.yaml": plan(task(risk_flags=["security"]))}


@pytest.mark.requirement(186, 187)
def test_a_coder_that_calls_its_task_completed_is_corrected_and_not_believed(session: Session) -> None:
    session.sandbox.set("sandbox", mode="off")
    path = session.folder / "tasks.yaml"
    session.script(
        code=coded(run=["sed", "-i", "s/status: .*/status: completed/", str(path)]),
        review={"say": say("BLOCKED", "Wrong."), "run": ["cp", str(path), str(session.root.parent / "seen.yaml")]},
        fix_review={"say": say("BLOCKED", "I cannot.")},
    )
    assert session.start("--lean").code == 4
    assert "status: implemented" in (session.root.parent / "seen.yaml").read_text()
    assert session.tasks() == {"T-001": "blocked"}
    assert session.landed() == []


@pytest.mark.requirement(187)
def test_a_task_that_a_person_calls_completed_by_hand_is_still_done(session: Session) -> None:
    planned(session, other_task("T-001", 1), other_task("T-002", 2))
    session.script(**{"code@T-001": {"say": say("BLOCKED", "Not yet.")}, "code@T-002": other_code(2)})
    assert session.start(answers=APPROVED).code == 4
    path = session.folder / "tasks.yaml"
    path.write_text(path.read_text().replace("status: blocked", "status: completed"))
    session.script(**{"code@T-001": other_code(1)})
    session.decide("retry")
    assert session.calls().count("T-001/code") == 2
    assert [line.partition(":")[0] for line in session.landed()] == ["T-002", "T-001"]


@pytest.mark.requirement(187)
def test_task_status_is_in_no_other_file_than_tasks_yaml(full: Done) -> None:
    text = json.dumps(full.session.status)
    assert full.session.tasks() == dict.fromkeys(("T-001", "T-002", "T-003", "T-004"), "completed")
    assert "implemented" not in text
    assert "not-started" not in text
    assert '"completed"' not in text


@pytest.mark.requirement(188)
@pytest.mark.parametrize(("answer", "again"), [("fix_now", True), ("fix_later", False), ("accept_risk", False)])
def test_a_medium_finding_waits_for_the_person_who_fixes_it_now_or_makes_it_a_known_issue(
    session: Session, answer: str, again: bool
) -> None:
    finding = {"severity": "medium", "file": "tally/top.py", "description": "A text can be very long."}
    session.script(
        intake_lean={**session.sandbox.entry("intake_lean"), "documents": _risky(session)},
        audit=[{"say": say("NEEDS_DECISION", "One risk.", findings=[finding])}, {"say": say()}],
        fix_security={"append": {"tally/top.py": "# at most 1 MB\n"}, "say": say()},
    )
    assert session.start("--lean").code == 4
    assert session.status["current_state"] == "ASK_USER"
    (asked,) = session.pending()
    assert "A text can be very long." in asked["question"]
    assert [option["value"] for option in asked["options"]] == ["fix_now", "fix_later", "accept_risk"]
    assert session.landed() == []
    assert session.decide(answer, "" if again else "Nobody sends one.").code == 0
    assert ("T-001/fix_security" in session.calls()) is again
    issues = session.status["known_issues"]
    assert (issues == []) is again
    report = (session.folder / "report.md").read_text()
    assert again or ("One risk." in issues[0] and "Nobody sends one." in issues[0] and issues[0] in report)
