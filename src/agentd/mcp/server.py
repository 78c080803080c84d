"""The server itself: lists and calls only the tools of the step under way. Every refusal is an answer; none ends it."""

import functools
import inspect
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

from anyio import to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, InputRequiredResult, TextContent
from mcp_types import Tool as Listed
from pydantic import Field, ValidationError

from agentd import __version__
from agentd.app import LAYOUTS
from agentd.errors import AgentdError, Refused
from agentd.mcp.tools import MODULES, find
from agentd.runs.call_scope import Desk, open_desk
from agentd.runs.safe_paths import LARGEST, holds_secret

INSTRUCTIONS = (
    "The documents of one agentd change. Write them with these tools, never by hand: they check what you send. "
    "A refused call says what to send instead; correct it and call again."
)
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
ProjectPath = Annotated[str, Field(max_length=4096, description="The project's root; may be left out")]


class Documents(MCPServer[Any]):
    """One desk, served. What a call may do is read from the run's state anew each time."""

    def __init__(self, desk: Desk) -> None:
        names = [name for name in desk.tools() if name in MODULES]
        super().__init__(
            "agentd",
            version=__version__,
            instructions=INSTRUCTIONS,
            tools=[make_tool(desk, name) for name in names],
            log_level="ERROR",
            subscriptions=False,
        )
        self.desk = desk

    async def list_tools(self) -> list[Listed]:
        await to_thread.run_sync(self.note_client)
        allowed = await to_thread.run_sync(self.desk.tools)
        return [tool for tool in await super().list_tools() if tool.name in allowed]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """What the tool says, or an error that tells the agent what to send instead."""
        await to_thread.run_sync(self.note_client)
        try:
            check_arguments(self.desk, arguments)
            await to_thread.run_sync(self.desk.admit, name, arguments.get("change_id"))
            result = await super().call_tool(name, arguments, context)
        except AgentdError as error:
            raise ToolError(in_words(error)) from error
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                raise ToolError("\n".join(problems(cause))) from cause
            if isinstance(cause, AgentdError):
                raise ToolError(in_words(cause)) from cause
            raise
        return plain(result)

    def note_client(self) -> None:
        """Leave a trace that the agent has found this server: for its call, and for `agentd doctor`."""
        self.desk.note_client()
        greeted = os.environ.get("AGENTD_GREETED")
        if greeted:
            Path(greeted).touch()


def make_tool(desk: Desk, name: str) -> Tool:
    """A tool of this desk: the function without its desk, as a schema that knows no other arguments."""
    function = find(name)
    tool = Tool.from_function(bound(desk, name, function), name=name, description=inspect.getdoc(function))
    model = tool.fn_metadata.arg_model
    model.model_config["extra"] = "forbid"
    model.model_rebuild(force=True)
    tool.parameters = lean(model.model_json_schema(by_alias=True))
    return tool


def bound(desk: Desk, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as agents call it: at its desk, in its turn."""

    @functools.wraps(function)
    def call(**arguments: Any) -> Any:
        arguments.pop("project_path")
        with desk.at_work(name, arguments.get("change_id")):
            return function(desk, **arguments)

    given = inspect.signature(function, eval_str=True)
    own = inspect.Parameter("project_path", inspect.Parameter.KEYWORD_ONLY, default="", annotation=ProjectPath)
    sent = [part.replace(kind=inspect.Parameter.KEYWORD_ONLY) for part in given.parameters.values()][1:]
    call.__signature__ = given.replace(parameters=[*sent, own])  # type: ignore[attr-defined]
    call.__annotations__ = {part.name: part.annotation for part in [*sent, own]} | {"return": given.return_annotation}
    return call


def check_arguments(desk: Desk, arguments: dict[str, Any]) -> None:
    """Refuse what no tool takes, whatever its schema: too much text, letters no document can hold, another project."""
    for name, value in arguments.items():
        size = 0
        for where, text in texts(value, name):
            size += len(text)
            if size > LARGEST:
                raise Refused(f"{name}: more than {LARGEST} characters.", "send less, or split it")
            found = _UNWRITABLE.search(text)
            if found:
                raise Refused(f"{where}: it holds the control character {found[0]!r}.", "send it without")
        if holds_secret("\n".join(text for _, text in texts(value, name))):
            raise Refused(f"{name}: it holds what looks like a key, token or password.", "name it, never quote it")
    path = arguments.get("project_path")
    if path and isinstance(path, str) and os.path.realpath(path) != os.path.realpath(desk.project.root):
        raise Refused(f"project_path: {path[:80]!r} is not the project of this call.", f'send "{desk.project.root}"')
    if "change_id" in arguments and not isinstance(arguments["change_id"], str):
        raise Refused("change_id: must be text.", "send the name of the change")


def texts(value: Any, where: str) -> Iterator[tuple[str, str]]:
    """Every text in a value, keys too, each with the way to it."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from texts(part, f"{where}[{number}]")
    elif isinstance(value, dict):
        for key, part in value.items():
            yield f"{where} (a key)", key
            yield from texts(part, f"{where}.{key[:80]}")


def problems(error: ValidationError) -> Iterator[str]:
    """Each field that is wrong, and what it must be."""
    yield "Nothing was written. Correct these and call again:"
    found = error.errors(include_url=False, include_context=False)
    for problem in found[:20]:
        where = ".".join(str(part) for part in problem["loc"]) or "arguments"
        value = repr(problem["input"])
        shown = "" if problem["type"] == "missing" else f" (you sent {value[:60] + '…' if len(value) > 60 else value})"
        yield f"- {where}: {problem['msg']}{shown}"
    if len(found) > 20:
        yield f"- and {len(found) - 20} more"


def in_words(error: AgentdError) -> str:
    return error.message + (f" Instead: {error.fix}." if error.fix else "")


def plain(result: CallToolResult | InputRequiredResult) -> CallToolResult | InputRequiredResult:
    """The same result, its text the message and not the data in JSON once more."""
    if isinstance(result, CallToolResult) and result.structured_content:
        message = result.structured_content.get("message")
        if isinstance(message, str):
            result.content = [TextContent(type="text", text=message)]
    return result


def lean(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without its titles: they say nothing that the names do not, and every call pays for them."""
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            made[key] = {name: lean(part) for name, part in value.items()}
        elif isinstance(value, dict):
            made[key] = lean(value)
        elif isinstance(value, list):
            made[key] = [lean(part) if isinstance(part, dict) else part for part in value]
        elif key != "title":
            made[key] = value
    return made


def serve_nobody() -> None:
    """Answer an agent that no run has called: there are no tools for it, and nothing is wrong."""
    MCPServer[Any](
        "agentd", version=__version__, instructions="No agentd run is under way here.", log_level="ERROR"
    ).run()


def serve(folder: Path, call: str) -> None:
    """Answer over stdin and stdout until the agent closes them."""
    Documents(open_desk(LAYOUTS, folder, call)).run()
