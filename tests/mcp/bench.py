"""A change with a call under way, and ways to talk to its server: as raw lines, and through the SDK's own client."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp_types import CallToolResult, TextContent

from agentd.app import LAYOUTS, open_project
from agentd.calling.tool_host import ToolHost
from agentd.engine.advance import start
from agentd.families.change import LAYOUT
from agentd.git.repository import begin_repository
from agentd.mcp.protocol import Conversation
from agentd.mcp.server import Documents
from agentd.mcp.toolbox import Toolbox
from agentd.model.run import Intent
from agentd.model.tools import TOOLS
from agentd.runs.call_scope import open_desk
from agentd.state.store import Store, new_state
from tests.built_in import read_built_in
from tests.mcp import samples

AT = "2026-01-01T00:00:00.000000Z"
CHANGE = samples.CHANGE


class Bench:
    """A repository with one change, whose step and call a test sets."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "agentd" / "changes" / CHANGE
        self.folder.mkdir(parents=True)
        (root / "agentd" / "config.toml").write_text('project_name = "bench"\n')
        self.call = ""
        self.begin("propose", TOOLS)

    def begin(self, step: str, tools: tuple[str, ...] | None = None, call: str = "") -> None:
        """Save a state in which this step is under way, with the tools its table gives it unless others are said."""
        table = read_built_in("change")
        self.call = call or f"{step}-1.1"
        run = start(table, CHANGE)
        given = table.steps[step].tools if tools is None else tools
        run = replace(run, step=step, phase=table.steps[step].phase, intent=Intent(self.call, AT, given))
        path = self.folder / "STATE.yaml"
        path.unlink(missing_ok=True)
        Store(self.folder, LAYOUT.codec).save(new_state(run, description="Sign in with OAuth"), AT, "begin")

    def env(self, call: str | None = None) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if not name.startswith("AGENTD_")}
        return {**own, "AGENTD_RUN": str(self.folder), "AGENTD_CALL": self.call if call is None else call}

    def argv(self) -> list[str]:
        return [sys.executable, "-P", "-m", "agentd", "mcp"]

    @contextmanager
    def raw(
        self, call: str | None = None, crash: str = "", greet: bool = True, way: str = "alone"
    ) -> Iterator["Process"]:
        """A server in a process, spoken to in lines of JSON: one that stands alone, or the host of the run, which an agent
        reaches through a forwarder."""
        order = {"AGENTD_CRASH": crash} if crash else {}
        env = self.env(call)
        with ExitStack() as stack:
            words = self.argv()
            if way == "served":
                words = self.forwarder(stack.enter_context(self.host(order)), call)
            process = stack.enter_context(
                subprocess.Popen(
                    words,
                    cwd=self.root.parent,
                    env=env if way == "served" else env | order,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    encoding="utf-8",
                )
            )
            raw = Process(process)
            try:
                if greet:
                    raw.greet()
                yield raw
            finally:
                if process.poll() is None:
                    process.stdin.close()  # type: ignore[union-attr]  # it is a pipe
                    process.wait(timeout=30)

    @contextmanager
    def host(self, env: Mapping[str, str] | None = None) -> Iterator[ToolHost]:
        """The host of the run, started as agentd does."""
        os.environ.update(env or {})
        try:
            host = ToolHost(self.folder)
        finally:
            for name in env or ():
                del os.environ[name]
        with closing(host):
            yield host

    def forwarder(self, host: ToolHost, call: str | None = None, folder: Path | None = None) -> list[str]:
        """The words that an agent starts as its server."""
        return [*host.words(folder or self.folder, self.call if call is None else call)]

    def here(self, call: str | None = None) -> "Here":
        """The server that a host forks, in this process."""
        desk = open_desk(LAYOUTS, self.folder, self.call if call is None else call)
        here = Here(Conversation(Toolbox(desk)))
        here.greet()
        return here

    def talk(self, what: Callable[[Client], Awaitable[None]], mode: str = "auto", call: str | None = None) -> None:
        """The server in this process, spoken to with the SDK's client."""

        async def main() -> None:
            server = Documents(Toolbox(open_desk(LAYOUTS, self.folder, self.call if call is None else call)))
            async with Client(server, mode=mode) as client:
                await what(client)

        anyio.run(main)

    def call_tool(self, tool: str, arguments: Mapping[str, Any], call: str | None = None) -> CallToolResult:
        """One call in a conversation of its own."""
        results: list[CallToolResult] = []

        async def one(client: Client) -> None:
            results.append(await client.call_tool(tool, dict(arguments)))

        self.talk(one, call=call)
        return results[0]

    def image(self) -> dict[str, bytes]:
        """Every file of the repository and around it but the trace of the tools used, links as what they say."""
        found = {}
        for path in sorted(self.root.parent.rglob("*")):
            if path.is_symlink():
                found[str(path)] = os.readlink(path).encode()
            elif path.is_file() and ".git" not in path.parts and path.suffix != ".served":
                found[str(path)] = path.read_bytes()
        return found

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def with_git(self) -> None:
        begin_repository(self.root, "first")

    def rules(self) -> Any:
        return open_project(self.root).config.rules()


class Raw:
    """A conversation in lines."""

    def __init__(self) -> None:
        self.number = 0

    def line(self, text: str) -> None:
        raise NotImplementedError

    def receive(self) -> dict[str, Any]:
        raise NotImplementedError

    def greet(self, version: str = "2025-06-18") -> dict[str, Any]:
        client = {"name": "raw", "version": "1"}
        hello = self.request("initialize", protocolVersion=version, capabilities={}, clientInfo=client)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return hello

    def send(self, message: Any) -> None:
        self.line(json.dumps(message))

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        answer = self.receive()
        assert answer["id"] == self.number, answer
        return answer

    def tools(self) -> list[str]:
        return [tool["name"] for tool in self.request("tools/list")["result"]["tools"]]

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = self.request("tools/call", name=tool, arguments=dict(arguments))["result"]
        return result


class Here(Raw):
    """A conversation with the server in this process."""

    def __init__(self, conversation: Conversation) -> None:
        super().__init__()
        self.conversation = conversation
        self.came: list[bytes] = []

    def line(self, text: str) -> None:
        answer = self.conversation.answer(text.encode() + b"\n")
        self.came += [answer] if answer else []

    def receive(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.came.pop(0))
        return answer


class Process(Raw):
    """A conversation with a server in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        super().__init__()
        self.process = process

    def line(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the server ended: {self.process.stderr.read() if self.process.stderr else ''}"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def died(self, seconds: float = 30) -> int:
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return self.process.returncode


def said(result: CallToolResult) -> str:
    """The text of a result."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))
