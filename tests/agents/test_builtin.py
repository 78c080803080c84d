"""The built-in agent is run for real, against a scripted model that speaks the protocol of OpenAI's chat completions."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.agents import builtin
from agentd.agents.builtin_model import counted, explain, find_model, message_in
from agentd.agents.builtin_tools import hidden, offers
from agentd.agents.events import CallFailed
from tests.agents.playing import Played, Project
from tests.contract.model import FakeModel

KEY = "sk-test-0123456789abcdef0123456789"
WORD = 'correct"horse'
SCENES: list[dict[str, Any]] = [
    {
        "name": "work",
        "turns": [
            {"say": "I begin.", "call": {"create_proposal": {"title": "One"}}, "cached": 0.5},
            {"call": [{"read_project_file": {"path": "a.txt"}}, {"list_project_files": {}}]},
            {"call": {"search_project": {"text": "old"}}},
            {"call": {"create_proposal": {"title": ""}}},
            {"say": "All done."},
        ],
    },
    {
        "name": "change",
        "turns": [
            {"call": {"write_project_file": {"path": "src/b.py", "content": "x = 1\n"}}},
            {"call": {"replace_in_project_file": {"path": "a.txt", "old": "old", "new": "new"}}},
            {"call": {"write_project_file": {"path": "../out.txt", "content": "x"}}},
            {"call": {"run_command": {"command": "echo \"key=$MY_API_KEY\" && ls && exit 3"}}},
            {"say": "Changed."},
        ],
    },
    {
        "name": "quote",
        "turns": [
            {"call": {"search_project": {"text": f'"{KEY}"'}}},
            {"say": f'The key is "{KEY}", the password {WORD}.'},
        ],
    },
    {"name": "again", "turns": [{"say": "I remember."}]},
    {"name": "loop", "turns": [{"call": {"list_project_files": {}}}] * 9},
    {"name": "busy", "turns": [{"say": "x", "fail": [{"status": 429, "retry_after": 7}]}]},
    {"name": "broken", "turns": [{"say": "x", "fail": ["drop"]}]},
]  # fmt: skip


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel(SCENES) as model:
        yield model


class Stage(Project):
    """A project with a file in it, and the model to ask."""

    def __init__(self, root: Path, model: FakeModel) -> None:
        super().__init__(root)
        self.model = model
        (self.tree / "a.txt").write_text("the old text\n")

    def talk(self, scene: str, settings: dict[str, str] | None = None, **job: Any) -> Played:
        own = {"base_url": f"{self.model.url}/v1", "api_key_env": "MY_API_KEY"}
        asked = self.job(f"[[script:{scene}]] Go on.", model="fake-model", settings={**own, **(settings or {})}, **job)
        return self.play(builtin, asked, MY_API_KEY=KEY, OPENAI_API_KEY=None)

    def sent(self, scene: str) -> Any:
        """The last request of a scene."""
        return self.model.played(scene)[-1].json


@pytest.fixture
def stage(tmp_path: Path, model: FakeModel) -> Stage:
    return Stage(tmp_path, model)


def test_a_call_uses_the_tools_of_its_step_and_ends_in_a_complete_reply(stage: Stage) -> None:
    played = stage.talk("work", server=(*stage.server, "--noisy"), tools=("create_proposal",), instructions="Be short.")
    reply = played.reply
    assert (reply.complete, reply.text, reply.model, reply.error) == (True, "All done.", "fake-model", "")
    assert stage.called() == [["create_proposal", {"title": "One"}], ["create_proposal", {"title": ""}]]
    assert [event["text"] for event in played.events("text")] == ["I begin.", "All done."]
    assert [(event["tool"], event["text"]) for event in played.events("tool")] == [
        ("create_proposal", "The proposal is written."),
        ("read_project_file", "the old text"),
        ("list_project_files", "a.txt"),
        ("search_project", "a.txt:1: the old text"),
        ("create_proposal", "Error: The title is empty."),
    ]
    usage = reply.usage
    assert 0 < (usage.cached_in or 0) < (usage.tokens_in or 0)
    assert usage.tokens_out
    assert (usage.cost, reply.cumulative) == (None, False)
    first = stage.model.played("work")[0].json
    assert [tool["function"]["name"] for tool in first["tools"]] == [
        "read_project_file",
        "list_project_files",
        "search_project",
        "create_proposal",
    ]
    assert first["messages"][0] == {"role": "system", "content": "Be short."}


def test_files_are_changed_only_inside_the_work_tree_and_the_key_is_nowhere(stage: Stage) -> None:
    assert KEY not in str(builtin.command(stage.job(model="m", settings={"api_key_env": "MY_API_KEY"})))
    played = stage.talk("change", edits=True, shell=True)
    said = [event["text"] for event in played.events("tool")]
    assert played.reply.complete
    assert (stage.tree / "src" / "b.py").read_text() == "x = 1\n"
    assert (stage.tree / "a.txt").read_text() == "the new text\n"
    assert "is not inside" in said[2]
    assert not (stage.root / "out.txt").exists()
    assert said[3] == "[exit code 3]\nkey=\na.txt\nagentd\nsrc"
    kept = [path.read_text() for path in stage.root.rglob("*") if path.is_file()]
    assert not any(KEY in text for text in [*played.lines, *played.errors, *kept])


def test_a_conversation_is_kept_and_taken_up(stage: Stage) -> None:
    first = stage.talk("again")
    (kept,) = (stage.folder / "calls").iterdir()
    assert kept.name == f"builtin-{first.reply.session}.json"
    second = stage.talk("again", session=first.reply.session)
    assert (second.reply.complete, second.reply.session) == (True, first.reply.session)
    assert [message["role"] for message in stage.sent("again")["messages"]] == ["user", "assistant", "user"]


def test_a_conversation_is_kept_without_the_key_that_the_model_quotes_and_can_be_taken_up(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_PASSWORD", WORD)
    first = stage.talk("quote")
    (kept,) = (stage.folder / "calls").iterdir()
    text = kept.read_text()
    assert (first.reply.complete, KEY in text, WORD in json.dumps(json.loads(text))) == (True, False, False)
    assert json.dumps(WORD)[1:-1] not in text
    assert stage.talk("again", session=first.reply.session).reply.complete
    messages = stage.sent("again")["messages"]
    assert messages[-2]["content"] == 'The key is "[redacted]", the password [redacted].'


@pytest.mark.parametrize("session", ["0" * 32, "../../etc/passwd", "x"])
def test_a_conversation_that_was_never_kept_is_lost(stage: Stage, session: str) -> None:
    played = stage.talk("again", session=session)
    assert (played.reply.complete, played.reply.failure, played.code) == (False, "lost", 1)
    assert f"{session!r} was not found" in played.reply.error


@pytest.mark.parametrize(
    ("scene", "wait", "error"), [("busy", 7, "answered 429: Rate limit reached"), ("broken", 0, "gave no answer")]
)
def test_a_service_that_fails_is_asked_once(stage: Stage, scene: str, wait: float, error: str) -> None:
    reply = stage.talk(scene).reply
    assert (reply.complete, reply.failure, reply.retry_after) == (False, "transient", wait)
    assert error in reply.error
    assert len(stage.model.played(scene)) == 1
    assert not (stage.folder / "calls").exists()


def test_a_failure_has_its_class() -> None:
    from pydantic_ai import exceptions as of

    quota = {"error": {"message": "You have no more.", "code": "insufficient_quota"}}
    for error, failure, said in (
        (of.ModelHTTPError(429, "m", quota), "quota", "The model's service answered 429: You have no more."),
        (of.ModelHTTPError(401, "m", {"message": "Who?"}), "auth", "The model's service answered 401: Who?"),
        (of.ModelHTTPError(503, "m"), "transient", "The model's service answered 503: it gave no reason"),
        (of.ModelHTTPError(404, "m", "No such model."), "failed", "The model's service answered 404: No such model."),
        (
            of.ModelAPIError("m", "Connection error."),
            "transient",
            "The model's service gave no answer: Connection error.",
        ),
        (of.ContentFilterError("Not that. Never."), "refused", "The model refuses to go on: Not that."),
        (of.UnexpectedModelBehavior("Odd. Very."), "unreadable", "The model answered what cannot be used: Odd."),
        (
            of.UsageLimitExceeded("Too much. Really."),
            "failed",
            "It was ended in the middle by [calls] max_turns or max_cost: Too much.",
        ),
    ):
        made = explain(error)
        assert (made.failure, str(made)) == (failure, said)


def test_the_number_of_turns_has_a_limit(stage: Stage) -> None:
    before = len(stage.model.played("loop"))
    reply = stage.talk("loop", max_turns=3).reply
    assert (reply.complete, reply.failure) == (False, "failed")
    assert "limit of 3" in reply.error
    assert "[calls] max_turns" in reply.error
    assert reply.usage.tokens_in
    assert len(stage.model.played("loop")) - before == 3
    told = json.loads(builtin.command(stage.job(model="m")).env["AGENTD_BUILTIN"])
    assert told["max_turns"] == 0


DYING = """
import json
for line in (json.loads(input()) for _ in range(3)):
    if "id" in line:
        tools = [{"name": "create_proposal"}]
        print(json.dumps({"id": line["id"], "result": {"tools": tools}}), flush=True)
"""


def test_a_server_that_dies_ends_the_call(stage: Stage) -> None:
    reply = stage.talk("work", server=(sys.executable, "-c", DYING), tools=("create_proposal",)).reply
    assert (reply.complete, reply.failure) == (False, "failed")
    assert "The MCP server agentd failed in create_proposal" in reply.error


@pytest.mark.parametrize("server", [("/no/such/server",), (sys.executable, "-c", "raise SystemExit(3)")])
def test_a_server_that_does_not_start_is_a_failure(stage: Stage, server: tuple[str, ...]) -> None:
    reply = stage.talk("work", server=server, tools=("create_proposal",)).reply
    assert (reply.complete, reply.failure) == (False, "failed")
    assert "The MCP server agentd could not be started" in reply.error


def test_a_key_that_is_not_there_is_a_matter_of_logging_in(stage: Stage) -> None:
    reply = stage.talk("again", {"api_key_env": "NO_SUCH_KEY"}).reply
    assert (reply.failure, reply.error) == (
        "auth",
        "The variable NO_SUCH_KEY, which is to hold the API key, is not set.",
    )


def test_a_missing_package_is_named_with_the_way_to_get_it(stage: Stage) -> None:
    (stage.root / "pydantic_ai.py").write_text("raise ImportError('not here')\n")
    path = os.pathsep.join([str(stage.root), str(Path(builtin.__file__).parents[2])])
    played = stage.play(builtin, stage.job(model="m"), PYTHONPATH=path)
    assert "pip install 'agentd-workflows[api]'" in played.reply.error
    assert played.reply.failure == "failed"


@pytest.mark.parametrize(
    ("model", "base_url", "kind"),
    [
        ("gpt-5", "", "OpenAIResponsesModel"),
        ("openai-chat:gpt-5", "", "OpenAIChatModel"),
        ("qwen3:8b", "http://127.0.0.1:1/v1", "OpenAIChatModel"),
        ("openai:gpt-5", "http://127.0.0.1:1/v1", "OpenAIChatModel"),
        ("openai-responses:gpt-5", "http://127.0.0.1:1/v1", "OpenAIResponsesModel"),
    ],
)
def test_the_model_is_found_by_its_provider_or_its_address(model: str, base_url: str, kind: str) -> None:
    found = find_model({"model": model, "base_url": base_url}, "k" * 20)
    assert type(found).__name__ == kind
    assert found.model_name in ("gpt-5", "qwen3:8b")


def test_a_model_that_nobody_has_is_refused() -> None:
    for name in ("nobody:x", "anthropic:x"):
        with pytest.raises(CallFailed):
            find_model({"model": name, "base_url": ""}, "k" * 20)


def tools(root: Path) -> dict[str, Any]:
    return {offer.name: offer.do for offer in offers(str(root), edits=True, shell=True)}


@pytest.mark.parametrize(
    "path", ["../out.txt", "/etc/passwd", "link/out.txt", ".git/config", "sub/.git/x", ".env", ".env.local", "x/id_rsa",
             "a/server.key", "env-link", "credentials", ".ssh/config"]
)  # fmt: skip
def test_no_tool_reaches_outside_or_touches_secrets(tmp_path: Path, path: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / ".git", root / "sub" / ".git", outside):
        folder.mkdir(parents=True)
    for file in (outside / "out.txt", root / ".env", root / ".git" / "config"):
        file.write_text("secret")
    (root / "link").symlink_to(outside)
    (root / "env-link").symlink_to(".env")
    does = tools(root)
    for said in (
        does["read_project_file"](path=path),
        does["write_project_file"](path=path, content="x"),
        does["replace_in_project_file"](path=path, old="secret", new="x"),
    ):
        assert said.startswith("Error: ")
    assert does["search_project"](text="secret") == "Nothing was found."
    assert does["list_project_files"]() == "There are none."
    assert {file.read_text() for file in (outside / "out.txt", root / ".env")} == {"secret"}


def test_files_that_only_look_a_little_like_secrets_are_read() -> None:
    assert not any(map(hidden, [".env.example", "src/credentials/a.py", "monkey.py", "keys.md", ".github/x", "a.keys"]))


def test_long_files_lists_and_outputs_are_cut(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("".join(f"line {number}\n" for number in range(2500)))
    (tmp_path / "bytes.bin").write_bytes(b"\xff\xfe")
    does = tools(tmp_path)
    first = does["read_project_file"](path="long.txt")
    assert first.endswith("line 1999\n[500 more lines; go on with first_line: 2001]")
    assert does["read_project_file"](path="long.txt", first_line=2001).startswith("line 2000\n")
    assert "no UTF-8" in does["read_project_file"](path="bytes.bin")
    assert does["search_project"](text=r"line 1\d$", regex=True).count("\n") == 9
    assert does["search_project"](text="(", regex=True).startswith("Error: '(' is no pattern")
    assert does["list_project_files"](pattern="*.bin") == "bytes.bin"
    flood = does["run_command"](command="yes | head -c 100000 | tr -d '\\n'")
    assert len(flood) < 31_000
    assert "[…]" in flood
    assert does["run_command"](command="sleep 30", seconds=1).startswith("[ended after")


def test_arguments_of_any_kind_are_answered(tmp_path: Path) -> None:
    does = tools(tmp_path)
    assert does["read_project_file"](path=5).startswith("Error: ")
    assert does["read_project_file"](nothing="x").startswith("Error: ")
    assert does["run_command"](command="true", seconds="x").startswith("Error: ")
    assert (
        "2 times" in [(tmp_path / "a").write_text("b b"), does["replace_in_project_file"](path="a", old="b", new="")][1]
    )
    assert does["replace_in_project_file"](path="a", old="", new="").startswith("Error: ")


def test_a_service_that_counts_nothing_leaves_the_usage_unknown() -> None:
    from pydantic_ai.usage import RunUsage

    assert counted(RunUsage()) is None
    assert counted(RunUsage(input_tokens=3, cache_read_tokens=2)) == {"tokens_in": 3, "tokens_out": 0, "cached_in": 2}


def test_the_words_of_a_service_are_found_however_they_are_wrapped() -> None:
    assert message_in({"error": {"message": "No  credit."}}) == message_in({"message": "No credit."}) == "No credit."
    assert message_in({"error": "No credit."}) == message_in("No credit.") == "No credit."
    assert message_in({"x": 1}) == message_in(None) == ""
    assert explain(RuntimeError("Something. More.")).failure == "failed"


values = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.text(max_size=3), max_size=2)
fields = st.sampled_from(
    ["type", "status", "text", "usage", "refused", "failure", "retry_after", "cumulative", "error"]
)
events = st.dictionaries(fields, values).flatmap(
    lambda some: st.sampled_from([some, {"type": "result", "status": "success"} | some])
)


@given(st.lists(st.text(max_size=20) | events.map(json.dumps)))
def test_reading_never_raises_and_never_calls_complete_what_has_no_result(lines: list[str]) -> None:
    reply = builtin.read(lines)
    assert reply.complete == (not reply.error) == (not reply.failure)
    if reply.complete:
        assert any('"result"' in line and '"success"' in line for line in lines)
