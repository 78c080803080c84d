"""The Gemini CLI is offered what a job grants and nothing else, and its events are never taken for more than they say."""

import json
import re
import tomllib
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.agents import gemini
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
    server=(
        "/usr/bin/python3",
        "-P",
        "-m",
        "agentd",
        "mcp",
        "--run",
        "/project/agentd/changes/x",
        "--call",
        "propose-1.1",
    ),
    scratch="/scratch",
)
SHELL, EDIT = "run_shell_command", "write_file"
READS = ("read_file", "list_directory", "glob", "grep_search")


def read(name: str) -> Reply:
    return gemini.read(recorded("gemini", name))


def rules(command: Command) -> list[dict[str, Any]]:
    text = next(text for name, text in command.files.items() if name.endswith(".toml"))
    found: list[dict[str, Any]] = tomllib.loads(text)["rule"]
    return found


def decide(command: Command, tool: str, server: str = "", *others: dict[str, Any]) -> str:
    """What gemini's policy engine says: of the rules that fit, the one with the highest number, the first of equals."""
    name = f"mcp_{server}_{tool}" if server else tool
    for rule in sorted([*rules(command), *others], key=lambda rule: -int(rule["priority"])):
        own = rule.get("mcpName")
        if any(tool == each and server == own if own else fnmatchcase(name, each) for each in rule["toolName"]):
            return str(rule["decision"])
    return "ask"


def option(command: Command, flag: str) -> str:
    return command.argv[command.argv.index(flag) + 1]


def test_agentds_tools_are_told_by_their_full_names_once_a_conversation() -> None:
    assert "mcp_agentd_create_proposal, mcp_agentd_read_file" in gemini.command(JOB).stdin
    assert gemini.command(replace(JOB, session="0199")).stdin == JOB.prompt
    assert gemini.command(replace(JOB, tools=(), server=())).stdin == JOB.prompt


def test_the_prompt_is_not_for_everybody_on_the_machine_to_see() -> None:
    command = gemini.command(JOB)
    assert command.stdin.startswith(JOB.prompt)
    assert JOB.prompt not in command.argv
    assert command.argv[:3] == ("gemini", "--output-format", "stream-json")


@pytest.mark.parametrize(
    ("edits", "shell", "mode"),
    [(False, False, "default"), (True, False, "auto_edit"), (False, True, "yolo"), (True, True, "yolo")],
)
def test_exactly_what_the_job_grants_is_allowed(edits: bool, shell: bool, mode: str) -> None:
    command = gemini.command(replace(JOB, edits=edits, shell=shell))
    assert option(command, "--approval-mode") == mode
    assert {decide(command, tool) for tool in READS} == {"allow"}
    assert decide(command, EDIT) == decide(command, "replace") == ("allow" if edits else "deny")
    assert decide(command, SHELL) == ("allow" if shell else "deny")
    assert {decide(command, tool) for tool in ("web_fetch", "invoke_agent", "google_web_search", "new")} == {"deny"}
    assert {decide(command, tool, "agentd") for tool in JOB.tools} == {"allow"}
    assert decide(command, "approve", "agentd") == decide(command, "create_proposal", "other") == "deny"


def test_the_rules_of_the_person_hold_but_grant_nothing_that_is_denied() -> None:
    command = gemini.command(JOB)
    assert command.argv.count("--policy") == 2
    assert "~/.gemini/policies" in command.argv
    mine = {"toolName": ["read_file"], "decision": "deny", "priority": 100}
    assert decide(command, "read_file", "", mine) == "deny"
    yours = {"toolName": [SHELL, "mcp_other_*"], "decision": "allow", "priority": 950}
    assert decide(command, SHELL, "", yours) == decide(command, "drop", "other", yours) == "deny"


def test_the_server_is_registered_alike_for_every_call() -> None:
    command = gemini.command(JOB)
    entry = command.merges[".gemini/settings.json"]["mcpServers"]["agentd"]
    assert entry == {
        "command": "/usr/bin/python3",
        "args": ["-P", "-m", "agentd", "mcp"],
        "env": {name: f"${name}" for name in ("AGENTD_DESK", "AGENTD_CALL", "AGENTD_SOCKET")},
        "trust": True,
    }
    other = replace(JOB, call="review-2.1", server=(*JOB.server[:-1], "review-2.1"), edits=True, tools=())
    assert gemini.command(other).merges == command.merges
    assert option(command, "--allowed-mcp-server-names") == "agentd"


def test_without_a_server_no_file_of_the_project_is_touched() -> None:
    command = gemini.command(replace(JOB, server=(), tools=()))
    assert command.merges == {}
    assert option(command, "--allowed-mcp-server-names") != "agentd"
    assert decide(command, "create_proposal", "agentd") == "deny"


def test_instructions_take_the_place_of_the_long_ones() -> None:
    plain, told = gemini.command(JOB), gemini.command(replace(JOB, instructions="You write proposals."))
    assert "GEMINI_SYSTEM_MD" not in plain.env
    path = told.env["GEMINI_SYSTEM_MD"]
    assert told.files[path.removeprefix("/scratch/")] == "You write proposals."


def test_calls_that_share_a_folder_do_not_share_files_that_differ() -> None:
    one, two = (
        gemini.command(replace(JOB, instructions="a")),
        gemini.command(replace(JOB, instructions="b", edits=True)),
    )
    assert not one.files.keys() & two.files.keys()


def test_the_flags_follow_the_job() -> None:
    job = replace(
        JOB,
        model="gemini-2.5-pro",
        session="s-1",
        folder="/elsewhere/agentd/changes/add-oauth",
        program=("env", "FOO=1", "gemini"),
        args=("--debug", "-e", "my extension"),
    )
    command = gemini.command(job)
    assert command.argv[:3] == ("env", "FOO=1", "gemini")
    assert gemini.command(JOB).argv[0] == "gemini"
    assert option(command, "--model") == "gemini-2.5-pro"
    assert option(command, "--resume") == "s-1"
    assert option(command, "--include-directories") == job.folder
    assert command.argv[-3:] == ("--debug", "-e", "my extension")
    assert not {"--model", "--resume", "--include-directories"} & {*gemini.command(JOB).argv}


# As in its atCommandProcessor: such a word pulls in the file of that name, or the first that has it in its name.
MENTION = re.compile(r'(?<!\\)@(?:(?:"(?:[^"]*)")|(?:\\.|[^ \t\n\r,;!?()\[\]{}.]|\.(?!$|[ \t\n\r])))+')


@given(st.text(alphabet=st.sampled_from('@ab.\\" \n,('), max_size=20))
def test_a_prompt_pulls_in_no_files(prompt: str) -> None:
    sent = gemini.command(replace(JOB, prompt=prompt, tools=())).stdin
    assert all(not found[0].startswith(("@a", "@b")) for found in MENTION.finditer(sent))
    assert re.sub(r"(?<!\\)\\@", "@", sent) == re.sub(r"(?<!\\)\\@", "@", prompt)


def test_a_reply_tells_what_was_said_and_used() -> None:
    reply = read("done")
    assert reply == Reply(
        text="FINAL: the proposal is written.",
        complete=True,
        session="00000000-0000-4000-8000-000000000001",
        model="gemini-2.5-flash",
        usage=Usage(tokens_in=2400, tokens_out=70, cached_in=400, duration_ms=reply.usage.duration_ms),
    )


def test_a_conversation_goes_on_under_its_name_and_counts_for_itself() -> None:
    reply = read("resumed")
    assert (reply.complete, reply.text, reply.usage.tokens_in) == (True, "FINAL: resumed.", 1200)
    assert reply.session == "00000000-0000-4000-8000-000000000001"
    assert not reply.cumulative


def test_files_and_commands_are_no_trouble_where_they_are_granted() -> None:
    reply = read("implemented")
    assert (reply.complete, reply.refused, reply.text) == (True, (), "FINAL: it is implemented.")


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("denied", ("write_file", "replace")),
        ("shell_denied", ("run_shell_command",)),
        ("build_file", ("write_file",)),
        ("outside", ("write_file",)),
        ("unknown_tool", ("no_such_tool",)),
        ("bad_arguments", ()),
    ],
)
def test_refused_tools_are_named_and_end_nothing(name: str, refused: tuple[str, ...]) -> None:
    reply = read(name)
    assert (reply.complete, reply.refused) == (True, refused)


@pytest.mark.parametrize(
    ("name", "failure", "words"),
    [
        ("busy", "transient", "Too many requests, slow down."),
        ("busy_resource", "transient", "Resource has been exhausted"),
        ("busy_minute", "transient", "exceeded your current quota"),
        ("no_quota", "quota", "exhausted your daily quota"),
        ("server_error", "transient", "An internal error has occurred."),
        ("overloaded", "transient", "The model is overloaded."),
        ("key_refused", "auth", "API key not valid"),
        ("forbidden", "auth", "Permission denied."),
        ("no_key", "auth", "you must specify the GEMINI_API_KEY"),
        ("no_login", "auth", "Invalid auth method selected."),
        ("bad_request", "failed", "Request contains an invalid argument."),
        ("unknown_model", "failed", "models/nope is not found"),
        ("empty", "transient", "empty response"),
        ("cut_off", "transient", "terminated"),
        ("garbage", "transient", "JSON"),
        ("dropped", "transient", "fetch failed"),
        ("untrusted", "failed", "it does not trust the folder"),
        ("max_turns", "failed", "model.maxSessionTurns"),
        ("lost", "lost", "No previous sessions found"),
        ("lost_elsewhere", "lost", "Invalid session identifier"),
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
    assert "request a quota increase" not in reply.error


def test_a_wait_that_is_asked_for_is_told() -> None:
    assert read("busy_minute").retry_after == 2
    assert read("busy").retry_after == 0


def test_one_refusal_that_was_overcome_is_no_failure() -> None:
    assert read("busy_once").complete


@pytest.mark.parametrize("name", ["done", "implemented", "resumed"])
def test_nothing_is_complete_without_its_result(name: str) -> None:
    lines = [line for line in recorded("gemini", name) if '"type":"result"' not in line]
    reply = gemini.read(lines)
    assert (reply.complete, reply.failure) == (False, "unreadable")
    assert reply.session


def test_a_transcript_that_agentd_did_not_live_to_end_counts_all_the_same() -> None:
    assert gemini.read(recorded("gemini", "done")[:-1]).complete


def test_the_model_that_answered_most_is_named() -> None:
    models = {"gemini-2.5-pro": {"total_tokens": 10}, "gemini-2.5-flash": {"total_tokens": 900}, "x": 5}
    result = {"type": "result", "status": "success", "stats": {"models": models}}
    begun = {"type": "init", "model": "auto", "session_id": "s"}
    assert gemini.read([json.dumps(begun), json.dumps(result)]).model == "gemini-2.5-flash"


@given(transcripts("gemini"))
def test_any_lines_are_read_and_none_are_taken_for_success(lines: list[str]) -> None:
    reply = gemini.read(lines)
    results = [event for event in map(load, lines) if event and event.get("type") == "result" and "agentd" not in event]
    if reply.complete:
        assert results[-1]["status"] == "success"
        assert reply.failure == reply.error == ""
    else:
        assert reply.failure
        assert reply.error
