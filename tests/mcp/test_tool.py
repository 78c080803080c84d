"""A tool's schemas, arguments and results are those that the protocol's own SDK makes of the same function."""

import functools
import inspect
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool as SdkTool
from mcp_types import CallToolResult
from pydantic import ValidationError

from agentd.app import LAYOUTS
from agentd.mcp.argument_checks import problems
from agentd.mcp.tool import ProjectPath, lean, make_tool
from agentd.mcp.toolbox import Toolbox
from agentd.mcp.tools import find
from agentd.model.tools import TOOLS
from agentd.runs.call_scope import Desk, open_desk
from tests.mcp.bench import Bench
from tests.mcp.test_attacks import ARGUMENTS


def sdk_tool(desk: Desk, name: str) -> SdkTool:
    """The function of a tool without its desk, registered the SDK's way, its schema closed."""
    function = find(name)

    @functools.wraps(function)
    def call(**arguments: Any) -> Any:
        arguments.pop("project_path")
        return function(desk, **arguments)

    given = inspect.signature(function, eval_str=True)
    own = inspect.Parameter("project_path", inspect.Parameter.KEYWORD_ONLY, default="", annotation=ProjectPath)
    sent = [part.replace(kind=inspect.Parameter.KEYWORD_ONLY) for part in given.parameters.values()][1:]
    call.__signature__ = given.replace(parameters=[*sent, own])  # type: ignore[attr-defined]
    call.__annotations__ = {part.name: part.annotation for part in [*sent, own]} | {"return": given.return_annotation}
    tool = SdkTool.from_function(call, name=name, description=inspect.getdoc(function))
    model = tool.fn_metadata.arg_model
    model.model_config["extra"] = "forbid"
    model.model_rebuild(force=True)
    tool.parameters = lean(model.model_json_schema(by_alias=True))
    return tool


def sdk_call(desk: Desk, name: str, sent: dict[str, Any]) -> tuple[Any, str]:
    """What the SDK makes of a call: the data, or what is wrong with the arguments."""

    async def run() -> Any:
        return await sdk_tool(desk, name).run(sent, Context(mcp_server=MCPServer("x")), convert_result=True)

    try:
        result = anyio.run(run)
    except ToolError as error:
        return None, "\n".join(problems(error.__cause__)) if isinstance(error.__cause__, ValidationError) else str(
            error
        )
    assert isinstance(result, CallToolResult)
    assert result.structured_content is not None
    return result.structured_content, str(result.structured_content["message"])


@pytest.fixture
def desk(bench: Bench) -> Desk:
    bench.write("notes.md", "# Notes\nold\n")
    bench.with_git()
    return open_desk(LAYOUTS, bench.folder, bench.call)


def test_every_tool_is_listed_as_the_sdk_lists_it(desk: Desk) -> None:
    for name in TOOLS:
        made = sdk_tool(desk, name)
        theirs = {
            "name": made.name,
            "description": made.description,
            "inputSchema": made.parameters,
            "outputSchema": made.output_schema,
        }
        assert json.dumps(make_tool(name).listed()) == json.dumps(theirs)


def broken(arguments: dict[str, Any]) -> list[dict[str, Any]]:
    """The arguments of a tool, each of them left out, of another kind, sent as JSON in a text, and one nobody knows."""
    ways: list[Callable[[Any], Any]] = [
        json.dumps,
        str,
        lambda _: 7,
        lambda _: [],
        lambda _: {"a": 1},
        lambda _: "x" * 600,
        lambda _: "",
    ]
    found: list[dict[str, Any]] = [{}, {**arguments, "nobody": 1}]
    for name, value in arguments.items():
        if name != "change_id":
            found.append({key: other for key, other in arguments.items() if key != name})
            found += [{**arguments, name: way(value)} for way in ways]
    return found


def accepted(accept: Callable[[dict[str, Any]], Any], sent: dict[str, Any]) -> Any:
    """The arguments that the function gets, or what is wrong with those sent."""
    try:
        return accept(sent)
    except ValidationError as error:
        return "\n".join(problems(error))


def test_every_call_comes_to_what_the_sdk_makes_of_it(desk: Desk) -> None:
    toolbox, good = Toolbox(desk), 0
    for name, arguments in ARGUMENTS.items():
        tool, theirs = make_tool(name), sdk_tool(desk, name)
        for sent in [arguments, *broken(arguments)]:
            assert accepted(tool.accept, sent) == accepted(theirs.fn_metadata.validate_arguments, sent)
        for _ in range(2):  # the second time a write replaces what the first one wrote
            answer = toolbox.call(name, arguments)
            if answer.data is not None:
                good += 1
                assert answer.text == answer.data["message"]
                if name in ("read_file", "validate_change", "get_task", "list_specs", "list_knowledge"):
                    assert sdk_call(desk, name, arguments) == (answer.data, answer.text)
    assert good > 2 * len(TOOLS) - 8


def test_a_defect_in_a_tool_is_an_answer_that_names_it(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    answer = Toolbox(replace(desk, turn=None)).call("create_proposal", ARGUMENTS["create_proposal"])  # type: ignore[arg-type]
    assert answer.refused
    assert answer.text.startswith("Error executing tool create_proposal: TypeError: 'NoneType' object")
    assert "Traceback" in caplog.text


def test_a_power_of_the_agent_itself_is_no_tool(bench: Bench) -> None:
    bench.begin("propose", ("read_file", "edit_code"))
    toolbox = Toolbox(open_desk(LAYOUTS, bench.folder, bench.call))
    assert [tool["name"] for tool in toolbox.listed()] == ["read_file"]
    assert toolbox.call("edit_code", {}).text == "Unknown tool: edit_code"
