"""The Copilot CLI is offered what a job grants and nothing else, and its events are never taken for more than they say."""

import json
from dataclasses import replace

import pytest
from hypothesis import given

from agentd.agents import copilot
from agentd.agents.events import load
from agentd.model.job import Command, Job, Reply
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
    return copilot.read(recorded("copilot", name))


def offered(command: Command) -> set[str]:
    flag = next(word for word in command.argv if word.startswith("--available-tools="))
    return {*flag.partition("=")[2].split(",")}


def granted(command: Command) -> set[str]:
    return {word for word in command.argv if word.startswith("--allow-")}


def option(command: Command, flag: str) -> str:
    return command.argv[command.argv.index(flag) + 1]


def test_the_prompt_is_not_for_everybody_on_the_machine_to_see() -> None:
    command = copilot.command(JOB)
    assert command.stdin == JOB.prompt
    assert JOB.prompt not in command.argv
    assert not {"-p", "--prompt"} & {*command.argv}


@pytest.mark.parametrize(
    ("edits", "shell", "grant"),
    [
        (False, False, set()),
        (True, False, {"--allow-tool=write"}),
        (False, True, {"--allow-tool=shell"}),
        (True, True, {"--allow-all-tools"}),
    ],
)
def test_exactly_what_the_job_grants_is_offered_and_allowed(edits: bool, shell: bool, grant: set[str]) -> None:
    command = copilot.command(replace(JOB, edits=edits, shell=shell))
    served = {"--allow-tool=agentd(create_proposal)", "--allow-tool=agentd(read_file)"}
    assert granted(command) == served | grant
    tools = offered(command)
    assert {"view", "grep", "glob", "agentd-create_proposal", "agentd-read_file"} <= tools
    assert ({"create", "edit"} <= tools) is edits
    assert ("bash" in tools) is shell
    assert not {"task", "skill", "sql", "session_store_sql", "web_fetch"} & tools
    assert ("--disallow-temp-dir" in command.argv) is not shell


def test_the_server_is_given_with_the_tools_of_the_step() -> None:
    given_servers = json.loads(option(copilot.command(JOB), "--additional-mcp-config"))["mcpServers"]
    assert given_servers == {
        "agentd": {
            "type": "local",
            "command": JOB.server[0],
            "args": list(JOB.server[1:]),
            "tools": ["create_proposal", "read_file"],
        }
    }


def test_without_a_server_there_is_none_of_its_tools() -> None:
    command = copilot.command(replace(JOB, server=()))
    assert "--additional-mcp-config" not in command.argv
    assert offered(command) == {"view", "grep", "glob"}
    assert granted(command) == set()


def test_instructions_come_as_the_agent_of_a_plugin() -> None:
    command = copilot.command(replace(JOB, instructions="You write proposals."))
    folder = option(command, "--plugin-dir").removeprefix("/scratch/")
    assert json.loads(command.files[f"{folder}/plugin.json"])["name"] == "agentd"
    assert command.files[f"{folder}/agents/agentd.agent.md"].endswith("---\nYou write proposals.")
    assert option(command, "--agent") == "agentd:agentd"
    assert copilot.command(JOB).files == {}


def test_the_flags_follow_the_job() -> None:
    job = replace(
        JOB,
        model="gpt-5.5",
        effort="extra high",
        session="s-1",
        folder="/elsewhere/agentd/changes/add-oauth",
        program=("env", "FOO=1", "copilot"),
        args=("--log-level", "debug"),
    )
    command = copilot.command(job)
    assert command.argv[:3] == ("env", "FOO=1", "copilot")
    assert copilot.command(JOB).argv[0] == "copilot"
    assert option(command, "--model") == "gpt-5.5"
    assert option(command, "--reasoning-effort") == "xhigh"
    assert option(command, "--add-dir") == job.folder
    assert command.argv[-3:] == ("--resume=s-1", "--log-level", "debug")
    assert not {"--model", "--reasoning-effort", "--add-dir"} & {*copilot.command(JOB).argv}


def test_a_reply_tells_what_was_said() -> None:
    assert read("done") == Reply(
        text="FINAL: the proposal is written.",
        complete=True,
        session=read("done").session,
        model="gpt-4.1",
    )
    assert read("done").session.startswith("00000000-0000-4000-8000-")


def test_a_conversation_goes_on_under_its_name() -> None:
    reply = read("resumed")
    assert (reply.complete, reply.text) == (True, "FINAL: resumed.")
    assert reply.session


def test_files_and_commands_are_no_trouble_where_they_are_granted() -> None:
    reply = read("implemented")
    assert (reply.complete, reply.refused, reply.text) == (True, (), "FINAL: it is implemented.")


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("denied", ("create", "edit")),
        ("redirected", ("bash",)),
        ("outside", ("create",)),
        ("unknown_tool", ("no_such_tool",)),
    ],
)
def test_refused_tools_are_named_and_end_nothing(name: str, refused: tuple[str, ...]) -> None:
    reply = read(name)
    assert (reply.complete, reply.refused) == (True, refused)


@pytest.mark.parametrize(
    ("name", "failure", "words"),
    [
        ("busy", "transient", "429 Rate limit reached for requests"),
        ("no_quota", "quota", "You exceeded your current quota"),
        ("server_error", "transient", "500 An internal error has occurred."),
        ("key_refused", "auth", "Authentication failed"),
        ("no_login", "auth", "No authentication information found"),
        ("bad_request", "failed", "400 Request contains an invalid argument."),
        ("empty", "transient", "No response was returned"),
        ("cut_off", "transient", "unexpected EOF"),
        ("garbage", "transient", ""),
        ("dropped", "transient", "connection closed"),
        ("lost", "lost", "No session, task, or name matched"),
        ("no_server", "failed", "the MCP server agentd did not start: MCP server process exited"),
        ("hung", "hang", "before it gave a result"),
        ("killed", "unreadable", "without a result"),
        ("bad_flag", "failed", "unexpected argument '--bogus'"),
    ],
)
def test_every_failure_has_its_class(name: str, failure: str, words: str) -> None:
    reply = read(name)
    assert (reply.complete, reply.failure) == (False, failure)
    assert words in reply.error
    assert "retried 5 times" not in reply.error


def test_a_result_of_a_killed_agent_says_success_and_is_none() -> None:
    lines = recorded("copilot", "killed")
    assert any('"type":"result"' in line and '"exitCode":0' in line for line in lines)
    assert not copilot.read(lines).complete


@pytest.mark.parametrize("name", ["done", "implemented", "resumed"])
def test_nothing_is_complete_without_its_result(name: str) -> None:
    lines = [line for line in recorded("copilot", name) if '"type":"result"' not in line]
    reply = copilot.read(lines)
    assert (reply.complete, reply.failure) == (False, "unreadable")


def test_a_transcript_that_agentd_did_not_live_to_end_counts_all_the_same() -> None:
    assert copilot.read(recorded("copilot", "done")[:-1]).complete


@given(transcripts("copilot"))
def test_any_lines_are_read_and_none_are_taken_for_success(lines: list[str]) -> None:
    reply = copilot.read(lines)
    events = [event for event in map(load, lines) if event and "agentd" not in event]
    results = [event for event in events if event.get("type") == "result"]
    if reply.complete:
        assert results[-1]["exitCode"] == 0
        assert not any(event.get("type") == "abort" for event in events)
        assert reply.failure == reply.error == ""
    else:
        assert reply.failure
        assert reply.error
