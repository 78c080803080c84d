"""One tool as agents see it: what it takes and what it gives, both made from the signature of its function."""

import inspect
import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from agentd.mcp.tools import find
from agentd.values import dataclass

ProjectPath = Annotated[str, Field(max_length=4096, description="The project's root; may be left out")]


@dataclass(frozen=True)
class Tool:
    """A tool; `arguments` and `result` are the models that what is sent and what is given back must fit."""

    name: str
    function: Callable[..., Any]
    arguments: type[BaseModel]
    result: type[BaseModel]

    def listed(self) -> dict[str, Any]:
        """The entry of the tool in a list of tools."""
        return {
            "name": self.name,
            "description": inspect.getdoc(self.function) or "",
            "inputSchema": lean(self.arguments.model_json_schema(by_alias=True)),
            "outputSchema": self.result.model_json_schema(),
        }

    def accept(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the function; some agents send a list or an object as JSON in a text."""
        opened = {name: self._opened(name, value) for name, value in sent.items()}
        accepted = self.arguments.model_validate(opened)
        fields = self.arguments.model_fields
        return {field.alias or name: getattr(accepted, name) for name, field in fields.items()}

    def data(self, given: Any) -> dict[str, Any]:
        """What the function gave, as data."""
        return self.result.model_validate(given, by_alias=True, by_name=True).model_dump(mode="json", by_alias=True)

    def _opened(self, name: str, value: Any) -> Any:
        field = self.arguments.model_fields.get(name)
        if not isinstance(value, str) or field is None or field.annotation is str:
            return value
        try:
            inner = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return value if isinstance(inner, str | int | float) else inner


@cache
def make_tool(name: str) -> Tool:
    """The tool of a name: its function without the desk, which knows no other arguments than it names."""
    function = find(name)
    signature = inspect.signature(function, eval_str=True)
    sent = list(signature.parameters.values())[1:]
    own = inspect.Parameter("project_path", inspect.Parameter.KEYWORD_ONLY, default="", annotation=ProjectPath)
    fields = dict(map(_field, [*sent, own]))
    arguments = create_model(f"{name}Arguments", __config__=ConfigDict(extra="forbid"), **fields)
    return Tool(name, function, arguments, _result(signature.return_annotation))


def _field(part: inspect.Parameter) -> tuple[str, Any]:
    """A field of the arguments. A name that models have a method of cannot be one, so it becomes an alias."""
    taken = callable(getattr(BaseModel, part.name, None))
    kind = Annotated[part.annotation, Field(alias=part.name)] if taken else part.annotation
    default = ... if part.default is inspect.Parameter.empty else part.default
    return f"field_{part.name}" if taken else part.name, (kind, default)


def _result(given: type) -> type[BaseModel]:
    """The model of a dataclass that a tool gives."""
    fields = {name: (kind, getattr(given, name, ...)) for name, kind in get_type_hints(given).items()}
    made: type[BaseModel] = create_model(given.__name__, __config__=ConfigDict(from_attributes=True), **fields)  # type: ignore[call-overload]
    return made


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
