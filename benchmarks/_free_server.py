"""A server that costs nothing to import: just enough of the protocol for one call of one tool, which writes a page."""

import json
import os
import sys


def result(method: str, params: dict) -> dict:  # type: ignore[type-arg]
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {}}
    if method == "tools/list":
        return {"tools": [{"name": "write_knowledge", "inputSchema": {"type": "object"}}]}
    path = os.path.join("agentd/knowledge", params["arguments"]["path"])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(params["arguments"]["content"])
    return {"content": [{"type": "text", "text": f"Wrote {path}"}]}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result(message["method"], message["params"])}
        print(json.dumps(answer), flush=True)
