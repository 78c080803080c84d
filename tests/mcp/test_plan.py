"""A change taken through `agentd plan` and `agentd impl` by agents that write everything through their tools."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentd.app import open_project
from agentd.demo import CHANGE
from agentd.families.change.documents import proposal
from agentd.families.change.validation import validate_change
from tests.documents.valid import valid
from tests.mcp import samples
from tests.plan.plans import answered
from tests.sandbox import Sandbox, make_sandbox

DOC = Path(__file__).parents[2] / "docs" / "scripted-agent.md"
REVISE = samples.REVIEW.replace("APPROVED", "NEEDS_REVISION")


def mine(arguments: dict[str, Any], **other: Any) -> dict[str, Any]:
    return {**arguments, "change_id": "{{run}}", **other}


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    """The demonstration's repository, its agents writing through tools."""
    made = make_sandbox(tmp_path)
    checked = {"validate_change": {"change_id": "{{run}}", "strict": True}}
    made.script(
        propose={
            "tools": [
                {"create_clarifications": mine(samples.CLARIFICATIONS), "expect_error": True},
                {"create_proposal": mine(samples.PROPOSAL)},
                {"append_review": mine(samples.APPEND), "expect_error": True},
            ]
        },
        **{
            "write_spec@auth-flow": {"tools": [{"create_spec": mine(samples.SPEC)}]},
            "write_spec@sessions": {"tools": [{"create_spec": mine(samples.SESSIONS)}]},
        },
        break_down={"tools": [{"create_tasks": mine(samples.TASKS)}, checked]},
        challenge=[
            {
                "tools": [
                    {"create_proposal": mine(samples.PROPOSAL), "expect_error": True},
                    {"append_review": mine(samples.APPEND, status="needs_revision", content=REVISE)},
                ],
                "outcome": "needs_revision",
            },
            {"tools": [checked, {"append_review": mine(samples.APPEND, iteration=2)}], "outcome": "approved"},
        ],
        revise={
            "tools": [
                {"create_proposal": mine(samples.PROPOSAL, summary="People sign in with GitHub alone.")},
                {
                    "edit_file": {
                        "change_id": "{{run}}",
                        "file": "tasks",
                        "old_text": "Build the URL",
                        "new_text": "Build it",
                    }
                },
            ]
        },
        review={
            "tools": [{"create_review": mine(samples.CREATE_REVIEW, **samples.CONTENT)}],
            "outcome": "approved",
        },
    )
    return made


def test_agents_plan_and_review_a_change_through_their_tools(sandbox: Sandbox) -> None:
    done = sandbox.plan()
    assert done.code == 0, done.out + done.err
    assert sandbox.state()["phase"] == "challenged"
    assert validate_change(open_project(sandbox.root), CHANGE).findings == ()
    text = (sandbox.folder() / "proposal.md").read_text(encoding="utf-8")
    read = valid(proposal, text)
    assert read.summary == "People sign in with GitHub alone."
    assert [(one.status, one.iteration, one.call) for one in read.reviews] == [
        ("needs_revision", 1, "challenge-1.1"),
        ("approved", 2, "challenge-2.1"),
    ]
    assert "**Verdict**: APPROVED" in (sandbox.folder() / "CHALLENGE.md").read_text(encoding="utf-8")
    lines = (sandbox.folder() / "calls" / "propose-1.1.jsonl").read_text(encoding="utf-8").splitlines()
    told = [(event["tool"], event["status"]) for event in map(json.loads, lines) if event.get("type") == "tool"]
    assert told == [("create_clarifications", "error"), ("create_proposal", "success"), ("append_review", "error")]
    sandbox.script(implement={})
    without = [{"value": "waive", "note": "nothing is built here"}] * 4
    done = sandbox.run("impl", CHANGE, *answered(sandbox, unfinished=without))
    assert done.code == 0, done.out + done.err
    assert sandbox.state()["phase"] == "complete"
    assert "APPROVED" in (sandbox.folder() / "REVIEW.md").read_text(encoding="utf-8")


def test_the_documented_calls_of_tools_are_played(sandbox: Sandbox) -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", DOC.read_text(encoding="utf-8"), re.DOTALL)
    sandbox.script(propose=yaml.safe_load(blocks[1])["propose"], break_down={"fail": "error"})
    sandbox.plan()
    assert "Greet people by name." in (sandbox.folder() / "proposal.md").read_text(encoding="utf-8")
    assert sandbox.state()["run"]["step"] == "break_down"


def test_a_tool_that_refuses_fails_the_agent_with_its_words(sandbox: Sandbox) -> None:
    sandbox.script(propose={"tools": [{"create_proposal": mine(samples.PROPOSAL, summary="short")}]})
    done = sandbox.plan()
    assert done.code == 1
    assert "The tool create_proposal refused" in done.out + done.err
    assert "summary" in done.out + done.err
    assert not (sandbox.folder() / "proposal.md").exists()


def test_a_tool_that_was_to_refuse_and_did_not_fails_the_agent(sandbox: Sandbox) -> None:
    sandbox.script(propose={"tools": [{"create_proposal": mine(samples.PROPOSAL), "expect_error": True}]})
    done = sandbox.plan()
    assert done.code == 1
    assert "was expected to refuse" in done.out + done.err


# Kills the process that serves the tools of this run, once.
KILL = """import os, psutil
flag, run = os.environ["AGENTD_DESK"] + "/../killed", os.environ["AGENTD_RUN"]
if not os.path.exists(flag):
    open(flag, "w").close()
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if words[-4:-2] == ["agentd.mcp.host", run]:
            process.kill()
"""


def test_a_call_whose_tools_were_lost_is_tried_again(sandbox: Sandbox) -> None:
    proposed = {"tools": [{"create_proposal": mine(samples.PROPOSAL)}], "run": [sys.executable, "-c", KILL]}
    sandbox.script(propose={**proposed, "fail": "error", "times": 1}, break_down={"fail": "error"})
    sandbox.set("workflow", retry_delay_secs=0)
    done = sandbox.plan()
    told = done.out + done.err
    assert "the process that serves agentd's tools ended during the call: trying scripted again" in told, told
    assert sandbox.state()["run"]["step"] == "break_down"
    assert not [*(sandbox.folder() / "calls").glob(".tools.*")]


def test_a_step_without_tools_has_no_server(sandbox: Sandbox) -> None:
    sandbox.own_workflow(
        "plain",
        "name: plain\nstarts: {full: a}\nsteps:\n"
        "  a: {phase: p, agent: planner, next: {done: b}}\n  b: {phase: q, end: done}\n",
    )
    sandbox.script(a={"tools": [{"read_file": {"change_id": "x", "file": "y"}}]})
    done = sandbox.run("run", "plain", "try it", "--name", "p1")
    assert done.code == 1
    assert "This step has no tools" in done.out + done.err


def test_a_workflow_that_names_an_unknown_tool_is_not_sound(sandbox: Sandbox) -> None:
    sandbox.own_workflow(
        "odd",
        "name: odd\nstarts: {full: a}\nsteps:\n"
        "  a: {phase: p, agent: planner, tools: [read_fil], next: {done: b}}\n  b: {phase: q, end: done}\n",
    )
    done = sandbox.run("workflow", "check", "agentd/workflows/odd.yaml")
    assert done.code == 1
    assert "unknown tool 'read_fil'" in done.err
