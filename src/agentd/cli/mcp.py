"""`agentd mcp`: serve the documents of a run to an agent."""

import gc
import os
import sys
from pathlib import Path

import click

from agentd.cli.face import json_option
from agentd.cli.output import print_json
from agentd.errors import UsageError


@click.command()
@click.option(
    "--run", "folder", envvar=["AGENTD_DESK", "AGENTD_RUN"], type=click.Path(), help="The run's folder.  [AGENTD_DESK]"
)
@click.option("--call", envvar="AGENTD_CALL", default="", help="The agent call that is served.  [AGENTD_CALL]")
@click.option("--http", is_flag=True, help="Streamable HTTP on 127.0.0.1 instead of stdin and stdout.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="With --http: the port; 0 for a free one.")
@json_option
def command(folder: str | None, call: str, http: bool, port: int, as_json: bool) -> int:
    """Serve the documents of a run to the agent of the step under way, as an MCP server on stdin and stdout.

    agentd starts it for the agents it drives. Only the tools of the step are offered, and only as long as the
    call is the one under way. With --http the address and the token that every request must carry are printed;
    AGENTD_MCP_TOKEN sets the token.
    """
    if not folder:
        raise UsageError("Nothing says which run to serve.", "agentd mcp --run agentd/changes/ID --call CALL")
    gc.disable()  # loading the SDK makes no garbage, and looking for it takes a sixth of that time
    if not http:
        from agentd.mcp import server

        gc.freeze()
        gc.enable()
        if folder == "$AGENTD_DESK":  # started by an agent that a person uses by themselves: no variable to fill in
            server.serve_nobody()
        else:
            server.serve(Path(folder), call)
        return 0
    import secrets

    from agentd.mcp import http as web

    gc.enable()
    token = os.environ.get("AGENTD_MCP_TOKEN") or secrets.token_urlsafe(32)

    def say(url: str) -> None:
        if as_json:
            print_json({"ok": True, "url": url, "token": token})
        else:
            click.echo(f"url    {url}\ntoken  {token}")
        sys.stdout.flush()

    web.serve(Path(folder), call, port, token, say)
    return 0
