"""opencode is offered what a job grants and nothing else, and its events are never taken for more than they say."""

import json
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import pytest
from hypothesis import given

from agentd.agents import opencode
from agentd.agents.events import load
from agentd.model.job import Command, Job, Reply
from agentd.model.usage import Usage
from tests.agents.anything import recorded, transcripts

JOB = Job(
    call="propose-1.1",
    step="propose",
    role="planner",
    visit=1,
    prompt="Write the proposal.",
    cwd="/project",
    folder="/project/agentd/changes/add-oauth",
    tools=("create_proposal", "read_file"),
    server=("/usr/bin/python3", "-P", "-m", "agentd", "mcp", "--run", "/x", "--call", "propose-1.1"),
    scratch="/scratch",
)


def read(name: str) -> Reply:
    return opencode.read(recorded("opencode", name))


def config(command: Command) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(command.env["OPENCODE_CONFIG_CONTENT"])
    return found


def decide(command: Command, permission: str, pattern: str = "*") -> str:
    """What opencode says: of the rules that fit, the last one."""
    said = "ask"
    for name, rule in config(command)["agent"]["agentd"]["permission"].items():
        for each, action in (rule if isinstance(rule, dict) else {"*": rule}).items():
            if fnmatchcase(permission, name) and fnmatchcase(pattern, each):
                said = action
    return said


def option(command: Command, flag: str) -> str:
    return command.argv[command.argv.index(flag) + 1]


def test_the_prompt_is_not_for_everybody_on_the_machine_to_see() -> None:
    command = opencode.command(JOB)
    assert command.stdin == JOB.prompt
    assert JOB.prompt not in command.argv
    assert command.argv[:4] == ("opencode", "run", "--format", "json")


@pytest.mark.parametrize(("edits", "shell"), [(False, False), (True, False), (False, True), (True, True)])
def test_exactly_what_the_job_grants_is_allowed(edits: bool, shell: bool) -> None:
    command = opencode.command(replace(JOB, edits=edits, shell=shell))
    assert option(command, "--agent") == "agentd"
    assert {decide(command, tool, "src/a.py") for tool in ("read", "grep", "glob")} == {"allow"}
    assert decide(command, "edit", "src/a.py") == ("allow" if edits else "deny")
    assert decide(command, "bash", "rm -rf .") == ("allow" if shell else "deny")
    assert {decide(command, each) for each in ("webfetch", "task", "skill", "question", "other_tool")} == {"deny"}
    assert {decide(command, f"agentd_{tool}") for tool in JOB.tools} == {"allow"}
    assert decide(command, "agentd_approve") == "deny"


def test_files_elsewhere_and_secrets_are_not_read() -> None:
    command = opencode.command(replace(JOB, edits=True))
    assert decide(command, "external_directory", "/etc/*") == "deny"
    assert decide(command, "external_directory", "/project/agentd/changes/add-oauth/specs/*") == "allow"
    assert decide(command, "read", "conf/.env") == "deny"
    assert decide(command, "read", ".env.example") == "allow"


def test_the_server_is_given_as_it_is() -> None:
    servers = config(opencode.command(JOB))["mcp"]
    assert servers == {"agentd": {"type": "local", "command": list(JOB.server), "enabled": True}}


def test_without_a_server_there_is_none_of_its_tools() -> None:
    command = opencode.command(replace(JOB, server=()))
    assert config(command)["mcp"] == {}
    assert decide(command, "agentd_create_proposal") == "deny"


def test_instructions_take_the_place_of_the_long_ones() -> None:
    told = config(opencode.command(replace(JOB, instructions="You write proposals.")))
    assert told["agent"]["agentd"]["prompt"] == "You write proposals."
    assert "prompt" not in config(opencode.command(JOB))["agent"]["agentd"]


def test_the_flags_follow_the_job() -> None:
    job = replace(
        JOB,
        model="anthropic/claude-sonnet-4-5",
        effort="high",
        session="ses_1",
        program=("env", "FOO=1", "opencode"),
        args=("--pure", "--dir", "my folder"),
    )
    command = opencode.command(job)
    assert command.argv[:3] == ("env", "FOO=1", "opencode")
    assert opencode.command(JOB).argv[0] == "opencode"
    assert option(command, "--model") == "anthropic/claude-sonnet-4-5"
    assert option(command, "--variant") == "high"
    assert option(command, "--session") == "ses_1"
    assert command.argv[-3:] == ("--pure", "--dir", "my folder")
    assert not {"--model", "--variant", "--session"} & {*opencode.command(JOB).argv}


def test_no_model_is_asked_for_a_title() -> None:
    assert option(opencode.command(JOB), "--title") == "agentd propose-1.1"


def test_a_reply_tells_what_was_said_and_used() -> None:
    assert read("done") == Reply(
        text="FINAL: the proposal is written.",
        complete=True,
        session="ses_0001",
        usage=Usage(tokens_in=2400, tokens_out=60, cost=0.00212, cached_in=400),
    )


def test_a_conversation_goes_on_under_its_name_and_counts_for_itself() -> None:
    reply = read("resumed")
    assert (reply.complete, reply.text, reply.usage.tokens_in) == (True, "FINAL: resumed.", 1200)
    assert reply.session == "ses_0001"
    assert not reply.cumulative


def test_files_and_commands_are_no_trouble_where_they_are_granted() -> None:
    reply = read("implemented")
    assert (reply.complete, reply.refused, reply.text) == (True, (), "FINAL: it is implemented.")


def test_a_cost_of_nothing_is_not_known() -> None:
    lines = [line.replace('"cost":0.00106', '"cost":0') for line in recorded("opencode", "done")]
    assert opencode.read(lines).usage == replace(read("done").usage, cost=None)


@pytest.mark.parametrize(
    ("name", "refused"),
    [("denied", ("write", "edit")), ("outside", ("write",)), ("unknown_tool", ("no_such_tool",))],
)
def test_refused_tools_are_named_and_end_nothing(name: str, refused: tuple[str, ...]) -> None:
    reply = read(name)
    assert (reply.complete, reply.refused) == (True, refused)


@pytest.mark.parametrize(
    ("name", "failure", "words"),
    [
        ("busy", "transient", "Rate limit reached for requests"),
        ("no_quota", "quota", "You exceeded your current quota"),
        ("server_error", "transient", "An internal error has occurred."),
        ("key_refused", "auth", "Incorrect API key provided"),
        ("bad_request", "failed", "Request contains an invalid argument."),
        ("unknown_model", "failed", "Model not found: fake/nope"),
        ("empty", "transient", "empty answer"),
        ("cut_off", "transient", "Connection reset"),
        ("garbage", "transient", "JSON"),
        ("cut", "failed", "'length'"),
        ("lost", "lost", "Session not found"),
        ("no_server", "failed", "the MCP server agentd did not start"),
        ("hung", "hang", "before it gave a result"),
        ("killed", "unreadable", "without a result"),
        ("bad_flag", "failed", "does not know an argument"),
    ],
)
def test_every_failure_has_its_class(name: str, failure: str, words: str) -> None:
    reply = read(name)
    assert (reply.complete, reply.failure) == (False, failure)
    assert words in reply.error


def test_a_wait_that_is_asked_for_is_told() -> None:
    assert read("busy").retry_after == 1
    assert read("server_error").retry_after == 0


@pytest.mark.parametrize("name", ["done", "implemented", "resumed"])
def test_nothing_is_complete_before_its_last_turn_is_over(name: str) -> None:
    lines = recorded("opencode", name)
    for count in range(1, len(lines) - 1):
        reply = opencode.read([*lines[:count], lines[-1]])
        assert (reply.complete, reply.failure) == (False, "unreadable")


def test_a_transcript_that_agentd_did_not_live_to_end_counts_all_the_same() -> None:
    assert opencode.read(recorded("opencode", "done")[:-1]).complete


@given(transcripts("opencode"))
def test_any_lines_are_read_and_none_are_taken_for_success(lines: list[str]) -> None:
    reply = opencode.read(lines)
    events = [event for event in map(load, lines) if event and "agentd" not in event]
    if reply.complete:
        assert events[-1]["type"] == "step_finish"
        assert events[-1]["part"]["reason"] == "stop"
        assert reply.failure == reply.error == ""
    else:
        assert reply.failure
        assert reply.error
