"""What real runs of Codex printed is read for what it was, and a job becomes words that grant no more than it does."""

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.agents import codex
from agentd.agents.codex_sessions import answered_by
from agentd.agents.events import load
from agentd.agents.table import ADAPTERS
from agentd.calling.transcripts import make_reply
from agentd.model.job import FAILURES, Failure, Job, Reply
from agentd.model.usage import Usage
from agentd.usage.prices import price
from tests.agents.recordings import JSON, names, recorded, spoiled

SAID = "The proposal is written.\n\noutcome: done"
SESSION = "00000000-0000-4000-8000-000000000001"
REFUSED = {"patch_refused": "apply_patch", "write_refused": "exec_command", "tool_refused": "create_review"}
COMPLETE = ("done", "resumed", "implemented", "fallback_model", "busy_once", *REFUSED)
FAILED: dict[str, tuple[Failure, str]] = {
    "busy": ("transient", "429 Too Many Requests"),
    "server_error": ("transient", "high demand"),
    "at_capacity": ("transient", "at capacity"),
    "dropped": ("transient", "stream disconnected"),
    "empty": ("transient", "stream disconnected"),
    "garbage": ("transient", "stream disconnected"),
    "key_refused": ("auth", "Incorrect API key provided"),
    "no_key": ("auth", "Missing environment variable"),
    "no_quota": ("quota", "Quota exceeded"),
    "usage_limit": ("quota", "hit your usage limit"),
    "bad_request": ("failed", "Unsupported parameter: stream_options"),
    "unknown_model": ("failed", "gpt-none does not exist"),
    "no_server": ("failed", "the MCP server agentd did not start: handshaking"),
    "home_below_tmp": ("failed", "its sandbox does not work with CODEX_HOME below the temporary folder"),
    "home_below_tmp_unseen": ("failed", "its sandbox does not work with CODEX_HOME below the temporary folder"),
    "no_namespaces": ("failed", "its sandbox does not work here, so it could neither read nor write: bwrap: Creating"),
    "bad_flag": ("failed", "unexpected argument '--no-such-flag'"),
    "lost": ("lost", "no rollout found"),
    "killed": ("unreadable", "ended without a result"),
    "interrupted": ("unreadable", "ended without a result"),
    "hung": ("hang", "ended before it gave a result"),
}


def read(name: str) -> Reply:
    return codex.read(recorded("codex", name))


TURN = '{"type": "turn_context", "payload": {"model": "%s"}}\n'


def test_the_model_that_answered_is_in_codexs_own_file_of_the_conversation(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "2026" / "11" / "17"
    folder.mkdir(parents=True)
    other, mine = (folder / f"rollout-2026-11-17T01-57-01-{name}.jsonl" for name in (SESSION[::-1], SESSION))
    other.write_text(TURN % "gpt-other")
    mine.write_text(
        '{"type": "session_meta", "payload": {}}\nno json "turn_context"\n' + TURN % "gpt-a" + TURN % "gpt-b"
    )
    assert answered_by(SESSION, [str(tmp_path / "none"), str(tmp_path)]) == "gpt-b"
    for session in ("", "*", "../*", "0" * 200, "00000000-0000-4000-8000-00000000dead"):
        assert answered_by(session, [str(tmp_path)]) == ""
    mine.unlink()
    mine.mkdir()
    assert answered_by(SESSION, [str(tmp_path)]) == ""


def test_the_reply_of_a_call_has_that_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    folder = tmp_path / "sessions" / "2026" / "11" / "17"
    folder.mkdir(parents=True)
    (folder / f"rollout-2026-11-17T01-57-01-{SESSION}.jsonl").write_text(TURN % "gpt-5")
    reply = make_reply(ADAPTERS["codex"], "codex", list(recorded("codex", "done")), ())
    assert reply.model == "gpt-5"
    # 5886 tokens in at 1.25 a million, 1200 from the cache at a tenth of it, 60 out at 10
    assert price(reply.usage, None, reply.model) == pytest.approx(
        (5886 * 1.25 + 1200 * 0.125 + 60 * 10) / 1e6, rel=0.01
    )


def job(**more: Any) -> Job:
    given = {"prompt": "the prompt", "cwd": "/work", "folder": "/work/agentd/changes/add-oauth", **more}
    return Job("propose-1.1", "propose", "planner", 1, **given)


def settings(**more: Any) -> dict[str, Any]:
    """The configuration that the words of a job amount to, by key."""
    argv = codex.command(job(**more)).argv
    pairs = [argv[at + 1].partition("=") for at, word in enumerate(argv) if word == "-c"]
    return {key: tomllib.loads(f"value={value}")["value"] for key, _, value in pairs}


def test_every_recording_is_read_by_a_test() -> None:
    assert names("codex") == {*COMPLETE, *FAILED}


@pytest.mark.parametrize("name", COMPLETE)
def test_a_run_that_succeeded_is_complete(name: str) -> None:
    reply = read(name)
    assert (reply.complete, reply.error, reply.failure, reply.text) == (True, "", "", SAID)
    assert (reply.session, reply.model) == (SESSION, "")


@pytest.mark.parametrize("name", FAILED)
def test_a_run_that_failed_says_what_and_why(name: str) -> None:
    failure, said = FAILED[name]
    reply = read(name)
    assert (reply.complete, reply.failure) == (False, failure)
    assert said in reply.error


def test_usage_counts_the_whole_conversation_and_says_so() -> None:
    assert (read("done").usage, read("done").cumulative) == (Usage(7086, 60, cached_in=1200), True)
    assert (read("resumed").usage, read("resumed").cumulative) == (Usage(9667, 80, cached_in=3200), True)
    assert read("busy").usage == Usage()


@pytest.mark.parametrize("name", COMPLETE)
def test_a_refused_tool_is_named_and_the_reply_is_still_one(name: str) -> None:
    assert read(name).refused == ((REFUSED[name],) if name in REFUSED else ())


def test_a_tool_that_failed_by_itself_was_not_refused() -> None:
    why = "MCP tool call requires approval, but approval policy is never"
    lines = [line.replace(why, "timed out") for line in recorded("codex", "tool_refused")]
    assert codex.read(lines).refused == ()


def test_a_port_is_not_taken_for_a_status() -> None:
    said = "error sending request for url (https://api.example.com:403/v1/responses)"
    lines = [line.replace("error sending request", said) for line in recorded("codex", "dropped")]
    assert (said in codex.read(lines).error, codex.read(lines).failure) == (True, "transient")


def test_an_item_of_no_kind_is_passed_over() -> None:
    lines = recorded("codex", "done")
    item = json.dumps({"type": "item.completed", "item": {"type": ["file_change"], "status": {}}})
    assert codex.read([item, *lines]) == read("done")


def test_a_sandbox_that_nobody_needed_spoils_nothing() -> None:
    warning = json.loads(recorded("codex", "home_below_tmp_unseen")[-1])["errors"]
    end = json.dumps({"agentd": "end", "code": 0, "ended": "exit", "errors": warning})
    assert codex.read([*recorded("codex", "done")[:-1], end]).complete
    assert codex.read([*recorded("codex", "implemented")[:-1], end]).complete


def test_a_turn_that_failed_after_another_was_completed_is_not_complete() -> None:
    failed = recorded("codex", "server_error")[-2]
    assert json.loads(failed)["type"] == "turn.failed"
    lines = recorded("codex", "done")
    reply = codex.read([*lines[:-1], failed, lines[-1]])
    assert (reply.complete, reply.failure) == (False, "transient")


@pytest.mark.parametrize("name", COMPLETE)
def test_a_transcript_without_its_result_is_not_complete(name: str) -> None:
    lines = [line for line in recorded("codex", name) if json.loads(line).get("type") != "turn.completed"]
    for end in range(len(lines) + 1):
        reply = codex.read(lines[:end])
        assert (reply.complete, reply.failure) == (False, "unreadable")


@given(spoiled("codex"))
def test_whatever_is_printed_is_read_and_nothing_but_success_is_complete(lines: list[str]) -> None:
    reply = codex.read(lines)
    events = [event for event in map(load, lines) if event and "agentd" not in event]
    ends = [event["type"] for event in events if event.get("type") in ("turn.completed", "turn.failed")]
    assert ends[-1:] == ["turn.completed"] or not reply.complete
    assert reply.complete == (not reply.error) == (not reply.failure)
    assert reply.complete or reply.failure in FAILURES
    assert all(isinstance(text, str) for text in (reply.text, reply.session, *reply.refused))


@given(st.lists(JSON.map(json.dumps) | st.text(max_size=20)))
def test_noise_is_no_reply(lines: list[str]) -> None:
    reply = codex.read(lines)
    assert (reply.complete, reply.failure, reply.usage) == (False, "unreadable", Usage())


def test_the_prompt_goes_in_by_the_standard_input_alone() -> None:
    command = codex.command(job(prompt="plan it"))
    assert command.stdin == "plan it"
    assert "plan it" not in " ".join(command.argv)
    assert (command.argv[:4], command.argv[-1]) == (("codex", "exec", "--json", "--skip-git-repo-check"), "-")
    assert (command.env, command.files, command.merges) == ({}, {}, {})


def test_a_conversation_is_resumed_with_the_same_words() -> None:
    begun, resumed = (codex.command(job(model="m", edits=True, session=session)).argv for session in ("", "s-1"))
    assert resumed == (*begun[:-1], "resume", "s-1", "-")


def test_a_job_without_edits_writes_nowhere() -> None:
    for shell in (False, True):
        found = settings(shell=shell)
        assert (found["sandbox_mode"], found["approval_policy"]) == ("read-only", "never")


def test_edits_are_granted_below_the_work_tree_and_the_runs_folder_only() -> None:
    folder = '/main/agentd/changes/a "b" \\c'
    found = settings(edits=True, folder=folder)
    assert (found["sandbox_mode"], found["approval_policy"]) == ("workspace-write", "never")
    place = "sandbox_workspace_write"
    assert found[f"{place}.writable_roots"] == [folder]
    assert (found[f"{place}.exclude_slash_tmp"], found[f"{place}.exclude_tmpdir_env_var"]) == (True, True)


def test_commands_may_use_the_temporary_folder() -> None:
    found = settings(edits=True, shell=True)
    place = "sandbox_workspace_write"
    assert (found[f"{place}.exclude_slash_tmp"], found[f"{place}.exclude_tmpdir_env_var"]) == (False, False)


def test_the_server_is_waited_for_and_offers_the_tools_of_the_step() -> None:
    found = settings(tools=("create_proposal",), server=("python", "-m", "agentd", "mcp"), env={"EXTRA": "secret"})
    place = "mcp_servers.agentd"
    assert (found[f"{place}.command"], found[f"{place}.args"]) == ("python", ["-m", "agentd", "mcp"])
    assert found[f"{place}.enabled_tools"] == ["create_proposal"]
    assert (found[f"{place}.required"], found[f"{place}.default_tools_approval_mode"]) == (True, "approve")
    assert {"AGENTD_CALL", "AGENTD_DESK", "EXTRA"} <= {*found[f"{place}.env_vars"]}
    assert "secret" not in str(found)


def test_without_a_server_there_is_none() -> None:
    assert not [key for key in settings() if key.startswith("mcp_servers")]


def test_what_no_job_needs_is_switched_off() -> None:
    found = settings()
    off = ("features.plugins", "features.apps", "agents.enabled", "skills.include_instructions", "analytics.enabled")
    assert [found[key] for key in off] == [False] * 5
    assert (found["web_search"], found["check_for_update_on_startup"]) == ("disabled", False)


def test_instructions_take_the_place_of_its_own_in_a_file() -> None:
    command = codex.command(job(instructions="You plan.", scratch="/run/files"))
    assert command.files == {"codex-instructions.md": "You plan."}
    found = settings(instructions="You plan.", scratch="/run/files")
    assert found["model_instructions_file"] == "/run/files/codex-instructions.md"


def test_what_the_job_says_of_its_model_is_passed_on() -> None:
    argv = codex.command(job(model="gpt-6-sol")).argv
    assert argv[argv.index("--model") + 1] == "gpt-6-sol"
    assert settings(effort="extra high")["model_reasoning_effort"] == "xhigh"
    assert settings(effort="low")["model_reasoning_effort"] == "low"
    assert "--model" not in codex.command(job()).argv
    assert "model_reasoning_effort" not in settings()


def test_the_persons_own_program_and_words_are_used() -> None:
    given = job(session="s-1", program=("env", "FOO=1", "codex"), args=("-c", 'model_provider="lab"'))
    argv = codex.command(given).argv
    assert (argv[:4], argv[-5:]) == (
        ("env", "FOO=1", "codex", "exec"),
        ("-c", 'model_provider="lab"', "resume", "s-1", "-"),
    )
    assert codex.command(replace(given, program=())).argv[0] == "codex"


def test_agentd_counts_what_it_does_as_it_has_no_cap_of_its_own() -> None:
    types = [json.loads(line).get("type") for line in recorded("codex", "implemented")]
    assert sum(kind in ADAPTERS["codex"].turns for kind in types) == 3
