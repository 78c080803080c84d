"""The challenge of a plan: what has to be there before it, the loop around it, what is kept of it, whose memory it has."""

import sys
from pathlib import Path
from typing import Any

import pytest

from agentd.families.change.documents import proposal
from agentd.review import challenge_page
from tests.plan.plans import plan_of, spied
from tests.sandbox import CHANGE, IDEA, NEVER, NO, YES, Sandbox, reviewed

AGAIN = [reviewed("needs_revision", title) for title in ("Ties", "Empty text", "Speed", "Names", "Units")]
SESSION = "import os, sys; print(os.environ['AGENTD_STEP'], os.environ['AGENTD_SESSION'], file=open(sys.argv[1], 'a'))"


def made(sandbox: Sandbox, step: str) -> int:
    """How often a step was called."""
    return sum(call.startswith(f"{step}-") for call in sandbox.calls())


@pytest.mark.requirement(10, 13, 14, 19, 21, 30, 283)
def test_the_loop_revises_and_challenges_again_until_it_is_approved(sandbox: Sandbox) -> None:
    done = sandbox.plan()
    assert done.code == 0, done.err
    order = [event["step"] for event in sandbox.events() if event["event"] == "begin"]
    assert [step for step in order if step in ("challenge", "revise")] == ["challenge", "revise", "challenge"]
    assert "⚠️ NEEDS_REVISION - Found 1 HIGH, 0 MEDIUM, 0 LOW severity issues" in done.out
    assert "✅ APPROVED - Ready for implementation!" in done.out
    state = sandbox.state()
    assert (state["phase"], state["verdict"], state["iteration"]) == ("challenged", "APPROVED", 2)
    text = (sandbox.folder() / "proposal.md").read_text(encoding="utf-8")
    first, second = proposal.reviews(text)
    assert (first.status, first.iteration, first.reviewer) == ("needs_revision", 1, "scripted")
    assert "R1 does not say in which order" in first.content
    assert (second.status, second.iteration) == ("approved", 2)
    shown = (sandbox.folder() / "CHALLENGE.md").read_text(encoding="utf-8")
    assert shown == challenge_page.render(challenge_page.from_review(CHANGE, second))
    again = sandbox.run("plan", CHANGE, "--json").data
    wanted = {"resolved_change_id": CHANGE, "verdict": "APPROVED", "iteration_count": 1, "action": "AlreadyComplete"}
    assert {key: again[key] for key in wanted} == wanted


@pytest.mark.requirement(29, 30)
def test_a_name_that_is_taken_gets_a_number_and_every_later_step_knows_it(sandbox: Sandbox) -> None:
    (sandbox.root / "agentd" / "archive" / CHANGE).mkdir(parents=True)
    (sandbox.root / "agentd" / "archive" / CHANGE / "STATE.yaml").write_text(
        f"change_id: {CHANGE}\nphase: archived\nschema_version: '2.0'\nrun: {{workflow: change, step: archived}}\n"
    )
    sandbox.script(challenge=YES)
    done = sandbox.plan("--json")
    assert done.code == 0, done.err
    wanted = {"resolved_change_id": f"{CHANGE}-1", "verdict": "APPROVED", "iteration_count": 0, "phase": "challenged"}
    assert {key: done.data[key] for key in wanted} == wanted
    assert f"id: {CHANGE}-1\n" in (sandbox.folder(f"{CHANGE}-1") / "proposal.md").read_text(encoding="utf-8")
    assert done.data["next"] == f"agentd impl {CHANGE}-1"


@pytest.mark.requirement(11, 12, 20, 52)
@pytest.mark.parametrize("limit", [None, 0, 1, 4])
def test_the_loop_ends_after_so_many_revisions_and_the_change_stays_proposed(
    sandbox: Sandbox, limit: int | None
) -> None:
    fewer = [reviewed("needs_revision", *"abcdefgh"[n : 2 * n], severity="Medium") for n in (4, 3, 2, 1)]
    sandbox.script(challenge=[reviewed("needs_revision", *"vwxyz"), *fewer])
    if limit is not None:
        sandbox.set("workflow", planning_iterations=limit)
    done = sandbox.plan("--json")
    revisions = 2 if limit is None else limit
    assert done.code == 4
    assert (made(sandbox, "revise"), made(sandbox, "challenge")) == (revisions, revisions + 1)
    data = done.data
    assert (data["phase"], data["verdict"], data["iteration_count"]) == ("proposed", "NEEDS_REVISION", revisions)
    assert data["decisions"][0]["question"] == f"Still NEEDS_REVISION after {revisions + 1} rounds. What next?"
    assert "approval" not in sandbox.state()


@pytest.mark.requirement(11, 150, 269, 275, 278, 283)
def test_a_rejection_ends_the_loop_with_its_issues_and_an_error(sandbox: Sandbox) -> None:
    sandbox.script(challenge=[NO, NEVER])
    done = sandbox.plan()
    assert done.code == 1
    assert "❌ REJECTED - Fundamental problems" in done.out
    assert "Severity: High [new] It cannot work" in done.out
    assert "Description: It cannot work." in done.out
    assert f"Review it by hand: agentd/changes/{CHANGE}/proposal.md" in done.out
    assert (sandbox.state()["phase"], sandbox.state()["verdict"]) == ("rejected", "REJECTED")
    before = sandbox.calls()
    again = sandbox.run("plan", CHANGE, "--json")
    assert (again.code, again.data["error"]) == (1, "Rejected")
    assert again.data["message"].startswith("⛔ Rejected")
    assert f"agentd/changes/{CHANGE}/proposal.md" in again.data["message"]
    assert sandbox.calls() == before


@pytest.mark.requirement(275)
def test_planning_says_when_it_is_over(sandbox: Sandbox) -> None:
    sandbox.script(challenge=YES)
    assert "✅ Planning complete" in sandbox.plan().out
    before = sandbox.calls()
    assert "✅ Planning complete" in sandbox.run("plan", CHANGE).out
    for phase in ("implementing", "complete", "archived"):
        sandbox.edit_state(f"phase: {sandbox.state()['phase']}", f"phase: {phase}")
        assert "ℹ️ Beyond planning phase" in sandbox.run("plan", CHANGE).out
    assert sandbox.calls() == before


@pytest.mark.requirement(51, 283)
def test_issues_are_counted_by_severity(sandbox: Sandbox) -> None:
    issues = "".join(
        f"### {name}\n- Severity: {severity}\n- Description: {name}.\n"
        for name, severity in (
            ("a", "HIGH"),
            ("b", "medium"),
            ("c", "Medium"),
            ("d", "low"),
            ("e", "Low"),
            ("f", "LOW"),
        )
    )
    text = f"# Challenge Report: {CHANGE}\n\n## Verdict\n**Verdict**: NEEDS_REVISION\n\n## Issues\n{issues}\n## Summary\nx\n"
    sandbox.set("workflow", human_in_loop=True)
    sandbox.script(challenge={"documents": {"CHALLENGE.md": text}})
    done = sandbox.plan()
    assert done.code == 4
    assert "⚠️ NEEDS_REVISION - Found 1 HIGH, 2 MEDIUM, 3 LOW severity issues" in done.out


@pytest.mark.requirement(17)
def test_with_a_person_in_the_loop_an_invalid_document_stops_before_the_challenge(sandbox: Sandbox) -> None:
    sandbox.set("workflow", human_in_loop=True)
    sandbox.script(challenge=YES, **invalid())
    done = sandbox.plan()
    assert done.code == 1
    assert "⚠️ Format validation failed" in done.out
    assert "Error: Format validation failed" in done.err
    assert (made(sandbox, "challenge"), made(sandbox, "fix_format")) == (0, 0)
    path = sandbox.folder() / "tasks.md"
    path.write_text(path.read_text(encoding="utf-8").replace("top-words:R9", "top-words:R1"), encoding="utf-8")
    assert sandbox.run("plan", CHANGE).code == 0
    assert (made(sandbox, "challenge"), made(sandbox, "break_down")) == (1, 1)


@pytest.mark.requirement(53)
def test_alone_the_planner_repairs_the_format_a_few_times_then_a_person_is_asked(sandbox: Sandbox) -> None:
    sandbox.script(challenge=YES, fix_format={"say": "I tried."}, **invalid())
    done = sandbox.plan("--json")
    assert done.code == 4
    assert (made(sandbox, "fix_format"), made(sandbox, "challenge")) == (2, 0)
    (asked,) = done.data["decisions"]
    assert asked["question"] == "Format validation still failing after 2 iterations. What to do?"
    sandbox.script(fix_format={"replace": {"run:tasks.md": [["top-words:R9", "top-words:R1"]]}})
    assert sandbox.run("answer", CHANGE, asked["decision_id"], "fix").code == 0
    assert sandbox.run("plan", CHANGE).code == 0
    assert (made(sandbox, "fix_format"), made(sandbox, "challenge")) == (3, 1)


@pytest.mark.requirement(18)
def test_what_is_wrong_with_the_form_alone_is_put_right_before_the_challenge(sandbox: Sandbox) -> None:
    plan = plan_of("top-words")
    text = plan["propose"]["documents"]["proposal.md"].replace("## Why\n", "### Why\n").replace("text.\n", "text.   \n")
    plan["propose"]["documents"]["proposal.md"] = text
    sandbox.set("workflow", human_in_loop=True)
    sandbox.script(**plan)
    done = sandbox.plan()
    assert done.code == 0, done.err
    assert "tidied" in done.out
    kept = (sandbox.folder() / "proposal.md").read_text(encoding="utf-8")
    assert "\n## Why\n\nPeople sort" in kept
    assert "text.\n" in kept
    assert made(sandbox, "fix_format") == 0


def invalid() -> dict[str, Any]:
    """Agents whose tasks name a requirement that does not exist."""
    plan = plan_of("top-words")
    text = plan["break_down"]["documents"]["tasks.md"].replace("Spec: top-words:R1", "Spec: top-words:R9")
    return {"write_spec": plan["write_spec"], "break_down": {"documents": {"tasks.md": text}}}


@pytest.mark.requirement(47)
@pytest.mark.parametrize("name", ["proposal.md", "tasks.md", "specs/top-words.md"])
def test_nothing_is_challenged_that_is_not_there(planned: Sandbox, name: str) -> None:
    before, state = planned.calls(), planned.state()
    (planned.folder() / name).unlink()
    refused = planned.run("challenge", CHANGE, "--json")
    assert (refused.code, refused.data["error"]) == (1, "GateClosed")
    assert name in refused.data["message"]
    assert planned.calls() == before
    assert planned.state() == state


@pytest.mark.requirement(47)
def test_a_change_that_affects_no_spec_is_challenged_without_one(sandbox: Sandbox) -> None:
    sandbox.script(**plan_of(affected="- Affected specs: none"))
    done = sandbox.plan()
    assert done.code == 0, done.out + done.err
    assert set(sandbox.state()["approval"]["documents"]) == {"proposal.md", "tasks.md"}


@pytest.mark.requirement(48)
def test_the_challenger_is_told_what_to_look_at(sandbox: Sandbox) -> None:
    spy = spied(sandbox)
    sandbox.script(challenge=YES)
    assert sandbox.plan().code == 0
    (job,) = spy.of("challenge")
    prompt = job["prompt"].lower()
    for topic in ("feasibility", "architecture", "security", "performance", "completeness", "task breakdown"):
        assert topic in prompt
    assert "append_review" in job["tools"]
    assert "create_proposal" not in job["tools"]


def test_a_challenger_reviews_through_its_tool(sandbox: Sandbox) -> None:
    content = "## Summary\nThe order of ties is left open, which callers will stumble over.\n\n## Issues\n### Ties\n"
    content += (
        "- Severity: Medium\n- Description: Say which comes first.\n- Location: tally/nowhere.py:7\n\n## Verdict\n"
    )
    ask = {"change_id": "{{run}}", "status": "needs_revision", "iteration": 1, "reviewer": "challenger"}
    tool = {"append_review": {**ask, "content": f"{content}**Verdict**: NEEDS_REVISION\n"}}
    sandbox.script(challenge=[{"tools": [tool]}, YES])
    done = sandbox.plan()
    assert done.code == 0, done.out + done.err
    assert "Found 0 HIGH, 1 MEDIUM, 0 LOW" in done.out
    assert "Ties (round 1) (ungrounded: there is no file tally/nowhere.py)" in done.out
    first, _ = proposal.reviews((sandbox.folder() / "proposal.md").read_text(encoding="utf-8"))
    assert (first.reviewer, first.call) == ("challenger", "challenge-1.1")


def sessions(sandbox: Sandbox, tmp_path: Path) -> list[str]:
    """Agents that keep the conversation they go on with; the lines of where they do."""
    log = tmp_path / "sessions.txt"
    run = [sys.executable, "-c", SESSION, str(log)]
    sandbox.script(
        propose={**plan_of("top-words")["propose"], "session": "p-1", "run": run},
        break_down={**plan_of("top-words")["break_down"], "session": "p-2", "run": run},
        write_spec={**plan_of("top-words")["write_spec"], "session": "s-1", "run": run},
        challenge=[{**NO, "session": "c-1", "run": run}, {**YES, "run": run}],
        revise={"session": "p-2", "run": run},
    )
    assert sandbox.plan().code in (0, 4)
    if sandbox.state()["phase"] == "proposed":
        (open_one,) = [one for one in sandbox.state()["user_decisions"] if one["status"] == "pending"]
        assert sandbox.run("answer", CHANGE, open_one["decision_id"], "fix").code == 0
        assert sandbox.run("plan", CHANGE).code == 0
    return [line.strip() for line in log.read_text().splitlines()]


@pytest.mark.requirement(54, 277, 278)
def test_alone_a_reproposal_and_the_next_challenge_go_on_with_their_conversations(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    seen = sessions(sandbox, tmp_path)
    assert seen == ["propose", "write_spec", "break_down", "challenge", "revise p-2", "challenge c-1"]
    state = sandbox.state()
    assert (state["session_id"], state["challenger_session_id"]) == ("p-2", "c-1")


@pytest.mark.requirement(277)
def test_with_a_person_in_the_loop_every_challenge_is_fresh_and_the_reproposal_is_not(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    sandbox.set("workflow", human_in_loop=True)
    seen = sessions(sandbox, tmp_path)
    assert seen == ["propose", "write_spec", "break_down", "challenge", "revise p-2", "challenge"]


@pytest.mark.requirement(54, 56)
def test_a_conversation_that_is_lost_is_told_and_a_fresh_one_goes_on(sandbox: Sandbox) -> None:
    plan = plan_of("top-words")
    sandbox.script(**plan | {"break_down": {**plan["break_down"], "session": "p-2"}})
    sandbox.script(challenge=[NO, YES], revise={"fail": "lost", "session": "p-3", "say": "Done afresh."})
    done = sandbox.plan()
    assert done.code == 0, done.err
    at = done.out.index("Session p-2 not found")
    assert "Cause: " in done.out[at:]
    assert "Solution: " in done.out[at:]
    assert "delete session_id in STATE.yaml" in done.out[at:]
    assert sandbox.state()["session_id"] == "p-3"
    assert made(sandbox, "revise") == 2  # the one that was lost is kept beside it


def test_a_plan_of_another_change_is_not_disturbed(sandbox: Sandbox) -> None:
    sandbox.script(challenge=AGAIN)
    sandbox.plan()
    sandbox.script(challenge=YES)
    assert sandbox.run("plan", "second", IDEA).code == 0
    assert (sandbox.state()["phase"], sandbox.state("second")["phase"]) == ("proposed", "challenged")
