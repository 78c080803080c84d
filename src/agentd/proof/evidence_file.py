"""evidence.json: what agentd saw a project's commands do, as text and back. A file with anything else is refused."""

import json
from dataclasses import asdict, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from agentd.errors import Corrupt
from agentd.model.evidence import Evidence

_FIX = "remove the file and run the command again: agentd looks at the project anew"


def status(evidence: Evidence) -> Literal["green", "red", "unknown"]:
    """Red if tests failed or there were none, or anything else is red; unknown if tests could not run.

    A linter, type checker or audit that could not run is a note.
    """
    statuses = [result.status for result in evidence.results]
    if "red" in statuses or any(each.status == "none" and each.command.kind == "test" for each in evidence.results):
        return "red"
    tests = [result.status for result in evidence.results if result.command.kind == "test"]
    return "unknown" if "unknown" in tests else "green"


def render(evidence: Evidence) -> str:
    """The whole file. The status at the top is for people; it is not read back."""
    return json.dumps({"status": status(evidence), **asdict(evidence)}, indent=2, ensure_ascii=False) + "\n"


def read(text: str, source: str) -> Evidence:
    """The evidence; raises Corrupt if the text is anything else."""
    try:
        data = json.loads(text)
        if isinstance(data, dict):
            data.pop("status", None)
        found: Evidence = _value(data, Evidence, "evidence")
        return found
    except (ValueError, TypeError, RecursionError) as error:
        raise Corrupt(f"{source} is not evidence that agentd wrote: {error}.", _FIX) from None


def _value(data: Any, kind: Any, name: str) -> Any:
    """Data as a value of exactly that type; nothing may be missing, and nothing added."""
    if type(data) is kind:
        return data
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints(kind)
        if not isinstance(data, dict) or data.keys() != hints.keys():
            raise TypeError(f"'{name}' does not have exactly the fields {', '.join(hints)}")
        return kind(**{each: _value(data[each], hints[each], each) for each in hints})
    origin, inner = get_origin(kind), get_args(kind)
    if isinstance(kind, UnionType):
        return None if data is None else _value(data, inner[0], name)
    if origin is tuple and isinstance(data, list):
        return tuple(_value(each, inner[0], name) for each in data)
    if kind is float and type(data) is int:
        return float(data)
    if origin is Literal and data in inner:
        return data
    raise TypeError(f"'{name}' cannot be {str(data)[:40]!r}")


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
