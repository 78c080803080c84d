"""Agents that end without what their step needs: they are reminded in their conversation, and the plan goes on by itself."""

import signal
from pathlib import Path
from typing import Any

import pytest

from tests.plan.plans import spied
from tests.sandbox import CHANGE, IDEA, YES, Sandbox, kill, make_sandbox, wait_until

ASKS: dict[str, Any] = {"say": "Shall I write it now?", "tools": [], "session": "s-1"}


def asks_first(sandbox: Sandbox, step: str, **first: Any) -> dict[str, Any]:
    """An agent that talks, and does its work when it is reminded."""
    return {**ASKS, **first, "nudged": [sandbox.entry(step)]}


def nudges(sandbox: Sandbox) -> list[str]:
    found = [event for path in sandbox.folder().rglob("journal.jsonl") for event in sandbox.events(path.parent)]
    return [str(event["step"]) for event in found if event["event"] == "nudge"]


def of(sandbox: Sandbox, step: str) -> list[str]:
    return [call for call in sandbox.calls() if call.startswith(f"{step}-")]


@pytest.mark.parametrize("step", ["propose", "write_spec", "break_down", "challenge"])
def test_an_agent_that_asks_is_reminded_and_the_plan_goes_on(sandbox: Sandbox, step: str) -> None:
    sandbox.script(challenge=YES)
    sandbox.script(**{step: asks_first(sandbox, step)})
    ran = sandbox.plan()
    assert ran.code == 0, ran.out + ran.err
    assert of(sandbox, step) == [f"{step}-1.1", f"{step}-1.2"]
    assert nudges(sandbox) == [step]
    assert "what it said: Shall I write it now?; reminding it (1 of 2)" in ran.out
    assert sandbox.state()["phase"] == "challenged"
    assert list(sandbox.folder().rglob("*.served")) == []


def test_the_reminder_goes_on_in_the_conversation_and_names_what_is_missing_and_its_tool(sandbox: Sandbox) -> None:
    sandbox.script(propose=asks_first(sandbox, "propose"), challenge=YES)
    spy = spied(sandbox)
    assert sandbox.plan().code == 0
    first, second = spy.of("propose")
    assert (first["session"], second["session"]) == ("", "s-1")
    assert (first["nudges"], second["nudges"]) == (0, 1)
    assert "proposal.md" in second["prompt"]
    assert "`create_proposal`" in second["prompt"]
    assert IDEA not in second["prompt"]
    assert "propose-1.2" in second["server"], "its tools are those of the new call"


def test_an_agent_without_a_conversation_to_go_on_with_gets_its_task_again_with_what_is_missing(
    sandbox: Sandbox,
) -> None:
    sandbox.script(propose=asks_first(sandbox, "propose", session=""), challenge=YES)
    spy = spied(sandbox)
    assert sandbox.plan().code == 0
    first, second = spy.of("propose")
    assert second["session"] == ""
    assert second["prompt"].startswith(first["prompt"])
    assert "proposal.md" in second["prompt"].removeprefix(first["prompt"])


def test_a_conversation_that_is_lost_is_begun_anew_with_the_whole_task(sandbox: Sandbox) -> None:
    sandbox.script(propose={**ASKS, "nudged": [{**sandbox.entry("propose"), "fail": "lost"}]}, challenge=YES)
    spy = spied(sandbox)
    assert sandbox.plan().code == 0
    jobs = spy.of("propose")
    assert [job["session"] for job in jobs] == ["", "s-1", ""]
    assert jobs[2]["prompt"].startswith(jobs[0]["prompt"])
    assert "`create_proposal`" in jobs[2]["prompt"].removeprefix(jobs[0]["prompt"])


def test_what_one_call_wrote_counts_when_the_rest_comes_after_a_reminder(sandbox: Sandbox) -> None:
    sandbox.set("workflow", generation="one-shot")
    written = {**sandbox.entry("propose")["documents"], **sandbox.entry("write_spec")["documents"]}
    rest = {"documents": sandbox.entry("break_down")["documents"]}
    sandbox.script(generate={**ASKS, "documents": written, "nudged": [rest]}, challenge=YES)
    spy = spied(sandbox)
    ran = sandbox.plan()
    assert ran.code == 0, ran.out + ran.err
    assert of(sandbox, "generate") == ["generate-1.1", "generate-1.2"]
    reminder = spy.of("generate")[1]["prompt"]
    assert "tasks.md" in reminder
    assert "`create_tasks`" in reminder
    assert "proposal.md" not in reminder


def test_after_the_last_reminder_the_step_fails_with_what_the_agent_said(sandbox: Sandbox) -> None:
    secret = "sk-ant-api03-0123456789abcdefghijklmnopqrstuv"
    sandbox.script(propose={**ASKS, "say": f"Which\x1b[31m database,\n\n\u202eplease? {secret} " + "x" * 500})
    ran = sandbox.plan()
    assert ran.code == 1
    assert of(sandbox, "propose") == ["propose-1.1", "propose-1.2", "propose-1.3"]
    assert "scripted did not call create_proposal" in ran.err
    assert "proposal.md" in ran.err
    assert "what it said: Which database, please? [redacted] xxx" in ran.err
    assert "MCP" not in ran.err
    assert secret not in ran.out + ran.err
    assert "\x1b[31m" not in ran.out + ran.err
    assert "x" * 300 not in ran.err
    assert nudges(sandbox) == ["propose", "propose"]


def test_a_challenger_that_decides_nothing_fails_with_what_it_said(sandbox: Sandbox) -> None:
    sandbox.set("calls", nudges=1)
    sandbox.script(challenge={**ASKS, "say": "Looks good to me."})
    ran = sandbox.plan()
    assert ran.code == 1
    assert of(sandbox, "challenge") == ["challenge-1.1", "challenge-1.2"]
    assert "what it said: Looks good to me." in ran.err


def test_an_agent_that_never_asked_for_its_tools_does_not_have_them_and_is_not_reminded(sandbox: Sandbox) -> None:
    sandbox.script(propose={"say": "I have no tool for that."})
    ran = sandbox.plan()
    assert ran.code == 1
    assert of(sandbox, "propose") == ["propose-1.1"]
    assert "create_proposal MCP tool failed" in ran.err
    assert "it never asked agentd for its tools; what it said: I have no tool for that." in ran.err


def test_without_nudges_nobody_is_reminded(sandbox: Sandbox) -> None:
    sandbox.set("calls", nudges=0)
    sandbox.script(propose=asks_first(sandbox, "propose"))
    assert sandbox.plan().code == 1
    assert of(sandbox, "propose") == ["propose-1.1"]


def test_a_reminder_is_a_call_of_its_own_and_the_budget_is_looked_at_before_it(sandbox: Sandbox) -> None:
    sandbox.set("budget", calls_per_change=1)
    sandbox.script(propose=asks_first(sandbox, "propose"), challenge=YES)
    ran = sandbox.plan()
    assert ran.code == 4
    assert of(sandbox, "propose") == ["propose-1.1"]
    sandbox.set("budget", calls_per_change=0)
    assert sandbox.run("plan", CHANGE).code == 0
    assert of(sandbox, "propose") == ["propose-1.1", "propose-1.2"]
    assert nudges(sandbox) == ["propose"]
    assert [call["call"] for call in sandbox.state()["llm_calls"]][:2] == ["propose-1.1", "propose-1.2"]


def test_a_reminder_that_was_killed_is_given_again_in_the_same_conversation(sandbox: Sandbox) -> None:
    done = sandbox.entry("propose")
    sandbox.script(propose={**ASKS, "nudged": [{"hang": True, "session": "s-1"}]}, challenge=YES)
    spy = spied(sandbox)
    process = sandbox.begin("plan", CHANGE, IDEA)
    wait_until(lambda: "propose-1.2" in sandbox.calls() and "hanging" in text(sandbox, "propose-1.2"))
    kill(process, signal.SIGKILL)
    sandbox.script(propose={**ASKS, "nudged": [done]})
    ran = sandbox.run("plan", CHANGE)
    assert ran.code == 0, ran.out + ran.err
    assert [(job["session"], job["nudges"]) for job in spy.of("propose")] == [("", 0), ("s-1", 1), ("s-1", 1)]
    assert nudges(sandbox) == ["propose"]


def text(sandbox: Sandbox, call: str) -> str:
    return (sandbox.folder() / "calls" / f"{call}.jsonl").read_text(encoding="utf-8")


def test_a_call_that_ended_before_agentd_was_killed_is_reminded_and_not_made_again(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    whole = make_sandbox(tmp_path / "whole")
    for each in (whole, sandbox):
        each.script(propose=asks_first(each, "propose"), challenge=YES)
    assert whole.plan().code == 0
    number = [event["event"] for event in whole.events()].index("nudge") + 1
    spy = spied(sandbox)
    sandbox.run("plan", CHANGE, IDEA, env={"AGENTD_CRASH": f"journal:{whole.save_of(number)}:before"})
    assert (of(sandbox, "propose"), nudges(sandbox)) == (["propose-1.1"], [])
    ran = sandbox.run("plan", CHANGE)
    assert ran.code == 0, ran.out + ran.err
    assert [(job["session"], job["nudges"]) for job in spy.of("propose")] == [("", 0), ("s-1", 1)]
    assert nudges(sandbox) == ["propose"]
