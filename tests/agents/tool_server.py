"""A small MCP server over stdio: two tools, and a file that tells which of them were really called."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
TOOLS = [
    {"name": "create_proposal", "description": "Writes the proposal.", "inputSchema": SCHEMA},
    {"name": "delete_everything", "description": "Not for this step.", "inputSchema": {"type": "object"}},
]


def answer(method: str, params: Mapping[str, Any], log: Path) -> Mapping[str, Any]:
    if method == "initialize":
        about = {"name": "agentd", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        with log.open("a") as file:
            file.write(json.dumps([params["name"], params.get("arguments")]) + "\n")
        refused = params.get("arguments", {}).get("title") == ""
        text = "The title is empty." if refused else "The proposal is written."
        return {"content": [{"type": "text", "text": text}], "isError": refused}
    return {}


def main() -> None:
    print("this line is no message", flush=True) if "--noisy" in sys.argv else None
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            said = answer(asked["method"], asked.get("params") or {}, Path(sys.argv[1]))
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": said}), flush=True)


if __name__ == "__main__":
    main()
