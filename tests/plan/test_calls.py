"""Calls that fail: what is tried again, who takes over, when a person is needed, and what is kept of all of it."""

import json
import signal
import subprocess
from typing import Any

import pytest
import yaml

from tests.plan.plans import spied, steps
from tests.sandbox import CHANGE, NO, YES, Sandbox, alive, kill, wait_until

TWO = {"one": "agentd/one.yaml", "two": "agentd/demo.yaml"}


def quick(sandbox: Sandbox, retries: int = 3) -> None:
    sandbox.set("workflow", script_retries=retries, retry_delay_secs=0)


def two_agents(sandbox: Sandbox, first: dict[str, Any], fallback: bool = True) -> None:
    """The planner is an agent of this script; another one, which would do it right, stands by."""
    quick(sandbox)
    (sandbox.root / "agentd" / "one.yaml").write_text(json.dumps(first), encoding="utf-8")
    for agent, script in TWO.items():
        sandbox.set(agent, adapter="scripted", script=script)
    sandbox.set("roles", planner="one", challenger="two")
    sandbox.set("fallback", **({"one": "two"} if fallback else {"two": "one"}))


def said(process: subprocess.Popen[str], words: str) -> str:
    """The line with these words, waited for."""
    assert process.stdout is not None
    for line in process.stdout:
        if words in line:
            return line
    raise AssertionError(f"it ended without saying {words!r}")


def agents(sandbox: Sandbox) -> list[tuple[str, str]]:
    return [(call["step"], call["agent"]) for call in sandbox.state()["llm_calls"]]


def test_a_transient_failure_is_tried_again_and_every_attempt_is_kept(sandbox: Sandbox) -> None:
    quick(sandbox)
    trouble = {"fail": "transient", "say": "529 overloaded", "times": 2, "usage": {"tokens_in": 10, "tokens_out": 1}}
    sandbox.script(propose={**sandbox.entry("propose"), **trouble})
    ran = sandbox.plan()
    assert ran.code == 0, ran.err
    assert "529 overloaded: trying scripted again in 0 s (1 of 3)" in ran.out
    assert [call for call in sandbox.calls() if call.startswith("propose")] == [
        "propose-1.1",
        "propose-1.2",
        "propose-1.3",
    ]
    made = [call for call in sandbox.state()["llm_calls"] if call["step"] == "proposal-gen"]
    assert [call["tokens_in"] for call in made] == [10, 10, 10]
    assert [event["why"] for event in sandbox.events() if event["event"] == "retry"] == ["transient", "transient"]


def test_a_transient_failure_that_does_not_end_fails_the_step_after_its_retries(sandbox: Sandbox) -> None:
    quick(sandbox, retries=2)
    sandbox.script(propose={"fail": "transient", "say": "503"})
    ran = sandbox.plan()
    assert ran.code == 1
    assert len([call for call in sandbox.calls() if call.startswith("propose")]) == 3
    assert sandbox.state()["phase"] == "proposed"
    sandbox.script(propose=sandbox.entry("write_spec") | {"fail": "transient"})
    assert sandbox.run("plan", CHANGE).code == 1


def test_waiting_is_as_long_as_the_service_asks_and_ends_with_a_signal(sandbox: Sandbox) -> None:
    quick(sandbox)
    sandbox.script(propose={"fail": "transient", "say": "429", "retry_after": 120})
    process = sandbox.begin("plan", CHANGE, "- give the words\n- in order\n- at most n pairs")
    assert "in 120 s" in said(process, "trying scripted again")
    assert kill(process, signal.SIGTERM) == 143
    assert sandbox.run("status", CHANGE, "--json").data["doing"] == "interrupted"


def test_waiting_ends_when_a_person_stops_the_run(sandbox: Sandbox) -> None:
    quick(sandbox)
    sandbox.script(propose={**sandbox.entry("propose"), "fail": "transient", "retry_after": 120, "times": 1})
    process = sandbox.begin("plan", CHANGE, "- give the words\n- in order\n- at most n pairs")
    said(process, "trying scripted again")
    assert sandbox.run("stop", CHANGE).code == 0
    assert process.wait(20) == 4
    process.communicate()
    assert sandbox.run("plan", CHANGE).code == 0


def test_a_service_that_asks_for_an_hour_is_out_of_quota(sandbox: Sandbox) -> None:
    quick(sandbox)
    sandbox.script(propose={"fail": "transient", "say": "429", "retry_after": 3600})
    ran = sandbox.plan()
    assert ran.code == 4
    assert "out of quota" in ran.err


def test_an_agent_out_of_quota_pauses_the_run_and_the_same_command_goes_on(sandbox: Sandbox) -> None:
    quick(sandbox)
    good = sandbox.entry("propose")
    sandbox.script(propose={"fail": "quota", "say": "usage limit reached"})
    ran = sandbox.plan()
    assert ran.code == 4
    assert "usage limit reached" in ran.err
    assert f"Fix:   agentd plan {CHANGE}" in ran.err
    assert "[fallback]" in ran.err
    assert len([call for call in sandbox.calls() if call.startswith("propose")]) == 1
    sandbox.script(propose=good)
    assert sandbox.run("plan", CHANGE).code == 0
    assert sandbox.state()["phase"] == "challenged"


def test_a_child_out_of_quota_pauses_the_whole_run(sandbox: Sandbox) -> None:
    quick(sandbox)
    good = sandbox.entry("write_spec")
    sandbox.script(write_spec={"fail": "quota", "say": "usage limit reached"})
    ran = sandbox.plan()
    assert ran.code == 4
    assert f"Fix:   agentd plan {CHANGE}" in ran.err
    assert sandbox.run("status", CHANGE, "--json").code == 0
    sandbox.script(write_spec=good)
    assert sandbox.run("plan", CHANGE).code == 0
    assert sandbox.state()["phase"] == "challenged"


def test_a_self_review_without_quota_is_not_passed_over(sandbox: Sandbox) -> None:
    quick(sandbox)
    sandbox.set("workflow", self_review_iterations=1)
    sandbox.script(review_proposal={"fail": "quota"})
    assert sandbox.plan().code == 4
    assert sandbox.state()["run"]["step"] == "review_proposal"


def test_an_agent_nobody_is_logged_in_to_stops_the_run_with_what_to_do(sandbox: Sandbox) -> None:
    quick(sandbox)
    sandbox.script(propose={"fail": "auth", "say": "Not logged in"})
    ran = sandbox.plan("--json")
    assert (ran.code, ran.data["error"]) == (1, "AgentFailed")
    assert "not logged in" in ran.out
    assert sandbox.state()["run"].get("intent") is None


@pytest.mark.parametrize("failure", ["quota", "auth", "transient", "unreadable", "no-result"])
def test_the_fallback_takes_over_from_an_agent_that_cannot_go_on(sandbox: Sandbox, failure: str) -> None:
    two_agents(sandbox, {"propose": {"fail": failure}})
    sandbox.script(challenge=YES)
    sandbox.set("workflow", script_retries=0)
    ran = sandbox.plan()
    assert ran.code in (0, 1), ran.err
    assert "two plays the planner instead" in ran.out
    assert agents(sandbox)[:2] == [("proposal-gen", "one"), ("proposal-gen", "two")]


def test_an_agent_that_was_refused_a_tool_is_not_replaced(sandbox: Sandbox) -> None:
    two_agents(sandbox, {"propose": {"say": "done", "refused": ["Bash", "Bash"]}})
    ran = sandbox.plan()
    assert ran.code == 1
    assert "one was refused: Bash" in ran.err
    assert {agent for _, agent in agents(sandbox)} == {"one"}


def test_fallbacks_that_name_each_other_are_each_tried_once(sandbox: Sandbox) -> None:
    two_agents(sandbox, {"propose": {"fail": "quota"}})
    sandbox.set("fallback", one="two", two="one")
    sandbox.script(propose={"fail": "quota"})
    assert sandbox.plan().code == 4
    assert agents(sandbox) == [("proposal-gen", "one"), ("proposal-gen", "two")]


def test_a_conversation_is_gone_on_with_by_the_agent_that_had_it_alone(sandbox: Sandbox) -> None:
    quick(sandbox)
    sandbox.set("workflow", planning_iterations=1)
    sandbox.script(challenge=[NO, YES], propose=sandbox.entry("propose") | {"session": "s-one"}, revise={"say": "done"})
    script = sandbox.root / "agentd" / "demo.yaml"
    first = yaml.safe_load(script.read_text(encoding="utf-8")) | {"revise": {"fail": "quota"}}
    (sandbox.root / "agentd" / "one.yaml").write_text(yaml.safe_dump(first), encoding="utf-8")
    spy = spied(sandbox)
    sandbox.set("one", adapter="spy", command=str(sandbox.root / "agentd" / "one.yaml"))
    sandbox.set("roles", planner="one")
    sandbox.set("fallback", one="spy")
    sandbox.plan()
    assert [(job["call"], job["session"]) for job in spy.of("revise")] == [("revise-1.1", "s-one"), ("revise-1.2", "")]


def test_a_call_that_is_killed_while_it_waits_goes_on_with_its_next_attempt(sandbox: Sandbox) -> None:
    sandbox.set("workflow", script_retries=3, retry_delay_secs=60)
    sandbox.script(propose={**sandbox.entry("propose"), "fail": "transient", "times": 1})
    process = sandbox.begin("plan", CHANGE, "- give the words\n- in order\n- at most n pairs")
    said(process, "trying scripted again")
    kill(process)
    assert sandbox.run("plan", CHANGE).code == 0
    assert [call for call in sandbox.calls() if call.startswith("propose")] == ["propose-1.1", "propose-1.2"]
    assert steps(sandbox).count("propose") == 2


def test_usage_of_a_conversation_counted_as_a_whole_is_taken_apart(sandbox: Sandbox) -> None:
    used = {"session": "thread-1", "cumulative": True}
    sandbox.script(
        propose={**sandbox.entry("propose"), **used, "usage": {"tokens_in": 100, "tokens_out": 10, "cached_in": 40}},
        break_down={
            **sandbox.entry("break_down"),
            **used,
            "usage": {"tokens_in": 150, "tokens_out": 25, "cached_in": 40},
        },
    )
    sandbox.plan()
    made = {call["step"]: call for call in sandbox.state()["llm_calls"]}
    assert [made["proposal-gen"][key] for key in ("tokens_in", "tokens_out", "cached_in")] == [100, 10, 40]
    assert [made["tasks-gen"][key] for key in ("tokens_in", "tokens_out", "cached_in")] == [50, 15, 0]


def test_an_agent_that_hangs_and_ignores_term_is_ended_with_its_children(sandbox: Sandbox) -> None:
    quick(sandbox)
    sandbox.set("calls", silence_secs=1, grace_secs=1)
    sandbox.script(propose={"hang": True, "ignore_term": True, "spawn": "setsid"})
    ran = sandbox.plan()
    assert ran.code == 1
    assert "by [calls] silence_secs = 1" in ran.out
    pids = [int(word) for word in (sandbox.folder() / "pids.txt").read_text().split()]
    assert pids
    wait_until(lambda: not any(map(alive, pids)), 5)


def test_a_transcript_says_who_was_called_and_how_it_ended(sandbox: Sandbox) -> None:
    sandbox.script(propose={"fail": "exit", "code": 3})
    sandbox.plan()
    lines = (sandbox.folder() / "calls" / "propose-1.1.jsonl").read_text(encoding="utf-8").splitlines()
    first, last = json.loads(lines[0]), json.loads(lines[-1])
    assert (first["agentd"], first["agent"]) == ("begin", "scripted")
    assert first["bytes_in"] > 500
    assert (last["agentd"], last["code"], last["ended"]) == ("end", 3, "exit")


def test_the_raw_log_shows_what_programs_printed_and_no_secret(sandbox: Sandbox) -> None:
    secret = "sk-ant-api03-verysecret0123456789"
    sandbox.script(propose={**sandbox.entry("propose"), "lines": [f"the key is {secret}", "\x1b[31mred\x1b[0m"]})
    sandbox.plan()
    raw = sandbox.run("log", CHANGE, "--raw")
    assert raw.code == 0
    assert "== calls/propose-1.1.jsonl" in raw.out
    assert "the key is [redacted]" in raw.out
    assert secret not in raw.out
    assert "\x1b" not in raw.out
    one = sandbox.run("log", CHANGE, "--raw", "--call", "propose-1.1", "--json")
    assert [found["file"] for found in one.data["transcripts"]] == ["calls/propose-1.1.jsonl"]
    none = sandbox.run("log", CHANGE, "--raw", "--call", "nothing-1.1")
    assert none.code == 1
    assert "propose-1.1" in none.err


def test_a_flood_ends_the_call(sandbox: Sandbox) -> None:
    sandbox.set("calls", transcripts_mb=1)
    sandbox.script(propose={"run": ["true"], "lines": ["x" * 100_000] * 30})
    ran = sandbox.plan()
    assert ran.code == 1
    assert "by [calls] transcripts_mb = 1" in ran.out
    assert (sandbox.folder() / "calls" / "propose-1.1.jsonl").stat().st_size < 1_200_000


def test_old_transcripts_make_room_but_the_last_of_each_step_stays(sandbox: Sandbox) -> None:
    quick(sandbox, retries=2)
    sandbox.set("calls", transcripts_mb=1)
    flood = ["x" * 700_000]
    sandbox.script(propose={**sandbox.entry("propose"), "fail": "transient", "times": 2, "lines": flood})
    assert sandbox.plan().code == 0
    left = [call for call in sandbox.calls() if call.startswith("propose")]
    assert left == ["propose-1.3"]


def test_costs_by_step_show_bytes_and_tokens_in_and_out(sandbox: Sandbox) -> None:
    sandbox.script(
        propose={**sandbox.entry("propose"), "say": "héllo", "usage": {"tokens_in": 9, "tokens_out": 2, "cached_in": 4}}
    )
    sandbox.plan()
    rows = {row["step"]: row for row in sandbox.run("cost", CHANGE, "--by", "step", "--json").data["rows"]}
    row = rows["proposal-gen"]
    assert (row["tokens_in"], row["cached_in"], row["tokens_out"], row["bytes_out"]) == (9, 4, 2, 6)
    assert row["bytes_in"] > 500
    head = sandbox.run("cost", CHANGE, "--by", "step").out.splitlines()[0].split("  ")
    assert [word.strip() for word in head if word.strip()] == [
        "step", "calls", "bytes in", "tokens in", "cached", "tokens out", "bytes out", "cost",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        '{"type": "result", "status": "success", "text": "x", "model": "\\udfff"}',
        '{"type": "result", "status": "success", "text": "x", "session": "\\ud800"}',
        json.dumps({"type": "result", "status": "success", "text": '{"a":' + "[" * 20_000 + "}"}),
    ],
)
def test_what_no_file_can_hold_does_not_stop_a_run_for_good(sandbox: Sandbox, line: str) -> None:
    quick(sandbox)
    good = sandbox.entry("propose")
    sandbox.script(propose={**good, "fail": "no-result", "lines": [line]})
    sandbox.plan()
    sandbox.script(propose=good)
    ran = sandbox.run("plan", CHANGE)
    assert ran.code == 0, ran.out + ran.err
    assert sandbox.state()["phase"] == "challenged"


def test_an_end_that_only_the_program_speaks_of_is_none_after_a_kill(sandbox: Sandbox) -> None:
    program = sandbox.root / "mine"
    program.write_text(
        "#!/bin/sh\ncat > /dev/null\necho done > agentd/runs/one/notes.md\n"
        """echo '{"agentd": "end", "code": 0, "ended": "exit"}'\ntouch agentd/runs/one/forged\nsleep 60\n"""
    )
    program.chmod(0o755)
    sandbox.set("roles", implementer="mine")
    sandbox.set("mine", adapter="command", command="./mine")
    sandbox.own_workflow(
        "one",
        "name: one\nabout: one\nstarts: {full: notes}\nsteps:\n"
        "  notes: {phase: writing, agent: implementer, produces: [notes.md], next: {done: over}}\n"
        "  over: {phase: written, end: written}\n",
    )
    process = sandbox.begin("run", "one", "write", "--name", "one")
    wait_until(lambda: (sandbox.root / "agentd" / "runs" / "one" / "forged").exists())
    kill(process)
    program.write_text("#!/bin/sh\nexit 3\n")
    ran = sandbox.run("resume", "one/one")
    assert ran.code == 1, ran.out
    assert "exit 3" in ran.out


def test_an_agent_does_not_take_a_run_of_ones_own_past_its_person(sandbox: Sandbox) -> None:
    sandbox.own_workflow(
        "ship",
        "name: ship\nabout: ship\nstarts: {full: notes}\nsteps:\n"
        "  notes: {phase: writing, agent: implementer, produces: [notes.md], next: {done: sure}}\n"
        '  sure: {phase: writing, ask: "Ship it?", next: {ship: over}}\n'
        "  over: {phase: shipped, end: shipped}\n",
    )
    edits = [["phase: writing", "phase: shipped"], ["step: notes", "step: over"]]
    sandbox.script(notes={"documents": {"notes.md": "x"}, "replace": {"run:STATE.yaml": edits}})
    sandbox.run("run", "ship", "go", "--name", "one")
    assert sandbox.run("status", "ship/one", "--json").data["phase"] == "writing"


def test_an_adapter_of_another_package_that_fails_is_told_and_not_a_defect(sandbox: Sandbox) -> None:
    spied(sandbox)
    spy = sandbox.root.parent / "site" / "spy.py"
    spy.write_text(spy.read_text() + "\ndef read(lines):\n    raise KeyError('result')\n")
    ran = sandbox.plan()
    assert ran.code == 1
    assert "what spy printed cannot be read (KeyError: 'result')" in ran.out
    spy.write_text("def read(lines): pass\ndef command(job): raise KeyError('model')\n")
    ran = sandbox.run("plan", CHANGE)
    assert ran.code == 1
    assert "KeyError: 'model'" in ran.err


def test_a_secret_that_comes_in_pieces_is_not_put_together(sandbox: Sandbox) -> None:
    key = "sk-ant-api03-0123456789abcdefghijkl"
    pieces = [{"type": "message", "role": "assistant", "content": part, "delta": True} for part in (key[:9], key[9:])]
    events = [{"type": "init", "session_id": "s"}, *pieces, {"type": "result", "status": "success", "stats": {}}]
    program = sandbox.root / "fake-gemini"
    program.write_text("#!/bin/sh\ncat > /dev/null\n" + "".join(f"echo '{json.dumps(event)}'\n" for event in events))
    program.chmod(0o755)
    sandbox.set("roles", planner="gemini")
    sandbox.set("gemini", command=str(program))
    ran = sandbox.plan()
    assert key not in ran.out + ran.err
    assert [
        path for path in sandbox.root.rglob("*") if path.is_file() and key in path.read_text(errors="replace")
    ] == []


def test_a_private_key_that_comes_line_by_line_is_taken_out(sandbox: Sandbox) -> None:
    body = [f"MIIEpAIBAAKCAQEA{number:02}abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ" for number in range(3)]
    lines = ["-----BEGIN RSA PRIVATE KEY-----", *body, "c2hvcnQ=", "-----END RSA PRIVATE KEY-----", "and on"]
    sandbox.script(propose={**sandbox.entry("propose"), "lines": lines})
    sandbox.plan()
    raw = sandbox.run("log", CHANGE, "--raw", "--call", "propose-1.1").out
    assert [line for line in [*body, "c2hvcnQ="] if line in raw] == []
    assert "and on" in raw


def test_a_command_of_several_words_is_started_with_the_persons_own_after_agentds(sandbox: Sandbox) -> None:
    program = sandbox.root.parent / "my claude"
    program.write_text('#!/bin/sh\ncat > /dev/null\nfor last; do :; done\necho "$FOO|$1|$last" > "$0.told"\nexit 1\n')
    program.chmod(0o755)
    sandbox.set("roles", planner="claude")
    sandbox.set("claude", command=f"env FOO=1 '{program}'", args=["--betas", "a b"])
    sandbox.plan()
    assert (sandbox.root.parent / "my claude.told").read_text() == "1|-p|a b\n"
