"""The scripted model does what its scenes say, in every protocol, and fails as they say."""

import http.client
import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.model import FakeModel
from tests.contract.model.speakers import SPEAKERS, Speaker, post, sse

ROOT = Path(__file__).parents[3]
SCENES = r"""
scenes:
  - name: propose
    when: 'propose (?P<run>[\w-]+) (?P<number>\d+)'
    turns:
      - say: I begin.
        call:
          - create_proposal: {change_id: "{{run}}", iteration: "{{number:int}}", list: ["about {{run}}"]}
          - Read: {path: a}
      - call: {agentd.create_proposal: {change_id: again}}
      - say: "{{run}} is proposed."
        cached: 0.5
  - {name: other, when: something else, turns: [{say: Other.}]}
  - {name: lost, when: find the lost, turns: [{call: {no_such_tool: {}}}]}
  - {name: same, with: Read, when: each in its way, turns: [{call: {Read: {path: b}}}]}
  - {name: same, with: apply_patch, when: each in its way, turns: [{call: {apply_patch: "*** Begin {no json"}}]}
  - {name: same, when: each in its way, turns: [{say: I cannot.}]}
  - {name: wild, when: do as you like, turns: [{call: {"!no_such_tool": "{no json"}}]}
  - {name: rates, when: rates, turns: [{say: Done., fail: [{status: 429, retry_after: 3}, 503, quota]}]}
  - {name: down, when: always down, turns: [{say: Done., fail: [{status: 500, always: true}]}]}
  - {name: cut, turns: [{say: All of it., fail: [cut]}]}
  - {name: garbage, turns: [{say: All of it., fail: [garbage]}]}
  - {name: drop, turns: [{say: All of it., fail: [drop]}]}
  - {name: empty, turns: [{say: All of it., fail: [empty]}]}
  - {name: hang, turns: [{say: All of it., fail: [hang]}]}
  - {name: own, turns: [{say: Done., fail: [{status: 418, body: {mine: true}}]}]}
"""
NAMES = sorted(SPEAKERS)
BEGUN = [
    ("agentd_create_proposal", {"change_id": "add-x", "iteration": 7, "list": ["about add-x"]}),
    ("Read", {"path": "a"}),
]


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with FakeModel(SCENES) as model:
        yield model


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def talk(model: FakeModel, name: str, stream: bool = False, **more: Any) -> Speaker:
    return SPEAKERS[name](model.url, stream, **more)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_scene_is_played_turn_by_turn(model: FakeModel, name: str, stream: bool) -> None:
    speaker = talk(model, name, stream)
    said, called = speaker.ask("Please propose add-x 7 now.")
    assert said == "I begin."
    assert [(tool.removeprefix("agentd_"), args) for tool, args in called] == [
        (tool.removeprefix("agentd_"), args) for tool, args in BEGUN
    ]
    assert speaker.ask()[1] == [("agentd_create_proposal", {"change_id": "again"})]
    assert speaker.ask() == ("add-x is proposed.", [])
    assert [request.turn for request in model.played("propose")] == [0, 1, 2]
    size = model.requests[-1].size
    assert speaker.usage == (size // 4, len("add-x is proposed.") // 4, int(size // 4 * 0.5))


def test_a_repeated_request_is_answered_the_same(model: FakeModel, name: str) -> None:
    speaker = talk(model, name)
    first = speaker.ask("propose add-x 7")
    speaker.history.pop()
    again = talk(model, name)
    assert again.ask("propose add-x 7") == first


def test_the_newest_message_that_matches_chooses_the_scene(model: FakeModel, name: str) -> None:
    speaker = talk(model, name)
    speaker.ask("propose add-x 7")
    speaker.ask()
    assert speaker.ask("something else")[0] == "Other."
    assert speaker.ask("and then?")[0] == "FAKE MODEL: the scene other has no turn 2."
    assert len(speaker.ask("propose add-y 8")[1]) == 2


def test_a_mark_names_a_scene_whatever_it_waits_for(model: FakeModel, name: str) -> None:
    assert talk(model, name).ask("propose x 1 [[script:other]]")[0] == "Other."


def test_a_tool_that_is_not_there_is_said_aloud(model: FakeModel, name: str) -> None:
    said, called = talk(model, name).ask("find the lost")
    assert said.startswith("FAKE MODEL: no tool 'no_such_tool' in this request, which declares: ")
    assert not called


def test_a_scene_may_call_what_nobody_declared_with_what_is_no_json(model: FakeModel) -> None:
    for name, path, key in (("anthropic", "content", "input"), ("openai", "output", "arguments")):
        speaker = talk(model, name)
        speaker.history.append(speaker.said("do as you like"))
        (call,) = json.loads(post(model.url, speaker.where(), speaker.body())[1])[path]
        assert (call["name"], call[key]) == ("no_such_tool", "{no json")


def test_of_scenes_for_the_same_words_the_one_is_played_whose_tool_is_there(model: FakeModel, name: str) -> None:
    ((tool, args),) = talk(model, name).ask("each in its way")[1]
    assert (tool.removeprefix("agentd_"), args) == ("Read", {"path": "b"})
    assert talk(model, name, tools=("Write",)).ask("each in its way")[0] == "I cannot."


def test_a_tool_that_takes_any_text_gets_it_as_it_is(model: FakeModel) -> None:
    said = {"type": "message", "role": "user", "content": "each in its way"}
    body = {"model": "m", "tools": [{"type": "custom", "name": "apply_patch"}], "input": [said]}
    (call,) = json.loads(post(model.url, "/v1/responses", body)[1])["output"]
    assert (call["type"], call["name"], call["input"]) == ("custom_tool_call", "apply_patch", "*** Begin {no json")


def test_a_request_without_tools_gets_a_short_answer_and_one_with_tools_a_loud_one(model: FakeModel, name: str) -> None:
    assert talk(model, name, tools=()).ask("Find a title.")[0] == "A short answer."
    assert talk(model, name).ask("Find a title.")[0] == "FAKE MODEL: no scene matches this conversation."
    assert talk(model, name, tools=()).ask("Find a title for: propose x 1")[0] == "A short answer."
    assert model.played("propose") == []


def refused(speaker: Speaker, text: str) -> tuple[int, Any, str | None]:
    with pytest.raises(urllib.error.HTTPError) as caught:
        speaker.ask(text)
    speaker.history.pop()
    with caught.value as error:
        return error.code, json.loads(error.read()), error.headers["retry-after"]


def test_failures_come_one_after_another_and_then_the_answer(model: FakeModel, name: str) -> None:
    speaker = talk(model, name)
    code, body, wait = refused(speaker, "rates")
    assert (code, wait) == (429, "3")
    assert {"anthropic": "rate_limit_error", "gemini": "RESOURCE_EXHAUSTED"}.get(name, "rate_limit") in json.dumps(body)
    assert refused(speaker, "rates")[0] == 503
    code, body, _ = refused(speaker, "rates")
    shapes = {"anthropic": (400, "credit balance is too low"), "gemini": (429, "PerDay")}
    status, words = shapes.get(name, (429, "insufficient_quota"))
    assert code == status
    assert words in json.dumps(body)
    assert speaker.ask("rates")[0] == "Done."
    assert [request.fault for request in model.requests] == ["status 429", "status 503", "quota", ""]


def test_a_failure_for_ever_is_never_used_up(model: FakeModel, name: str) -> None:
    assert {refused(talk(model, name), "always down")[0] for _ in range(4)} == {500}


def test_a_mended_model_fails_no_more(model: FakeModel, name: str) -> None:
    refused(talk(model, name), "always down")
    model.mend()
    assert talk(model, name).ask("always down")[0] == "Done."


def test_a_failure_may_bring_its_own_body(model: FakeModel, name: str) -> None:
    assert refused(talk(model, name), "[[script:own]]")[:2] == (418, {"mine": True})


def test_a_cut_stream_is_half_of_one(model: FakeModel, name: str) -> None:
    speaker = talk(model, name, stream=True)
    speaker.history.append(speaker.said("[[script:cut]]"))
    with pytest.raises(http.client.IncompleteRead) as caught:
        post(model.url, speaker.where(), speaker.body())
    assert caught.value.partial.startswith((b"data: {", b"event: "))
    assert speaker.ask("[[script:cut]]")[0] == "All of it."


def test_garbage_in_a_stream_is_no_json(model: FakeModel, name: str) -> None:
    speaker = talk(model, name, stream=True)
    speaker.history.append(speaker.said("[[script:garbage]]"))
    with pytest.raises(json.JSONDecodeError):
        sse(post(model.url, speaker.where(), speaker.body())[1])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_empty_answer_has_nothing_in_it(model: FakeModel, name: str, stream: bool) -> None:
    speaker = talk(model, name, stream)
    speaker.history.append(speaker.said("[[script:empty]]"))
    assert post(model.url, speaker.where(), speaker.body())[1] == b""


def test_a_dropped_connection_answers_nothing(model: FakeModel, name: str) -> None:
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        talk(model, name).ask("[[script:drop]]")


def test_who_hangs_is_let_go_when_the_model_ends() -> None:
    with FakeModel(SCENES) as model:
        seen = threading.Event()

        def ask() -> None:
            with pytest.raises(http.client.RemoteDisconnected):
                talk(model, "anthropic").ask("[[script:hang]]")
            seen.set()

        thread = threading.Thread(target=ask)
        thread.start()
        while not model.requests:
            thread.join(0.01)
        assert not seen.is_set()
    thread.join(20)
    assert seen.is_set()


def test_claude_finds_a_hidden_tool_by_a_search(model: FakeModel) -> None:
    speaker = talk(model, "anthropic", tools=("ToolSearch", "Read"))
    assert speaker.ask("propose add-x 7") == ("", [("ToolSearch", {"query": "create_proposal", "max_results": 5})])
    speaker.tools = ("ToolSearch", "Read", "mcp__agentd__create_proposal")
    said, called = speaker.ask()
    assert (said, called[0][0]) == ("I begin.", "mcp__agentd__create_proposal")


def test_a_search_that_finds_nothing_is_not_repeated(model: FakeModel) -> None:
    speaker = talk(model, "anthropic", tools=("ToolSearch",))
    speaker.ask("find the lost")
    assert speaker.ask()[0].startswith("FAKE MODEL: no tool 'no_such_tool'")


def responses(model: FakeModel, items: list[Any], tools: list[Any]) -> Any:
    body = {"model": "m", "tools": tools, "input": items}
    return json.loads(post(model.url, "/v1/responses", body)[1])["output"]


def test_codex_finds_a_hidden_tool_by_a_search(model: FakeModel) -> None:
    asked: list[Any] = [{"type": "message", "role": "user", "content": "propose add-x 7"}]
    tools = [{"type": "tool_search"}, {"type": "function", "name": "Read"}]
    (search,) = responses(model, asked, tools)
    assert (search["type"], search["execution"]) == ("tool_search_call", "client")
    inner = [{"type": "function", "name": "create_proposal"}]
    found = [{"type": "namespace", "name": "mcp__agentd", "tools": inner}]
    output = {"type": "tool_search_output", "call_id": search["call_id"], "tools": found}
    said, call, _ = responses(model, [*asked, search, output], tools)
    assert said["content"][0]["text"] == "I begin."
    assert (call["name"], call["namespace"]) == ("create_proposal", "mcp__agentd")


def test_codex_calls_tools_out_of_a_program(model: FakeModel) -> None:
    asked: list[Any] = [{"type": "message", "role": "user", "content": "propose add-x 7"}]
    extra = {"type": "additional_tools", "tools": [{"type": "custom", "name": "exec"}]}
    said, call = responses(model, [extra, *asked], [])
    assert said["content"][0]["text"] == "I begin."
    assert (call["type"], call["name"]) == ("custom_tool_call", "exec")
    assert '"change_id":"add-x"' in call["input"]
    output = {"type": "custom_tool_call_output", "call_id": call["call_id"], "output": "null"}
    (second,) = responses(model, [extra, *asked, said, call, output], [])
    assert '"change_id":"again"' in second["input"]
    absent = {**output, "output": "FAKE MODEL: no tool 'create_proposal' in this program"}
    (last,) = responses(model, [extra, *asked, said, call, absent], [])
    assert last["content"][0]["text"] == absent["output"]


def test_what_a_program_says_about_its_folder_calls_no_scene(model: FakeModel) -> None:
    context = "<environment_context>propose x 1</environment_context>"
    items = [{"type": "message", "role": "user", "content": text} for text in ("something else", context)]
    assert responses(model, items, [])[0]["content"][0]["text"] == "Other."


def test_a_side_call_that_wants_json_gets_the_plainest_that_fits(model: FakeModel) -> None:
    parts = {
        "reason": {"type": "STRING"},
        "choice": {"type": "STRING", "enum": ["flash", "pro"]},
        "n": {"type": "integer"},
    }
    schema = {"type": "OBJECT", "properties": parts}
    body = {"contents": [], "generationConfig": {"responseJsonSchema": schema}}
    reply = json.loads(post(model.url, "/v1beta/models/m:generateContent", body)[1])
    text = reply["candidates"][0]["content"]["parts"][0]["text"]
    assert json.loads(text) == {"reason": "A short answer.", "choice": "flash", "n": 1}


def test_a_tool_named_with_its_server_may_be_declared_without_it(model: FakeModel) -> None:
    speaker = talk(model, "chat", tools=("create_proposal", "Read"))
    speaker.ask("propose add-x 7")
    assert speaker.ask()[1] == [("create_proposal", {"change_id": "again"})]


def test_tokens_are_counted_and_models_listed(model: FakeModel) -> None:
    assert json.loads(post(model.url, "/v1/messages/count_tokens", {"messages": []})[1])["input_tokens"] == 4
    for path, key in (("/v1/models", "data"), ("/v1beta/models", "models")):
        with urllib.request.urlopen(model.url + path, timeout=20) as reply:
            assert json.load(reply)[key]


def test_what_nobody_serves_is_recorded_and_not_found(model: FakeModel) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404") as caught:
        post(model.url, "/v1/telemetry", {})
    caught.value.close()
    assert model.requests[-1].path == "/v1/telemetry"


def test_every_request_is_recorded_with_what_it_asks_for(tmp_path: Path) -> None:
    with FakeModel(SCENES, log=tmp_path / "log") as model:
        body = {"model": "gpt", "reasoning": {"effort": "high"}, "instructions": "Be brief.", "input": "something else"}
        post(model.url, "/v1/responses", body)
        seen = model.requests[0]
    assert (seen.vendor, seen.scene, seen.turn, seen.model, seen.effort) == ("openai", "other", 0, "gpt", "high")
    assert (seen.system, seen.size, seen.json) == (len("Be brief."), len(json.dumps(body)), body)
    logged = json.loads((tmp_path / "log").read_text())
    assert (logged["scene"], logged["size"], "body" in logged) == ("other", seen.size, False)


def test_the_model_is_a_program_too(tmp_path: Path) -> None:
    scenes = tmp_path / "scenes.yaml"
    scenes.write_text(SCENES)
    words = [sys.executable, "-m", "tests.contract.model", "--scenes", str(scenes), "--port", "0"]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout
        url = program.stdout.readline().strip()
        assert SPEAKERS["chat"](url).ask("something else")[0] == "Other."
        program.terminate()
