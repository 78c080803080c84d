"""The smallest server that the protocol's own SDK makes: one tool, which writes a page as agentd's tool of that name does."""

from pathlib import Path

from mcp.server import MCPServer

server: MCPServer[None] = MCPServer("minimal", log_level="ERROR")


@server.tool()
def write_knowledge(path: str, title: str, source: str, content: str) -> str:
    """Write a page of what the project should remember."""
    file = Path("agentd/knowledge") / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"---\ntitle: {title}\nsource: {source}\n---\n{content}\n", encoding="utf-8")
    return f"Wrote {file}"


if __name__ == "__main__":
    server.run()
