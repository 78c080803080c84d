"""What can go wrong between an agent's program and its model, row by row: how agentd ends, and that nothing is lost.

Each test has a challenger look at a plan. Whatever fails, nothing is approved, no process is left, and the same command
can be given again.
"""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from agentd.agents.plugins import find
from tests.contract.conftest import Open
from tests.contract.lab import DONE, REVIEW, WHEN, Lab
from tests.contract.model import Scenes
from tests.sandbox import CHANGE, YES, Ran, wait_until

AGENTS = ("claude", "codex", "gemini")
APPROVED, FAILED, WAITING = 0, 1, 4
NEVER = {"always": True}
NO_LOGIN = ("{agent} is not logged in, or its key is not valid", "Fix:   {login}")


@dataclass(frozen=True)
class Row:
    """One kind of trouble.

    fail     what the model does instead of its first answer, attempt by attempt
    turns    what it does instead of reviewing
    without  variables of the environment that are not there
    server   what runs instead of agentd's server of tools
    config   settings of agentd, by section
    code     how agentd ends, and `says` what it says then
    calls    how often the agent is called, where every agent's program leaves that to agentd
    """

    fail: tuple[Any, ...] = ()
    turns: tuple[Any, ...] = ()
    without: tuple[str, ...] = ()
    server: str = ""
    config: tuple[tuple[str, dict[str, Any]], ...] = ()
    code: int = FAILED
    says: tuple[str, ...] = ()
    calls: int = 0
    agents: tuple[str, ...] = AGENTS


def limit(**values: int) -> tuple[tuple[str, dict[str, Any]], ...]:
    return (("calls", values),)


ROWS = {
    "busy, then not": Row(fail=({"status": 429, "retry_after": 1},), code=APPROVED),
    "an error of the server, then none": Row(fail=(500,), code=APPROVED),
    "unavailable, then not": Row(fail=(503,), code=APPROVED),
    "busy, then an error, then neither": Row(fail=({"status": 429, "retry_after": 1}, 500), code=APPROVED),
    "no JSON once": Row(fail=("garbage",), code=APPROVED),
    "a stream cut once": Row(fail=("cut",), code=APPROVED),
    "a connection dropped once": Row(fail=("drop",), code=APPROVED),
    "errors of the server for ever": Row(fail=({"status": 500, **NEVER},), says=("{agent} (exit",), calls=2),
    "busy for ever": Row(fail=({"status": 429, **NEVER},), says=("{agent} (exit",), calls=2),
    "no JSON for ever": Row(fail=({"kind": "garbage", **NEVER},), says=("{agent} (exit",)),
    "nothing for ever": Row(fail=({"kind": "empty", **NEVER},), says=("{agent} (exit",)),
    "a request that is refused": Row(fail=({"status": 400, **NEVER},), says=("{agent} (exit",), calls=1),
    "a key that is refused": Row(fail=({"status": 401, **NEVER},), says=NO_LOGIN, calls=1),
    "no key": Row(
        without=("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"),
        says=NO_LOGIN,
        calls=1,
    ),
    "no quota": Row(
        fail=({"kind": "quota", **NEVER},),
        code=WAITING,
        says=("{agent} is out of quota; nothing is lost", f"agentd plan {CHANGE}", "[fallback]"),
        calls=1,
    ),
    "no answer": Row(
        fail=({"kind": "hang", **NEVER},), says=("{agent} was ended after",), config=limit(silence_secs=8), calls=1
    ),
    "arguments that the tool refuses": Row(
        turns=({"call": {"append_review": {"change_id": "{{run}}", "status": "perfect"}}}, DONE),
        says=("verdict",),
        calls=3,
    ),
    "arguments that are no JSON": Row(
        turns=({"call": {"append_review": '{"change_id": '}}, DONE),
        says=("verdict",),
        calls=3,
        agents=("claude", "codex"),
    ),
    "a tool that is not there": Row(turns=({"call": {"!no_such_tool": {}}}, DONE), says=("verdict",), calls=3),
    "a turn too many": Row(
        turns=tuple({"call": {"list_specs": {"change_id": "{{run}}"}}} for _ in range(6)),
        says=("turn",),
        config=limit(max_turns=3),
        calls=1,
    ),
    "a server of tools that does not start": Row(server="exit 3", says=("MCP",), calls=1),
    "a server of tools that never answers": Row(
        server="echo nonsense; exec sleep 600",
        says=("{agent} was ended after",),
        config=limit(timeout_secs=10),
        calls=1,
    ),
    "a flag that does not exist": Row(
        config=(("{agent}", {"args": ["--no-such-flag"]}),), says=("{agent} (exit",), calls=1
    ),
}
CASES = [(row, agent) for row in ROWS for agent in ROWS[row].agents]


@pytest.fixture
def start(open_lab: Open) -> Callable[[str, Row], Lab]:
    """A lab in which this agent meets this trouble at its first request."""

    def begin(agent: str, row: Row) -> Lab:
        turns = [*row.turns] or [{"call": REVIEW}, DONE]
        turns[0] = {**turns[0], "fail": list(row.fail)}
        lab = open_lab(Scenes.load([{"name": "challenge", "when": WHEN, "turns": turns}]))
        lab.play(agent)
        lab.set("workflow", script_retries=1, human_in_loop=True)
        lab.set("calls", grace_secs=1)
        # gemini's newer models are asked ten times, whatever its settings say.
        lab.set(
            "gemini", default="only", models=[{"id": "only", "model": "gemini-2.5-flash", "complexity": "critical"}]
        )
        for section, values in row.config:
            lab.set(section.format(agent=agent), **values)
        if row.server:
            lab.break_server(row.server)
        return lab

    return begin


def challenge(lab: Lab) -> Ran:
    return lab.run("challenge", CHANGE)


def made(lab: Lab) -> int:
    """How many calls the real agent got; the script got one before."""
    return len([call for call in lab.calls() if call.startswith("challenge")]) - 1


@pytest.mark.parametrize(("name", "agent"), CASES, ids=[f"{row.replace(' ', '-')}-{agent}" for row, agent in CASES])
def test_trouble_ends_well_or_leaves_everything_as_it_was(
    start: Callable[[str, Row], Lab], name: str, agent: str
) -> None:
    row = ROWS[name]
    lab = start(agent, row)
    for key in row.without:
        del lab.env[key]
    before = lab.state()
    done = challenge(lab)
    told = f"{done.out}{done.err}\n{[(each.scene, each.turn, each.fault) for each in lab.model.requests]}"
    assert done.code == row.code, told
    wait_until(lambda: not lab.processes(), 10)
    assert lab.leaks() == []
    if row.code != APPROVED:
        words = [each.format(agent=agent, login=find(agent).login) for each in row.says]
        assert [each for each in words if each not in done.out + done.err] == [], told
        assert not row.calls or made(lab) == row.calls, told
        check_unapproved(lab, before)
        lab.play("scripted")
        lab.script(challenge=YES)
        assert challenge(lab).code == APPROVED
    assert lab.state()["phase"] == "challenged"
    assert lab.state()["approval"]["documents"]


def check_unapproved(lab: Lab, before: dict[str, Any]) -> None:
    after = lab.state()
    assert after["phase"] == before["phase"] == "proposed"
    assert "approval" not in after
    assert "APPROVED" not in (lab.folder() / "CHALLENGE.md").read_text()


@pytest.mark.parametrize("agent", AGENTS)
def test_a_program_that_is_killed_approves_nothing_and_can_be_called_again(
    start: Callable[[str, Row], Lab], agent: str
) -> None:
    lab = start(agent, Row(fail=({"kind": "hang", **NEVER},)))
    lab.set("workflow", script_retries=0)
    before = lab.state()
    with lab.begin("challenge", CHANGE) as command:
        wait_until(lambda: lab.model.requests, 60)
        for pid in lab.agents():
            os.kill(pid, signal.SIGTERM)
        out, err = command.communicate(timeout=60)
    assert command.returncode == FAILED, out + err
    wait_until(lambda: not lab.processes(), 10)
    check_unapproved(lab, before)
    lab.model.mend()
    assert challenge(lab).code == APPROVED


@pytest.mark.parametrize("agent", AGENTS)
def test_agentd_that_is_interrupted_takes_the_program_with_it(start: Callable[[str, Row], Lab], agent: str) -> None:
    lab = start(agent, Row(fail=({"kind": "hang", **NEVER},)))
    before = lab.state()
    with lab.begin("challenge", CHANGE) as command:
        wait_until(lambda: lab.model.requests, 60)
        command.send_signal(signal.SIGINT)
        out, err = command.communicate(timeout=60)
    assert command.returncode == 130, out + err
    wait_until(lambda: not lab.processes(), 10)
    check_unapproved(lab, before)
    lab.model.mend()
    assert challenge(lab).code == APPROVED


@pytest.mark.parametrize("agent", AGENTS)
def test_a_conversation_that_is_lost_is_begun_anew(start: Callable[[str, Row], Lab], agent: str) -> None:
    lab = start(agent, Row())
    lab.set("workflow", human_in_loop=False)
    gone = "0199d0f0-0000-7000-8000-000000000000"
    lab.edit_state("\nllm_calls:", f"\nchallenger_session_id: {gone}\nllm_calls:")
    done = challenge(lab)
    assert done.code == APPROVED, done.out + done.err
    assert made(lab) == 2
    assert lab.state()["challenger_session_id"] not in ("", gone)
