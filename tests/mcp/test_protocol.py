"""What the server says on the wire: to old and new clients, to nonsense, and to what needs no answer."""

import json
import sys
from contextlib import nullcontext
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from agentd.agents.mcp_client import opened
from agentd.calling.tool_host import FACE
from agentd.model.tools import TOOLS
from tests.mcp import samples
from tests.mcp.bench import Bench, said

WRITE_AND_VALIDATE: list[tuple[str, dict[str, Any]]] = [
    ("create_clarifications", samples.CLARIFICATIONS),
    ("create_proposal", samples.PROPOSAL),
    ("create_spec", samples.SPEC),
    ("create_spec", samples.SESSIONS),
    ("create_tasks", samples.TASKS),
]
DOCUMENTS = ("clarifications.md", "proposal.md", "specs/auth-flow.md", "specs/sessions.md", "tasks.md")


WAYS = pytest.mark.parametrize("way", ["alone", "served"])


@WAYS
@pytest.mark.requirement(106)
def test_initialize_list_and_call_are_answered_with_their_ids(bench: Bench, way: str) -> None:
    with bench.raw(greet=False, way=way) as raw:
        hello = raw.greet()
        assert hello["jsonrpc"] == "2.0"
        assert hello["result"]["protocolVersion"] == "2025-06-18"
        assert hello["result"]["serverInfo"]["name"] == "agentd"
        assert "tools" in hello["result"]["capabilities"]
        assert set(raw.tools()) == set(TOOLS)
        result = raw.call("read_file", {"change_id": samples.CHANGE, "file": "STATE.yaml"})
        assert not result.get("isError")


@WAYS
@pytest.mark.requirement(106)
def test_a_notification_gets_no_answer(bench: Bench, way: str) -> None:
    with bench.raw(way=way) as raw:
        for method in (
            "notifications/initialized",
            "notifications/cancelled",
            "notifications/nobody/knows",
            "tools/call",
        ):
            raw.send(
                {"jsonrpc": "2.0", "method": method, "params": {"requestId": 99, "name": "read_file", "arguments": {}}}
            )
        answer = raw.request("ping")
        assert (answer["id"], answer["result"]) == (raw.number, {})


@WAYS
@pytest.mark.requirement(103, 106)
def test_nonsense_on_the_wire_does_not_end_the_server(bench: Bench, way: str) -> None:
    (bench.folder / "calls").mkdir()
    with bench.raw(way=way) as raw:
        raw.tools()  # that it was asked is noted
        before = bench.image()
        for line in (
            "{",
            "[]",
            "null",
            '"x"',
            "\x00",
            "{}" * 1000,
            '{"jsonrpc": "1.0", "id": 5, "method": "ping"}',
            "\ud83d".encode(errors="replace").decode(),
        ):
            raw.line(line)
        raw.send({"jsonrpc": "2.0", "id": "last", "method": "nobody/knows"})
        answers: list[dict[str, Any]] = []
        while not answers or answers[-1].get("id") != "last":
            answers.append(raw.receive())
        assert answers[-1]["error"]["code"] == -32601
        assert all("error" in answer for answer in answers)
        assert set(raw.tools()) == set(TOOLS)
        assert bench.image() == before


@pytest.mark.requirement(103)
def test_a_result_is_a_success_message_with_data_and_a_failure_is_an_error(bench: Bench) -> None:
    with nullcontext(bench.here()) as raw:
        good = raw.call("create_proposal", samples.PROPOSAL)
        assert not good.get("isError")
        assert good["content"][0]["text"].startswith("Wrote agentd/changes/add-oauth/proposal.md")
        assert good["structuredContent"]["path"] == "agentd/changes/add-oauth/proposal.md"
        assert good["structuredContent"]["findings"] == []
        bad = raw.call("create_proposal", {**samples.PROPOSAL, "impact": {"scope": "huge", "affected_files": 0}})
        assert bad["isError"] is True
        assert (
            "impact.scope: Input should be 'patch', 'minor' or 'major' (you sent 'huge')" in bad["content"][0]["text"]
        )
        assert "impact.affected_files: Input should be greater than or equal to 1" in bad["content"][0]["text"]
        assert not raw.call("read_file", {"change_id": samples.CHANGE, "file": "proposal"}).get("isError")


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_clients_of_every_handshake_protocol_write_and_validate_a_change(bench: Bench, version: str) -> None:
    with bench.raw(greet=False, way="served") as raw:
        assert raw.greet(version)["result"]["protocolVersion"] == version
        for tool, arguments in WRITE_AND_VALIDATE:
            result = raw.call(tool, arguments)
            assert not result.get("isError"), result
        checked = raw.call("validate_change", {"change_id": samples.CHANGE, "strict": True})
        assert not checked.get("isError"), checked
        assert checked["structuredContent"]["valid"] is True, checked
    assert all((bench.folder / name).stat().st_size for name in DOCUMENTS)


@pytest.mark.parametrize(
    ("mode", "way"), [("2026-07-28", "alone"), ("2026-07-28", "served"), ("auto", "served"), ("legacy", "served")]
)
def test_the_sdk_client_of_the_new_protocol_writes_and_validates_a_change_over_stdio(
    bench: Bench, mode: str, way: str
) -> None:
    with bench.host() as host:
        write_and_validate(bench, mode, bench.argv() if way == "alone" else bench.forwarder(host))


def write_and_validate(bench: Bench, mode: str, argv: list[str]) -> None:
    command, *words = argv
    server = StdioServerParameters(command=command, args=words, env=bench.env(), cwd=bench.root)

    async def main() -> None:
        async with Client(server, mode=mode) as client:
            for tool, arguments in WRITE_AND_VALIDATE:
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, said(result)
            checked = await client.call_tool("validate_change", {"change_id": samples.CHANGE, "strict": True})
            assert not checked.is_error, said(checked)
            assert checked.structured_content is not None
            assert checked.structured_content["valid"] is True, said(checked)

    anyio.run(main)
    assert all((bench.folder / name).stat().st_size for name in DOCUMENTS)


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
def test_the_same_server_answers_in_memory(bench: Bench, mode: str) -> None:
    names: list[str] = []

    async def look(client: Client) -> None:
        names.extend(tool.name for tool in (await client.list_tools()).tools)
        assert not (await client.call_tool("create_proposal", samples.PROPOSAL)).is_error

    bench.talk(look, mode=mode)
    assert names == list(TOOLS)


def test_every_schema_is_closed_and_carries_no_titles(bench: Bench) -> None:
    with nullcontext(bench.here()) as raw:
        for tool in raw.request("tools/list")["result"]["tools"]:
            schema = tool["inputSchema"]
            assert schema["additionalProperties"] is False, tool["name"]
            assert '"title": "' not in json.dumps(schema), tool["name"]
            assert tool["description"]
            assert tool["outputSchema"]["type"] == "object"


@pytest.mark.parametrize("program", [["-P", "-m", "agentd"], ["-I", "-S", str(FACE / "forward.py"), "agentd"]])
def test_an_agent_that_no_run_has_called_finds_a_server_without_tools(program: list[str]) -> None:
    own = [f"{name}=${name}" for name in ("AGENTD_DESK", "AGENTD_CALL", "AGENTD_SOCKET")]
    words = ["env", *own, sys.executable, *program, "mcp"]
    with opened(words) as tools:
        assert tools.request("tools/list", {})["result"]["tools"] == []
