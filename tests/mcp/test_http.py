"""The same server over HTTP: this machine, this token, this host, and the same tools."""

import json
import os
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.mcp import samples
from tests.mcp.bench import Bench, said

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}


@dataclass(frozen=True)
class Web:
    """A server that listens."""

    url: str
    token: str

    def post(self, **headers: str) -> int:
        """The status that a request with these headers gets."""
        usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        request = urllib.request.Request(self.url, json.dumps(HELLO).encode(), {**usual, **headers})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code


@pytest.fixture
def web(bench: Bench) -> Iterator[Web]:
    with subprocess.Popen(
        [*bench.argv(), "--http", "--json"], cwd=bench.root, env=bench.env(), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        while lines[-1] not in ("}\n", ""):
            lines.append(process.stdout.readline())
        told = json.loads("".join(lines))
        try:
            yield Web(told["url"], told["token"])
        finally:
            process.terminate()
            process.wait(timeout=30)


def test_a_client_with_the_token_writes_a_proposal(web: Web, bench: Bench) -> None:
    async def main() -> None:
        headers = {"Authorization": f"Bearer {web.token}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(web.url, http_client=http)) as client,
        ):
            result = await client.call_tool("create_proposal", samples.PROPOSAL)
            assert not result.is_error, said(result)

    anyio.run(main)
    assert "# Change: add-oauth" in bench.text("proposal.md")


def test_only_this_machine_is_listened_to(web: Web) -> None:
    assert web.url.startswith("http://127.0.0.1:")


def test_without_the_token_nothing_is_answered(web: Web) -> None:
    assert len(web.token) >= 32
    assert web.post() == 401
    assert web.post(Authorization="Bearer wrong") == 401
    assert web.post(Authorization=f"Basic {web.token}") == 401
    assert web.post(Authorization=f"Bearer {web.token}") == 200


def test_a_page_of_another_host_or_origin_is_refused(web: Web) -> None:
    token = f"Bearer {web.token}"
    assert web.post(Authorization=token, Host="evil.example") == 421
    assert web.post(Authorization=token, Origin="http://evil.example") == 403
    assert web.post(Authorization=token, Origin=web.url.removesuffix("/mcp")) == 200


def test_a_port_that_is_taken_is_told_in_words(web: Web, bench: Bench) -> None:
    port = web.url.split(":")[2].split("/")[0]
    done = subprocess.run(
        [*bench.argv(), "--http", "--port", port], cwd=bench.root, env=bench.env(), capture_output=True, text=True
    )
    assert done.returncode == 1
    assert f"Port {port} cannot be used" in done.stderr


def test_a_token_can_be_given(bench: Bench) -> None:
    env = bench.env() | {"AGENTD_MCP_TOKEN": "chosen"}
    with subprocess.Popen(
        [*bench.argv(), "--http"], cwd=bench.root, env=env, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[1]
        assert process.stdout.readline().split() == ["token", "chosen"]
        assert Web(url, "").post(Authorization="Bearer chosen") == 200
        process.terminate()
    assert os.path.exists(bench.folder)
