"""The same messages to the host's server and to the SDK's come to the same answers: recorded, random, and broken ones."""

import json
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, jsonrpc_message_adapter

from agentd.app import LAYOUTS
from agentd.mcp.protocol import Conversation
from agentd.mcp.server import Documents
from agentd.mcp.toolbox import Toolbox
from agentd.runs.call_scope import open_desk
from tests.mcp import samples
from tests.mcp.bench import Bench

CLIENT = {"name": "x", "version": "1"}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
VERSION, CAPABILITIES = "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"
ENVELOPE = {VERSION: "2026-07-28", CAPABILITIES: {}}
SPECS = {"name": "list_specs", "arguments": {"change_id": samples.CHANGE}}


def request(number: Any, method: Any, params: Any = None, **more: Any) -> str:
    given = {} if params is None else {"params": params}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, **given, **more})


def notice(method: str, params: Any = None) -> str:
    return json.dumps({"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})})


def ours(toolbox: Toolbox, lines: Sequence[str]) -> list[Any]:
    """What the host's server answers, without its answers to what is no message: the SDK passes over that in silence."""
    conversation = Conversation(toolbox)
    answers = [json.loads(answer) for line in lines if (answer := conversation.answer(line.encode()))]
    return [answer for answer in answers if answer["id"] is not None]


def theirs(toolbox: Toolbox, lines: Sequence[str]) -> list[Any]:
    """What the SDK's server answers, one message after the other."""
    answers: list[Any] = []

    async def main() -> None:
        server = Documents(toolbox)
        to, read = anyio.create_memory_object_stream[SessionMessage | Exception]()
        write, came = anyio.create_memory_object_stream[SessionMessage](100)
        async with came, anyio.create_task_group() as group:
            group.start_soon(server.run, read, write, server.create_initialization_options())
            for line in lines:
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError as error:
                    await to.send(error)
                    continue
                await to.send(SessionMessage(message))
                if isinstance(message, JSONRPCRequest):
                    answer = (await came.receive()).message
                    answers.append(json.loads(answer.model_dump_json(by_alias=True, exclude_unset=True)))
                else:
                    await anyio.wait_all_tasks_blocked()
            to.close()

    anyio.run(main)
    return answers


RECORDED = {
    "handshake": [
        request(0, "initialize", HELLO),
        notice("notifications/initialized"),
        request("a", "tools/list"),
        request(-1, "tools/list", {"cursor": "x"}),
        request(2, "tools/call", SPECS),
        request(3, "tools/call", {"name": "nobody"}),
        request(4, "tools/call", {"name": "list_specs", "arguments": {"change_id": 7}}),
        request(5, "ping"),
        request(6, "ping", {"_meta": {"progressToken": 1}}),
        notice("notifications/cancelled", {"requestId": 5}),
        request(7, "tools/call", {"arguments": {}}),
        request(8, "tools/call", {"name": "list_specs", "arguments": []}),
        request(9, "tools/list", {"_meta": ENVELOPE}),
        request(10, "server/discover", {}),
        request(11, "nobody/knows"),
        request(12, "resources/list"),
        request(13, "initialize", {**HELLO, "protocolVersion": "2025-11-25"}),
        request(14, "initialize", {**HELLO, "protocolVersion": "1999-01-01"}),
        request(15, "initialize", {"capabilities": {}}),
        request(16, "tools/list", {"_meta": 7}),
        request(17, "tools/list", {"_meta": {"progressToken": []}}),
    ],
    "not greeted": [
        request(1, "tools/list"),
        request(2, "ping"),
        request(3, "nobody"),
        request(4, "tools/call", SPECS),
        notice("notifications/initialized"),
        request(5, "tools/call", SPECS),
    ],
    "noticed first": [notice("notifications/initialized"), request(1, "tools/list")],
    "envelope": [
        request(0, "server/discover", {"_meta": ENVELOPE}),
        request(1, "tools/list", {"_meta": {**ENVELOPE, "io.modelcontextprotocol/clientInfo": CLIENT}}),
        request(2, "tools/call", {"_meta": ENVELOPE, **SPECS}),
        request(3, "tools/call", {"_meta": ENVELOPE, "name": "nobody"}),
        request(4, "tools/call", {"_meta": ENVELOPE}),
        request(5, "ping", {"_meta": ENVELOPE}),
        request(6, "initialize", HELLO),
        request(7, "initialize", {"_meta": ENVELOPE}),
        request(8, "tools/list"),
        request(9, "tools/list", {"_meta": {VERSION: "2026-07-28"}}),
        request(10, "tools/list", {"_meta": {CAPABILITIES: {}}}),
        request(11, "tools/list", {"_meta": {**ENVELOPE, VERSION: "2027-01-01"}}),
        request(12, "tools/list", {"_meta": {**ENVELOPE, VERSION: 7}}),
        request(13, "tools/list", {"_meta": {**ENVELOPE, CAPABILITIES: 7}}),
        request(14, "tools/list", {"_meta": {**ENVELOPE, "io.modelcontextprotocol/clientInfo": 7}}),
        request(15, "nobody", {"_meta": ENVELOPE}),
        notice("notifications/cancelled", {"requestId": 1}),
    ],
    "unknown version": [request(1, "tools/list", {"_meta": {**ENVELOPE, VERSION: "2027-01-01"}}), request(2, "ping")],
    "nonsense": [
        "{",
        "[]",
        "null",
        '"x"',
        "",
        "\x00",
        "7",
        request(1, 7),
        request(1, "ping", []),
        request(1, "ping", jsonrpc="1.0"),
        json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "ping"}]),
        json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}),
        json.dumps({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}}),
        request(None, "ping"),
        request(True, "ping"),
        request(1.5, "ping"),
        '{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": "\\ud800"}}',
        request(1, "ping", result={}),
        request(2**70, "ping"),
    ],
}


@pytest.fixture
def toolbox(bench: Bench) -> Toolbox:
    bench.begin("propose", ("list_specs", "read_file"))
    return Toolbox(open_desk(LAYOUTS, bench.folder, bench.call))


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_messages_are_answered_alike(toolbox: Toolbox, name: str) -> None:
    answers = ours(toolbox, RECORDED[name])
    assert answers == theirs(toolbox, RECORDED[name])
    assert answers


@pytest.mark.parametrize("line", ["{", "[]", "null", '{"jsonrpc": "1.0"}', '{"jsonrpc": "2.0", "id": 1, "method": 7}'])
def test_what_is_no_message_is_answered_with_an_error(toolbox: Toolbox, line: str) -> None:
    answer = json.loads(Conversation(toolbox).answer(line.encode()))
    assert answer["id"] is None
    assert answer["error"]["code"] == (-32700 if line == "{" else -32600)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "x", "list_specs", samples.CHANGE]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "name"]), inner, max_size=2),
    max_leaves=4,
)
METHODS = ("initialize", "ping", "tools/list", "tools/call", "server/discover", "nobody", "notifications/initialized")
PARAMS = (
    st.none()
    | st.sampled_from([HELLO, SPECS, {}, {"_meta": ENVELOPE}, {"_meta": ENVELOPE, **SPECS}])
    | st.builds(
        lambda base, key, value: {**base, key: value},
        st.sampled_from([HELLO, SPECS, {}, {"_meta": ENVELOPE, **SPECS}]),
        st.sampled_from(["name", "arguments", "protocolVersion", "clientInfo", "cursor", "_meta", "other"]),
        VALUES,
    )
)
LINES = st.builds(
    request, st.integers(0, 99) | st.text(max_size=3) | VALUES, st.sampled_from(METHODS), PARAMS
) | st.builds(notice, st.sampled_from(METHODS), PARAMS)


@given(st.lists(LINES, min_size=1, max_size=8))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_messages_are_answered_alike(toolbox: Toolbox, lines: list[str]) -> None:
    assert ours(toolbox, lines) == theirs(toolbox, lines)
