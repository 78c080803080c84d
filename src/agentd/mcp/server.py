"""The stand-alone server, on the protocol's own SDK: a toolbox over stdin and stdout, or for `http` to serve."""

import asyncio
from pathlib import Path
from typing import Any

from anyio import to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams

from agentd import __version__
from agentd.app import LAYOUTS
from agentd.mcp.toolbox import Toolbox
from agentd.runs.call_scope import open_desk


class Documents(Server[Any]):
    """One toolbox, served."""

    def __init__(self, toolbox: Toolbox) -> None:
        super().__init__(
            "agentd",
            version=__version__,
            instructions=toolbox.instructions,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
        )
        self.toolbox = toolbox

    async def list_tools(self, _: ServerRequestContext[Any], params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult.model_validate({"tools": await to_thread.run_sync(self.toolbox.listed)})

    async def call_tool(self, _: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        answer = await to_thread.run_sync(self.toolbox.call, params.name, params.arguments or {})
        return CallToolResult.model_validate(answer.result())


def serve_nobody() -> None:
    """Answer an agent that no run has called: there are no tools for it, and nothing is wrong."""
    _serve(Toolbox(None))


def serve(folder: Path, call: str) -> None:
    """Answer over stdin and stdout until the agent closes them."""
    _serve(Toolbox(open_desk(LAYOUTS, folder, call)))


def _serve(toolbox: Toolbox) -> None:
    server = Documents(toolbox)

    async def main() -> None:
        async with stdio_server() as (reader, writer):
            await server.run(reader, writer, server.create_initialization_options())

    asyncio.run(main())
