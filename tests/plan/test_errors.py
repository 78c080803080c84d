"""Trouble with a known cause: Error, Cause and Solution on stderr, and the same in the JSON document."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.plan.plans import plan_of, tasks
from tests.sandbox import CHANGE, YES, Ran, Sandbox

HOME = f"agentd/changes/{CHANGE}"


def circle() -> str:
    """Tasks that wait for each other."""
    text = tasks("top-words:R1", "top-words:R1")
    first, second = "### Task 2.1: Do top-words:R1\n", "### Task 2.2: Do top-words:R1\n"
    return text.replace(first, f"{first}- Depends: 2.2\n").replace(second, f"{second}- Depends: 2.1\n")


def stray() -> str:
    return tasks("top-words:R1").replace("Spec: top-words:R1", "Spec: top-words:R9")


# Every case: the name, what agents do, the error, its cause, and what to do about it.
CASES: Mapping[str, tuple[Mapping[str, Any], str, str, tuple[str, ...]]] = {
    "proposal": (
        {"propose": {"say": "done"}},
        "create_proposal MCP tool failed",
        "proposal.md",
        ("Check scripted's MCP configuration", "registered", "Test: agentd mcp --help"),
    ),
    "spec": (
        {"write_spec": {"say": "done"}},
        "create_spec MCP tool failed",
        "specs/top-words.md",
        ("Check scripted's MCP configuration", "registered", "Test: "),
    ),
    "tasks": (
        {"break_down": {"say": "done"}},
        "create_tasks MCP tool failed",
        "tasks.md",
        ("Check scripted's MCP configuration", "registered", "Test: "),
    ),
    "verdict": (
        {"challenge": {"say": "Not bad."}},
        "Could not parse challenge verdict",
        "scripted did not follow the output format: there is no verdict",
        (f"Read {HOME}/CHALLENGE.md", f"agentd challenge {CHANGE}", f"set the phase in {HOME}/STATE.yaml by hand"),
    ),
    "circle": (
        {"break_down": {"documents": {"tasks.md": circle()}}},
        "Circular dependency detected: ",
        "The tasks depend on each other in a circle",
        (f"Edit {HOME}/tasks.md:", "Fix the dependency chain", f"Re-run: agentd challenge {CHANGE}"),
    ),
    "format": (
        {"break_down": {"documents": {"tasks.md": stray()}}},
        "Format validation failed",
        "The documents break the rules of their format",
        (f"Edit {HOME}/tasks.md:", f"Run: agentd validate {CHANGE}", f"Run: agentd challenge {CHANGE}"),
    ),
}


@pytest.mark.requirement(56)
@pytest.mark.parametrize(("script", "message", "cause", "solution"), CASES.values(), ids=CASES)
def test_an_error_says_its_cause_and_its_solution(
    sandbox: Sandbox, script: Mapping[str, Any], message: str, cause: str, solution: tuple[str, ...]
) -> None:
    sandbox.set("workflow", human_in_loop=True)
    sandbox.script(**{**plan_of("top-words"), **script})
    told(sandbox.plan(), message, cause, solution)
    again = sandbox.run("plan", CHANGE, "--json")
    assert again.code == 1
    assert message in again.data["message"]
    assert cause in again.data["cause"]
    assert len(again.data["solution"]) == len(solution)
    for step, said in zip(solution, again.data["solution"], strict=True):
        assert step in said
    assert again.data["fix"].startswith("agentd ")
    assert sandbox.state()["phase"] == "proposed"


def told(done: Ran, message: str, cause: str, solution: tuple[str, ...]) -> None:
    assert done.code == 1
    lines = done.err.splitlines()
    assert lines[0].startswith(f"Error: {message}")
    assert lines[1].startswith("Cause: ")
    assert cause in lines[1]
    assert lines[2] == "Solution:"
    steps = [line.removeprefix("  - ") for line in lines[3:] if line.startswith("  - ")]
    assert len(steps) == len(solution)
    for step, said in zip(solution, steps, strict=True):
        assert step in said
    assert lines[-1].startswith("Fix:   agentd ")


@pytest.mark.requirement(53, 56)
@pytest.mark.parametrize("limit", [2, 1])
def test_a_format_that_the_planner_cannot_repair_is_told_with_its_cause(sandbox: Sandbox, limit: int) -> None:
    sandbox.set("workflow", format_iterations=limit)
    plan = plan_of("top-words") | {"break_down": {"documents": {"tasks.md": stray()}}, "fix_format": {"say": "tried"}}
    sandbox.script(**plan)
    done = sandbox.plan()
    assert done.code == 4
    lines = done.out.splitlines()
    at = lines.index(f"Error: Format validation still failing after {limit} iterations")
    assert lines[at + 1] == "Cause: The planner was not able to fix the format by itself"
    assert lines[at + 2] == "Solution:"
    assert f"Edit {HOME}/tasks.md:" in lines[at + 3]
    assert [line.removeprefix("  - ") for line in lines[at + 4 : at + 6]] == [
        f"Run: agentd validate {CHANGE}",
        f"Run: agentd challenge {CHANGE}",
    ]
    refused = sandbox.run("challenge", CHANGE)
    assert (refused.code, "tasks.md" in refused.err) == (1, True)
    path = sandbox.folder() / "tasks.md"
    path.write_text(path.read_text(encoding="utf-8").replace("R9", "R1"), encoding="utf-8")
    assert sandbox.run("validate", CHANGE).code == 0
    assert sandbox.run("challenge", CHANGE).code == 0
    assert sandbox.state()["phase"] == "challenged"


@pytest.mark.requirement(56)
def test_the_named_ways_out_of_an_unclear_verdict_work(sandbox: Sandbox) -> None:
    sandbox.script(**plan_of("top-words") | {"challenge": [{"say": "Not bad."}, YES]})
    refused = sandbox.plan()
    assert f"Fix:   agentd challenge {CHANGE}" in refused.err.splitlines()
    assert (sandbox.folder() / "CHALLENGE.md").is_file()
    sandbox.edit_state("phase: proposed", "phase: challenged")
    assert "✅ Planning complete" in sandbox.run("plan", CHANGE).out
    sandbox.edit_state("phase: challenged", "phase: proposed")
    assert sandbox.run("challenge", CHANGE).code == 0
