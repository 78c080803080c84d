"""A change with a call under way, and ways to talk to its server: as raw lines, and through the SDK's own client."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp_types import CallToolResult, TextContent

from agentd.app import LAYOUTS, open_project
from agentd.engine.advance import start
from agentd.families.change import LAYOUT
from agentd.git.repository import begin_repository
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
    def raw(self, call: str | None = None, crash: str = "", greet: bool = True) -> Iterator["Raw"]:
        """The server as a process of its own, spoken to in lines of JSON."""
        env = self.env(call) | ({"AGENTD_CRASH": crash} if crash else {})
        with subprocess.Popen(
            self.argv(),
            cwd=self.root.parent,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        ) as process:
            raw = Raw(process)
            try:
                if greet:
                    raw.greet()
                yield raw
            finally:
                if process.poll() is None:
                    process.stdin.close()  # type: ignore[union-attr]  # it is a pipe
                    process.wait(timeout=30)

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
        """Every file of the repository and around it, links as what they say."""
        found = {}
        for path in sorted(self.root.parent.rglob("*")):
            if path.is_symlink():
                found[str(path)] = os.readlink(path).encode()
            elif path.is_file() and ".git" not in path.parts:
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

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.number = 0

    def greet(self, version: str = "2025-06-18") -> dict[str, Any]:
        client = {"name": "raw", "version": "1"}
        hello = self.request("initialize", protocolVersion=version, capabilities={}, clientInfo=client)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return hello

    def send(self, message: Any) -> None:
        self.line(json.dumps(message))

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

    def died(self, seconds: float = 30) -> int:
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return self.process.returncode


def said(result: CallToolResult) -> str:
    """The text of a result."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))
