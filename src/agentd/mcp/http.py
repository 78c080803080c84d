"""The same server over Streamable HTTP: this machine only, and only for who has the token."""

import hmac
import socket
from collections.abc import Callable
from pathlib import Path

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from agentd.app import LAYOUTS
from agentd.errors import AgentdError
from agentd.mcp.server import Documents
from agentd.mcp.toolbox import Toolbox
from agentd.runs.call_scope import open_desk

HOST = "127.0.0.1"
LARGEST_BODY = 4 * 1024 * 1024


class WithToken:
    """Passes on only what carries the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app = app
        self.expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = Headers(scope=scope).get("authorization", "").encode()
            if not hmac.compare_digest(given, self.expected):
                refused = PlainTextResponse(
                    "Send the token: Authorization: Bearer …\n", 401, {"WWW-Authenticate": "Bearer"}
                )
                await refused(scope, receive, send)
                return
        await self.app(scope, receive, send)


def serve(folder: Path, call: str, port: int, token: str, say: Callable[[str], None]) -> None:
    """Answer on a port of this machine until a signal ends it; 0 is any free port."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
            listener.listen()
        except OSError as error:
            raise AgentdError(f"Port {port} cannot be used: {error.strerror}.", "agentd mcp --http --port 0") from None
        port = listener.getsockname()[1]
        hosts = [f"{HOST}:{port}", f"localhost:{port}"]
        app = Documents(Toolbox(open_desk(LAYOUTS, folder, call))).streamable_http_app(
            host=HOST,
            max_request_body_size=LARGEST_BODY,
            transport_security=TransportSecuritySettings(
                allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts]
            ),
        )
        say(f"http://{HOST}:{port}/mcp")
        server = uvicorn.Server(uvicorn.Config(WithToken(app, token), log_level="error", lifespan="on"))
        anyio.run(server.serve, [listener])
