"""What real runs of Claude Code printed is read for what it was, and a job becomes words that grant no more than it does."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.agents import claude
from agentd.agents.events import load
from agentd.model.job import FAILURES, Failure, Job, Reply
from agentd.model.usage import Usage
from tests.agents.recordings import JSON, names, recorded, spoiled

SAID = "The proposal is written.\n\noutcome: done"
SESSION = "00000000-0000-4000-8000-000000000001"
COMPLETE = ("done", "resumed", "implemented", "busy_once", "denied")
FAILED: dict[str, tuple[Failure, str]] = {
    "busy": ("transient", "429"),
    "server_error": ("transient", "Internal server error"),
    "overloaded": ("transient", "Overloaded"),
    "dropped": ("transient", "Connection dropped"),
    "empty": ("transient", "empty or malformed response"),
    "garbage": ("transient", "empty or malformed response"),
    "key_refused": ("auth", "Invalid API key"),
    "no_key": ("auth", "Not logged in"),
    "no_credit": ("quota", "Credit balance is too low"),
    "bad_request": ("failed", "max_tokens: 999999 is too large"),
    "unknown_model": ("failed", "claude-none"),
    "too_long": ("failed", "Prompt is too long"),
    "safeguards": ("failed", "safeguards flagged this message"),
    "max_turns": ("failed", "ended in the middle by [calls] max_turns: Reached maximum number of turns (2)"),
    "max_cost": ("failed", "ended in the middle by [calls] max_cost: Reached maximum budget ($0.01)"),
    "no_server": ("failed", "the MCP server agentd did not start"),
    "bad_flag": ("failed", "unknown option '--no-such-flag'"),
    "lost": ("lost", "No conversation found"),
    "lost_title": ("lost", "does not match any session"),
    "killed": ("unreadable", "ended without a result"),
    "hung": ("hang", "ended before it gave a result"),
}


def read(name: str) -> Reply:
    return claude.read(recorded("claude", name))


def words(**more: Any) -> tuple[str, ...]:
    return claude.command(job(**more)).argv


def job(**more: Any) -> Job:
    given = {"prompt": "the prompt", "cwd": "/work", "folder": "/work/agentd/changes/add-oauth", **more}
    return Job("propose-1.1", "propose", "planner", 1, **given)


def after(argv: tuple[str, ...], flag: str) -> list[str]:
    """The words from a flag to the next one."""
    rest = argv[argv.index(flag) + 1 :]
    return list(rest[: next((at for at, word in enumerate(rest) if word.startswith("--")), len(rest))])


def test_every_recording_is_read_by_a_test() -> None:
    assert names("claude") == {*COMPLETE, *FAILED}


@pytest.mark.parametrize("name", COMPLETE)
def test_a_run_that_succeeded_is_complete(name: str) -> None:
    reply = read(name)
    assert (reply.complete, reply.error, reply.failure, reply.text) == (True, "", "", SAID)
    assert (reply.session, reply.model) == (SESSION, "claude-sonnet-5-5")


@pytest.mark.parametrize("name", FAILED)
def test_a_run_that_failed_says_what_and_why(name: str) -> None:
    failure, said = FAILED[name]
    reply = read(name)
    assert (reply.complete, reply.failure) == (False, failure)
    assert said in reply.error


def test_tokens_in_include_the_cached_ones() -> None:
    usage = read("done").usage
    assert (usage.tokens_in, usage.tokens_out, usage.cached_in) == (7129, 40, 1200)
    assert usage.cost == pytest.approx(0.012578)
    assert not read("done").cumulative


def test_a_resumed_conversation_costs_only_what_was_added() -> None:
    last = json.loads(recorded("claude", "resumed")[-2])
    assert last["total_cost_usd"] > 0.018
    usage = read("resumed").usage
    assert (usage.tokens_in, usage.tokens_out, usage.cached_in) == (5438, 20, 2600)
    assert usage.cost == pytest.approx(0.006136)


def test_usage_without_its_latest_form_is_taken_from_the_older_one() -> None:
    lines = recorded("claude", "done")
    last = json.loads(lines[-2])
    del last["model_usage_since_last_result"]
    assert claude.read([*lines[:-2], json.dumps(last)]).usage == Usage(7129, 40, None, cached_in=1200)


def test_a_call_that_nobody_answered_used_nothing_and_names_no_model() -> None:
    assert (read("key_refused").usage, read("key_refused").model) == (Usage(0, 0, 0.0, cached_in=0), "")
    assert read("killed").usage == Usage()


def test_a_denied_tool_is_named_and_the_reply_is_still_one() -> None:
    assert (read("denied").refused, read("denied").complete) == (("Write",), True)
    assert read("done").refused == ()


@pytest.mark.parametrize(
    ("said", "failure"),
    [
        ("You've hit your session limit · resets 3pm (Europe/Vienna)", "quota"),
        ("You've reached your Fable limit", "quota"),
        ("You're out of extra usage", "quota"),
        ("Your org is out of usage · add funds to continue", "quota"),
        ("Server is temporarily limiting requests (not your usage limit)", "transient"),
    ],
)
def test_a_plan_that_is_used_up_is_told_from_a_busy_service(said: str, failure: Failure) -> None:
    lines = [line.replace(read("busy").error, said) for line in recorded("claude", "busy")]
    assert (claude.read(lines).error, claude.read(lines).failure) == (said, failure)


@pytest.mark.parametrize(
    ("word", "failure"),
    [
        ("account_on_hold", "auth"),
        ("cloud_credential_error", "auth"),
        ("billing_error", "quota"),
        ("overloaded", "transient"),
        ("model_not_found", "failed"),
        ("a new word", "failed"),
    ],
)
def test_what_it_calls_a_failure_says_more_than_its_message(word: str, failure: Failure) -> None:
    lines = [line.replace('"error": "unknown"', f'"error": "{word}"') for line in recorded("claude", "bad_request")]
    assert claude.read(lines).failure == failure


def test_the_size_of_a_broken_answer_is_not_taken_for_a_status() -> None:
    lines = [line.replace("38 bytes", "403 bytes") for line in recorded("claude", "garbage")]
    assert "403 bytes" in claude.read(lines).error
    assert claude.read(lines).failure == "transient"


@pytest.mark.parametrize(
    "wrong",
    [
        {"is_error": None},
        {"is_error": 0},
        {"is_error": "false"},
        {"subtype": "error_during_execution"},
        {"subtype": ["success"]},
        {"subtype": None},
    ],
)
def test_a_result_that_does_not_say_success_in_so_many_words_is_none(wrong: dict[str, Any]) -> None:
    lines = recorded("claude", "done")
    assert not claude.read([*lines[:-2], json.dumps({**json.loads(lines[-2]), **wrong}), lines[-1]]).complete


def test_a_figure_that_cannot_be_is_left_out() -> None:
    lines = recorded("claude", "done")
    last = json.loads(lines[-2])
    last["model_usage_since_last_result"]["claude-sonnet-5-5"] |= {"costUSD": 10**400, "outputTokens": "many"}
    assert claude.read([*lines[:-2], json.dumps(last)]).usage == Usage(7129, 0, None, cached_in=1200)


def test_what_a_killed_program_had_warned_of_is_not_why_it_ended() -> None:
    lines = recorded("claude", "killed")
    end = {**json.loads(lines[-1]), "errors": ["Warning: Unknown --effort value 'most'"]}
    assert claude.read([*lines[:-1], json.dumps(end)]).failure == "unreadable"


def test_a_server_that_connects_later_is_waited_for() -> None:
    lines = [line.replace('"status": "connected"', '"status": "pending"') for line in recorded("claude", "done")]
    assert claude.read(lines).complete


@pytest.mark.parametrize("name", COMPLETE)
def test_a_transcript_without_its_result_is_not_complete(name: str) -> None:
    lines = [line for line in recorded("claude", name) if json.loads(line).get("type") != "result"]
    for end in range(len(lines) + 1):
        reply = claude.read(lines[:end])
        assert (reply.complete, reply.failure) == (False, "unreadable")


@given(spoiled("claude"))
def test_whatever_is_printed_is_read_and_nothing_but_success_is_complete(lines: list[str]) -> None:
    reply = claude.read(lines)
    results = [event for event in map(load, lines) if event and "agentd" not in event and event.get("type") == "result"]
    succeeded = bool(results) and results[-1].get("subtype") == "success" and results[-1].get("is_error") is False
    assert succeeded or not reply.complete
    assert reply.complete == (not reply.error) == (not reply.failure)
    assert reply.complete or reply.failure in FAILURES
    assert all(isinstance(text, str) for text in (reply.text, reply.session, reply.model, *reply.refused))


@given(st.lists(JSON.map(json.dumps) | st.text(max_size=20)))
def test_noise_is_no_reply(lines: list[str]) -> None:
    reply = claude.read(lines)
    assert (reply.complete, reply.failure, reply.usage) == (False, "unreadable", Usage())


def test_the_prompt_goes_in_by_the_standard_input_alone() -> None:
    command = claude.command(job(prompt="plan it"))
    assert command.stdin == "plan it"
    assert "plan it" not in " ".join(command.argv)
    assert command.argv[:5] == ("claude", "-p", "--output-format", "stream-json", "--verbose")
    assert (command.files, command.merges) == ({}, {})


def test_a_prompt_that_begins_like_a_command_is_none() -> None:
    assert claude.command(job(prompt="/compact it")).stdin == "\n/compact it"


def test_a_step_that_writes_documents_gets_their_tools_and_those_to_read() -> None:
    argv = words(tools=("create_proposal", "read_file"), server=("python", "-m", "agentd", "mcp"))
    assert after(argv, "--tools") == ["Read,Grep,Glob"]
    assert after(argv, "--allowedTools") == [
        "Read",
        "Grep",
        "Glob",
        "mcp__agentd__create_proposal",
        "mcp__agentd__read_file",
    ]
    [config] = after(argv, "--mcp-config")
    assert json.loads(config) == {"mcpServers": {"agentd": {"command": "python", "args": ["-m", "agentd", "mcp"]}}}
    assert {"--strict-mcp-config", "--disable-slash-commands"} <= {*argv}
    assert after(argv, "--permission-mode") == ["dontAsk"]


def test_without_a_server_there_is_none_not_even_the_persons_own() -> None:
    assert "--mcp-config" not in words()
    assert "--strict-mcp-config" in words()


def test_edits_are_granted_below_the_work_tree_and_the_runs_folder_only() -> None:
    inside = words(edits=True)
    assert after(inside, "--tools") == ["Read,Grep,Glob,Edit,Write"]
    assert after(inside, "--allowedTools") == ["Read", "Grep", "Glob", "Edit(./**)"]
    apart = words(edits=True, folder="/main/agentd/changes/a [1] *")
    assert after(apart, "--allowedTools")[3:] == ["Edit(./**)", r"Edit(//main/agentd/changes/a \[1\] \*/**)"]
    beside = words(edits=True, folder="/work-2")
    assert after(beside, "--allowedTools")[3:] == ["Edit(./**)", "Edit(//work-2/**)"]


def test_a_shell_is_granted_by_itself_and_searches_too() -> None:
    assert after(words(shell=True), "--tools") == ["Read,Bash"]
    assert after(words(shell=True), "--allowedTools") == ["Read", "Bash"]


def test_what_the_job_says_of_its_model_is_passed_on() -> None:
    argv = words(model="opus", effort="extra high", max_turns=40, max_cost=2.5, session="s-1", instructions="You plan.")
    assert after(argv, "--model") == ["opus"]
    assert after(argv, "--effort") == ["xhigh"]
    assert after(argv, "--max-turns") == ["40"]
    assert after(argv, "--max-budget-usd") == ["2.5"]
    assert after(argv, "--resume") == ["s-1"]
    assert after(argv, "--system-prompt") == ["You plan."]
    unsaid = {"--model", "--effort", "--max-turns", "--max-budget-usd", "--resume", "--system-prompt"}
    assert not unsaid & {*words()}
    assert after(words(effort="low"), "--effort") == ["low"]


def test_the_persons_own_program_and_words_are_used() -> None:
    given = job(model="opus", program=("env", "FOO=1", "claude"), args=("--betas", "a b"))
    argv = claude.command(given).argv
    assert (argv[:4], argv[-2:]) == (("env", "FOO=1", "claude", "-p"), ("--betas", "a b"))
    assert claude.command(replace(given, program=())).argv[0] == "claude"


def test_it_keeps_to_itself_sends_little_and_gives_up_a_refused_key_soon() -> None:
    env = claude.command(job()).env
    quiet = ("DISABLE_TELEMETRY", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER")
    small = ("CLAUDE_CODE_SIMPLE_SYSTEM_PROMPT", "CLAUDE_CODE_DISABLE_FILE_MENTIONS", "CLAUDE_CODE_DISABLE_AUTO_MEMORY")
    assert {env[name] for name in quiet + small} == {"1"}
    assert env["ENABLE_TOOL_SEARCH"] == "false"
    assert int(env["CLAUDE_CODE_MAX_RETRIES"]) in range(1, 5)
    assert not {"HOME", "CLAUDE_CONFIG_DIR", "ANTHROPIC_API_KEY"} & {*env}
