"""The ACP client is run for real, against a small agent that speaks the protocol and does as it is told."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.agents import acp
from agentd.agents.acp_messages import explain, stopped, usage_of
from agentd.agents.acp_permissions import Rules, allows, mode_wanted, name_of, option, own_tool
from agentd.agents.events import CallFailed
from agentd.model.job import Reply
from agentd.model.usage import Usage
from tests.agents.playing import HERE, Played, Project

MCP = {"title": "mcp__agentd__create_proposal", "kind": "other"}
PROPOSE = {"ask": MCP, "tool": "create_proposal", "arguments": {"title": "One"}}


class Stage(Project):
    """A project and the small agent, who keeps what it knows in its own folder."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.own = root / "agent"
        self.own.mkdir()

    def talk(self, deeds: list[Any] | str, answers: object = None, args: tuple[str, ...] = (), **job: Any) -> Played:
        words = [
            sys.executable,
            "-P",
            str(HERE / "acp_agent.py"),
            str(self.own),
            *([json.dumps(answers)] if answers else []),
        ]
        prompt = deeds if isinstance(deeds, str) else json.dumps(deeds)
        path = os.pathsep.join([str(Path(acp.__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
        return self.play(acp, self.job(prompt, program=tuple(words), args=args, **job), PYTHONPATH=path)

    def received(self, method: str) -> list[Any]:
        lines = (self.own / "received.jsonl").read_text().splitlines()
        return [params for name, params in map(json.loads, lines) if name == method]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def edit(path: str) -> dict[str, Any]:
    return {"title": f"Edit {path}", "kind": "edit", "locations": [{"path": path}]}


def test_a_conversation_ends_in_a_complete_reply_and_the_tools_of_the_step_are_really_called(stage: Stage) -> None:
    last = {
        "stopReason": "end_turn",
        "usage": {"inputTokens": 10, "outputTokens": 3, "totalTokens": 33, "cachedReadTokens": 20},
    }
    cost = {"sessionUpdate": "usage_update", "used": 5, "size": 100, "cost": {"amount": 0.5, "currency": "USD"}}
    deeds = [{"say": "I begin."}, PROPOSE, {"say": "All "}, {"say": "done."}, {"update": cost}, {"last": last}]
    played = stage.talk(deeds, {"strict": True}, server=stage.server, tools=("create_proposal",))
    usage = Usage(30, 3, 0.5, cached_in=20)
    assert played.reply == Reply("The proposal is written.All done.", complete=True, session="s-1", usage=usage)
    assert played.code == 0
    assert stage.called() == [["create_proposal", {"title": "One"}]]
    assert played.events("start")[0] | {"type": ""} == {
        "type": "",
        "session": "s-1",
        "model": "",
        "mode": "",
        "agent": "small",
        "version": "1.0",
    }
    hello = stage.received("initialize")[0]
    assert hello["clientCapabilities"] == {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}


def test_what_the_job_does_not_allow_is_refused_and_named(stage: Stage) -> None:
    outside = str(stage.root / "out.txt")
    deeds = [
        {
            "ask": {"title": "mcp__agentd__delete_everything", "kind": "other"},
            "tool": "delete_everything",
            "arguments": {},
        },
        {"ask": {"title": "mcp__other__create_proposal", "kind": "other"}},
        {"ask": edit("a.txt"), "write": str(stage.tree / "a.txt")},
        {"ask": edit(outside), "write": outside, "announced": True},
        {"ask": {"title": "touch ran.txt", "kind": "execute"}, "write": str(stage.tree / "ran.txt")},
        {"ask": {"title": "example.org", "kind": "fetch"}},
        {"say": "I could do nothing."},
    ]
    played = stage.talk(deeds, server=stage.server, tools=("create_proposal",))
    names = ("delete_everything", "mcp__other__create_proposal", "edit", "execute", "fetch")
    assert not played.reply.complete
    assert (played.reply.refused, played.reply.text) == (names, "I could do nothing.")
    assert "did not start the MCP server" in played.reply.error
    assert not stage.called()
    assert sorted(path.name for path in stage.tree.iterdir()) == ["agentd"]
    assert not Path(outside).exists()
    assert not any(event["allowed"] for event in played.events("permission"))


def test_what_the_job_allows_is_allowed_only_this_once(stage: Stage) -> None:
    deeds = [
        {"ask": edit("a.txt"), "write": str(stage.tree / "a.txt"), "announced": True},
        {"ask": edit(str(stage.folder / "b.md")), "write": str(stage.folder / "b.md")},
        {"ask": {"title": "touch ran.txt", "kind": "execute"}, "write": str(stage.tree / "ran.txt")},
        {"ask": edit(str(stage.root / "out.txt")), "write": str(stage.root / "out.txt")},
        {
            "ask": {"title": "Read", "kind": "read"},
            "options": [{"optionId": "yes", "kind": "allow_always", "name": "x"}],
        },
    ]
    reply = stage.talk(deeds, edits=True, shell=True).reply
    assert (reply.complete, reply.refused) == (True, ("edit", "read"))
    assert all((stage.tree / name).exists() for name in ("a.txt", "ran.txt"))
    assert (stage.folder / "b.md").exists()
    assert not (stage.root / "out.txt").exists()


def test_an_edit_that_nobody_was_asked_about_ends_the_call(stage: Stage) -> None:
    diff = {"type": "diff", "path": "a.txt", "newText": "x"}
    deeds = [
        {"unasked": {"title": "ls", "kind": "execute"}},
        {"unasked": {"title": "Note it", "kind": "think", "content": [diff]}},
    ]
    played = stage.talk([*deeds, {"say": "Never said."}])
    assert (played.reply.complete, played.reply.failure) == (False, "refused")
    assert played.reply.error == "The agent changed files without asking: Note it."
    assert played.events("note")[0]["text"] == "the agent ran without asking: ls"


def test_a_conversation_is_taken_up_where_it_was_left(stage: Stage) -> None:
    first = stage.talk([{"say": "First."}])
    again = stage.talk([{"say": "Second."}], session=first.reply.session)
    assert (again.reply.text, again.reply.session, again.reply.complete) == ("Second.", "s-1", True)
    assert [event["text"] for event in again.events("text")] == ["Second."]
    assert len(stage.received("session/new")) == len(stage.received("session/load")) == 1


def test_a_conversation_that_cannot_be_taken_up_is_lost(stage: Stage) -> None:
    unknown = stage.talk([], session="s-9").reply
    assert (unknown.complete, unknown.failure, unknown.error) == (False, "lost", "Resource not found")
    never = stage.talk([], {"initialize": {"agentCapabilities": {}}}, session="s-9").reply
    assert (never.failure, never.error) == ("lost", "The agent cannot take up a conversation.")


def test_instructions_come_before_the_first_prompt_and_not_again(stage: Stage) -> None:
    command = acp.command(stage.job("Do it.", instructions="You are a planner.", program=("x",)))
    assert command.stdin == "You are a planner.\n\nDo it."
    later = acp.command(stage.job("Do it.", instructions="You are a planner.", session="s", program=("x",)))
    assert later.stdin == "Do it."


def test_mode_model_and_effort_are_set_where_the_agent_offers_them(stage: Stage) -> None:
    select: dict[str, Any] = {"type": "select", "name": "x", "currentValue": "small"}
    offers = {
        "modes": {
            "currentModeId": "auto",
            "availableModes": [{"id": "auto", "name": "A"}, {"id": "read-only", "name": "R"}],
        },
        "configOptions": [
            {
                **select,
                "id": "m",
                "category": "model",
                "options": [{"group": "g", "name": "G", "options": [{"value": "big", "name": "Big"}]}],
            },
            {**select, "id": "e", "category": "thought_level", "options": [{"value": "high", "name": "High"}]},
        ],
    }
    played = stage.talk([], {"session/new": offers}, model="Big", effort="high")
    assert played.reply.model == "big"
    assert played.events("start")[0]["mode"] == "read-only"
    assert [params["modeId"] for params in stage.received("session/set_mode")] == ["read-only"]
    chosen = [(params["configId"], params["value"]) for params in stage.received("session/set_config_option")]
    assert chosen == [("m", "big"), ("e", "high")]


def test_what_the_agent_does_not_offer_or_take_is_noted_and_goes_on(stage: Stage) -> None:
    models = {"currentModelId": "small", "availableModels": [{"modelId": "small", "name": "Small"}]}
    answers = {"session/new": {"models": models}, "session/set_model": None}
    played = stage.talk([], answers, model="huge", effort="high")
    assert played.reply.complete
    assert played.reply.model == "small"
    assert [event["text"] for event in played.events("note")] == [
        "the agent did not take the model 'huge': session/set_model is not for you",
        "the agent offers no effort 'high'",
    ]


@pytest.mark.parametrize(
    ("deed", "failure", "error"),
    [
        ({"last": {"stopReason": "max_tokens"}}, "failed", "The agent came to the end of its model's tokens."),
        ({"fail": [429, "Slow down, retry after 7 s"]}, "transient", "Slow down, retry after 7 s"),
    ],
)
def test_everything_but_a_turn_that_ended_is_a_failure(stage: Stage, deed: Any, failure: str, error: str) -> None:
    played = stage.talk([{"say": "So far."}, deed])
    reply = played.reply
    assert (reply.complete, reply.failure, reply.error, reply.text) == (False, failure, error, "So far.")
    assert reply.retry_after == (7 if "7 s" in error else 0)
    assert played.code == 1


@pytest.mark.parametrize(
    ("trouble", "failure", "error"),
    [
        (stopped("max_turn_requests"), "failed", "its own limit of turns"),
        (stopped("cancelled"), "failed", "was cancelled"),
        (stopped("refusal"), "refused", "refuses to go on"),
        (stopped("bored"), "unreadable", "unknown here: 'bored'"),
        (stopped(""), "unreadable", "unknown here: ''"),
        (explain(-32000, "Authentication required", None), "auth", "Authentication required"),
        (explain(-32603, "Internal error", {"details": "usage limit reached"}), "quota", "Internal error: usage limit"),
        (explain(500, '{"error":{"message":"Broken."}}', None), "transient", "Broken."),
        (explain("x", None, [1]), "failed", "None"),
    ],
)
def test_every_failure_has_its_class_and_says_why(trouble: CallFailed, failure: str, error: str) -> None:
    assert trouble.failure == failure
    assert error in str(trouble)


def test_an_agent_that_ends_in_the_middle_is_told_by_what_it_printed(stage: Stage) -> None:
    reply = stage.talk([{"say": "So far."}, {"exit": 3, "stderr": "Error: not logged in"}]).reply
    assert (reply.complete, reply.failure) == (False, "auth")
    assert "Error: not logged in The agent ended with exit code 3 before it answered session/prompt." in reply.error


def test_lines_that_are_no_messages_are_passed_over(stage: Stage) -> None:
    strange = [
        "Welcome!",
        "null",
        "[1]",
        "5",
        '"x"',
        "{",
        '{"jsonrpc": "2.0"}',
        '{"jsonrpc":"2.0","method":"x/y"}',
        "\0",
    ]
    long = {"say": "x" * 3_000_000}
    played = stage.talk([*({"print": line} for line in strange), long, {"say": "y"}])
    assert played.reply.complete
    assert len(played.reply.text) == 3_000_001
    assert len(played.events("note")) == 5


def alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def test_the_agent_and_what_it_started_are_gone_afterwards(stage: Stage) -> None:
    read = {"unasked": {"title": "Read a.txt", "kind": "read"}}
    assert stage.talk([{"child": True}, read, read, {"unasked": edit("a.txt")}], edits=True, max_turns=3).reply.complete
    assert not alive(int((stage.own / "child.pid").read_text()))


def test_limits_of_tools_and_dollars_end_the_call(stage: Stage) -> None:
    read = {"unasked": {"title": "Read a.txt", "kind": "read"}}
    many = stage.talk([read, read, read, {"exit": 9}], max_turns=2).reply
    assert many.error == "The agent was ended by [calls] max_turns = 2: it called more tools."
    cost = {"sessionUpdate": "usage_update", "used": 5, "size": 100, "cost": {"amount": 0.5, "currency": "USD"}}
    spent = stage.talk([{"update": cost}, {"exit": 9}], max_cost=0.4).reply
    assert spent.error == "The agent was ended by [calls] max_cost = 0.4: it used 0.5 dollars."


def test_a_server_that_the_agent_did_not_start_is_a_failure(stage: Stage) -> None:
    assert "did not start the MCP server" in stage.talk([{"say": "ok"}], server=stage.server).reply.error
    failed = {"sessionUpdate": "tool_call", "toolCallId": "m", "title": "mcp__agentd__startup", "status": "failed"}
    said = {"content": [{"type": "content", "content": {"type": "text", "text": "no such file"}}]}
    reply = stage.talk([{"update": failed | said}, {"say": "ok"}], server=stage.server).reply
    assert (reply.failure, reply.error) == ("failed", "The agent could not start the MCP server agentd: no such file")


def test_an_agent_that_speaks_another_version_is_not_asked(stage: Stage) -> None:
    reply = stage.talk([], {"initialize": {"protocolVersion": 9}}).reply
    assert reply.error == "The agent speaks version 9 of the protocol, not 1."


def test_a_program_that_is_not_there_is_named(stage: Stage) -> None:
    played = stage.play(acp, stage.job(program=("no-such-agent", "--acp")))
    assert played.reply.error == "The program no-such-agent is not on the PATH, or cannot be executed."
    assert played.code == 1


def test_a_missing_package_is_named_with_the_way_to_get_it(stage: Stage) -> None:
    (stage.root / "acp.py").write_text("raise ImportError('not here')\n")
    path = os.pathsep.join([str(stage.root), str(Path(acp.__file__).parents[2])])
    played = stage.play(acp, stage.job(program=("true",)), PYTHONPATH=path)
    assert "pip install 'agentd-workflows[acp]'" in played.reply.error
    assert played.reply.failure == "failed"


def test_some_agents_are_told_in_their_own_way(stage: Stage) -> None:
    def env(text: str, **job: Any) -> dict[str, str]:
        return dict(acp.command(stage.job(program=tuple(text.split()), **job)).env)

    assert env("env FOO=1 /x/gemini --acp")["GEMINI_CLI_TRUST_WORKSPACE"] == "true"
    asks = json.loads(env("opencode acp", edits=True)["OPENCODE_CONFIG_CONTENT"])
    assert asks == {"permission": {"edit": "ask", "bash": "deny", "webfetch": "deny"}}
    assert set(env("other")) == {"AGENTD_ACP"}


@pytest.mark.parametrize(
    ("call", "tool"),
    [
        (MCP, "create_proposal"),
        ({"title": "create_proposal (agentd MCP Server)", "kind": "other"}, "create_proposal"),
        ({"title": "mcp.agentd.create_proposal", "kind": "execute"}, "create_proposal"),
        ({"title": "agentd_create_proposal"}, "create_proposal"),
        ({"title": "Make it so", "name": "mcp__agentd__create_proposal"}, "create_proposal"),
        ({"title": "agentd/create_proposal", "kind": "execute"}, ""),
        ({"title": "mcp__agentd__create_proposal; rm -r .", "kind": "execute"}, ""),
        ({"title": "mcp__agentd2__create_proposal"}, ""),
        ({"title": "create_proposal"}, ""),
        ({"title": 5, "kind": []}, ""),
        ({}, ""),
    ],
)
def test_a_tool_of_the_server_is_known_by_its_whole_name(call: dict[str, Any], tool: str) -> None:
    assert own_tool(call) == tool


def test_an_edit_is_one_whatever_it_is_called_and_stays_inside(tmp_path: Path) -> None:
    tree, folder = tmp_path / "tree", tmp_path / "run"
    for made in (tree / ".git", folder, tmp_path / "elsewhere"):
        made.mkdir(parents=True)
    (tree / "link").symlink_to(tmp_path / "elsewhere")
    rules = Rules(str(tree), str(folder), ("create_proposal",), edits=True)
    inside = ["a.txt", str(tree / "b" / "c.txt"), str(folder / "d.md"), "x/../a.txt"]
    outside = ["", "../a", "/etc/passwd", "link/a", ".git/hooks/x", str(tree), str(tmp_path / "treeish" / "a"), "a\0b"]
    for path in inside:
        assert allows(edit(path), rules), path
    for path in outside:
        assert not allows(edit(path), rules), path
        assert not allows({"kind": "think", "content": [{"type": "diff", "path": path}]}, rules), path
    assert not allows({"kind": "edit"}, rules)
    assert not allows({"kind": "edit", "locations": [{"path": "a"}, {"path": "../b"}]}, rules)
    assert not allows({**MCP, "content": [{"type": "diff", "path": "../a"}]}, rules)
    assert not allows(edit("a.txt"), Rules(str(tree), str(folder)))


def test_the_mode_chosen_is_one_in_which_the_agent_asks() -> None:
    every = ["yolo", "default", "read-only", "workspace-write"]
    assert mode_wanted(Rules("", ""), every) == "read-only"
    assert mode_wanted(Rules("", "", edits=True), every) == "read-only"
    assert mode_wanted(Rules("", "", edits=True, shell=True), every) == "workspace-write"
    assert mode_wanted(Rules("", ""), ["yolo", "default"]) == "default"
    assert mode_wanted(Rules("", ""), ["yolo"]) == ""


@pytest.mark.parametrize(
    ("answer", "usage"),
    [
        ({}, {}),
        ({"usage": {"inputTokens": 5, "outputTokens": 2, "totalTokens": 7, "cachedReadTokens": 4}}, (5, 2, 4)),
        ({"usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 7, "cachedReadTokens": 4}}, (5, 2, 4)),
        ({"_meta": {"quota": {"token_count": {"input_tokens": 5, "output_tokens": 2}}}}, (5, 2)),
        ({"usage": {"inputTokens": "5", "outputTokens": -1}, "_meta": []}, {}),
    ],
)
def test_usage_is_read_in_every_way_it_is_told(answer: dict[str, Any], usage: tuple[int, ...] | dict[str, Any]) -> None:
    assert usage_of(answer)[0] == dict(zip(("tokens_in", "tokens_out", "cached_in"), usage, strict=False))


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["edit", "execute", "diff", "a.txt"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["kind", "title", "path", "type", "content", "locations", "optionId"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)
calls = st.dictionaries(st.sampled_from(["kind", "title", "name", "content", "locations", "toolCallId"]), anything)


@given(calls, anything, anything)
def test_whatever_an_agent_says_of_a_call_is_answered(call: dict[str, Any], options: object, more: object) -> None:
    rules = Rules("/nowhere/tree", "/nowhere/run", ("create_proposal",))
    if allows(call, rules):
        assert call.get("kind") in ("read", "search", "think") or own_tool(call) == "create_proposal"
    assert name_of(call)
    assert isinstance(option(options, True), str)
    assert str(explain(more, more, options)) is not None
    usage_of({"usage": more, "_meta": options})


lines = st.lists(
    st.text(max_size=20)
    | st.dictionaries(
        st.sampled_from(["type", "status", "text", "usage", "refused", "failure", "agentd"]), anything
    ).map(json.dumps)
)


@given(lines)
def test_reading_never_raises_and_never_calls_complete_what_has_no_result(lines: list[str]) -> None:
    reply = acp.read(lines)
    assert reply.complete == (not reply.error)
    assert reply.complete == (not reply.failure)
    if reply.complete:
        assert any('"result"' in line and '"success"' in line for line in lines)
