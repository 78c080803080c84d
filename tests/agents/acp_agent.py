"""A small agent that speaks the Agent Client Protocol and does what its prompt says, a JSON list of deeds.

    python acp_agent.py FOLDER [ANSWERS]

FOLDER keeps its conversations and `received.jsonl`, every request it got. ANSWERS is a JSON mapping from method to what
is put into its answer there; null makes the answer an error, and `strict` has every request checked by the schema.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from agentd.agents.mcp_client import opened

OPTIONS = [
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
CAN = {"loadSession": True, "promptCapabilities": {}, "mcpCapabilities": {}}


class Failed(Exception):
    """What is answered with an error: its code, a message and perhaps data."""


class Agent:
    """One connection with one session."""

    def __init__(self, folder: Path, answers: dict[str, Any]) -> None:
        self.folder = folder
        self.answers = answers
        self.session = "s-1"
        self.server: list[str] = []

    def serve(self) -> None:
        for line in sys.stdin:
            asked = json.loads(line)
            try:
                outcome = {"result": self.handle(asked["method"], asked["params"])}
            except Failed as failed:
                outcome = {"error": dict(zip(("code", "message", "data"), failed.args, strict=False))}
            if "id" in asked:
                send(id=asked["id"], **outcome)

    def handle(self, method: str, params: Any) -> Any:
        with (self.folder / "received.jsonl").open("a") as log:
            log.write(json.dumps([method, params]) + "\n")
        if self.answers.get("strict"):
            check(method, params)
        if method in self.answers and self.answers[method] is None:
            raise Failed(-32602, f"{method} is not for you")
        return {**self.answer(method, params), **self.answers.get(method, {})}

    def answer(self, method: str, params: Any) -> Any:
        if method == "initialize":
            about = {"name": "small", "version": "1.0"}
            return {"protocolVersion": 1, "agentCapabilities": CAN, "agentInfo": about, "authMethods": []}
        if method in ("session/new", "session/load"):
            for server in params["mcpServers"]:
                self.server = [server["command"], *server["args"]]
        if method == "session/new":
            return {"sessionId": self.session}
        if method == "session/load":
            self.load(params["sessionId"])
        if method == "session/prompt":
            return self.play(json.loads(params["prompt"][0]["text"]))
        return {}

    def load(self, session: str) -> None:
        self.session = session
        path = self.folder / f"{session}.txt"
        if not path.exists():
            raise Failed(-32002, "Resource not found", {"uri": session})
        for line in path.read_text().splitlines():
            self.chunk(line)
        self.update(sessionUpdate="tool_call", toolCallId="old", title="Edit a.txt", kind="edit", status="completed")

    def update(self, **update: Any) -> None:
        send(method="session/update", params={"sessionId": self.session, "update": update})

    def chunk(self, text: str) -> None:
        self.update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})

    def play(self, deeds: list[dict[str, Any]]) -> Any:
        last: dict[str, Any] = {"stopReason": "end_turn"}
        for number, deed in enumerate(deeds):
            id_ = f"t{number}"
            if "say" in deed:
                with (self.folder / f"{self.session}.txt").open("a") as kept:
                    kept.write(deed["say"] + "\n")
                self.chunk(deed["say"])
            elif "update" in deed:
                self.update(**deed["update"])
            elif "ask" in deed:
                self.ask({"toolCallId": id_, **deed["ask"]}, deed)
            elif "unasked" in deed:
                self.run({"toolCallId": id_, **deed["unasked"]}, deed)
            elif "last" in deed:
                last = deed["last"]
            else:
                self.misbehave(deed)
        return last

    def ask(self, call: dict[str, Any], deed: dict[str, Any]) -> None:
        """Ask first, and then do it or tell that it was not done."""
        if deed.get("announced"):
            self.update(sessionUpdate="tool_call", status="pending", **call)
            call = {"toolCallId": call["toolCallId"]}
        asked = {"sessionId": self.session, "toolCall": call, "options": deed.get("options", OPTIONS)}
        send(id=call["toolCallId"], method="session/request_permission", params=asked)
        answer = json.loads(sys.stdin.readline())
        if answer["result"]["outcome"].get("optionId") == "yes":
            self.run(call, deed)
        else:
            self.update(sessionUpdate="tool_call_update", toolCallId=call["toolCallId"], status="failed")

    def run(self, call: dict[str, Any], deed: dict[str, Any]) -> None:
        if "write" in deed:
            Path(deed["write"]).write_text("written\n")
        if "tool" in deed:
            with opened(self.server) as tools:
                self.chunk(tools.call(deed["tool"], deed["arguments"]).text)
        self.update(sessionUpdate="tool_call_update", status="completed", **call)

    def misbehave(self, deed: dict[str, Any]) -> None:
        if "print" in deed:
            print(deed["print"], flush=True)
        if "child" in deed:
            child = subprocess.Popen(["sleep", "3600"], start_new_session=True)
            (self.folder / "child.pid").write_text(str(child.pid))
        if "fail" in deed:
            raise Failed(*deed["fail"])
        if "exit" in deed:
            print(deed.get("stderr", ""), file=sys.stderr, flush=True)
            os._exit(deed["exit"])


def check(method: str, params: Any) -> None:
    """Raise what is wrong with a request by the protocol's own schema."""
    from acp import schema

    models: dict[str, Any] = {
        "initialize": schema.InitializeRequest,
        "session/new": schema.NewSessionRequest,
        "session/load": schema.LoadSessionRequest,
        "session/prompt": schema.PromptRequest,
        "session/set_mode": schema.SetSessionModeRequest,
        "session/set_config_option": schema.SetSessionConfigOptionSelectRequest,
    }
    models[method].model_validate(params)


def send(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


if __name__ == "__main__":
    Agent(Path(sys.argv[1]), json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}).serve()
