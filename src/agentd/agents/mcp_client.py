"""How the scripted agent calls tools: starts the MCP server it was given and speaks JSON-RPC with it, line by line.

It knows just enough of the protocol for that; the full client would take longer to import than a whole script to play.
"""

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

from agentd.agents.script import Trouble
from agentd.values import dataclass

PROTOCOL = "2025-06-18"


@dataclass(frozen=True)
class Called:
    """What a tool said, and whether it refused."""

    text: str
    refused: bool


class Tools:
    """An open conversation with a server."""

    def __init__(self, to: IO[str], came: IO[str]) -> None:
        self.to = to
        self.came = came
        self.number = 0

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Called:
        answer = self.request("tools/call", {"name": tool, "arguments": arguments})
        if "error" in answer:
            return Called(str(answer["error"].get("message", answer["error"])), True)
        result = answer["result"]
        texts = [part.get("text", "") for part in result.get("content", ()) if part.get("type") == "text"]
        return Called("\n".join(texts), result.get("isError", False))

    def request(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer to a request; whatever else the server says meanwhile is passed over."""
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        for line in self.came:
            try:
                answer = json.loads(line)
            except ValueError:
                continue
            if isinstance(answer, dict) and answer.get("id") == self.number and "method" not in answer:
                return answer
        raise Trouble(f"The MCP server ended without an answer to {method}.")

    def send(self, message: Mapping[str, Any]) -> None:
        try:
            self.to.write(json.dumps(message) + "\n")
            self.to.flush()
        except BrokenPipeError:
            raise Trouble("The MCP server has ended.") from None


@contextmanager
def opened(server: Sequence[str]) -> Iterator[Tools]:
    """A server that was started and greeted; it is ended when the conversation is over."""
    if not server:
        raise Trouble(
            "This step has no tools, so there is no MCP server to call; name them in the workflow: tools: […]."
        )
    with subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        tools = Tools(process.stdin, process.stdout)
        hello = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "scripted", "version": "1"}}
        answer = tools.request("initialize", hello)
        if "error" in answer:
            raise Trouble(f"The MCP server refused to begin: {answer['error'].get('message', '')}")
        tools.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        yield tools
        process.stdin.close()
