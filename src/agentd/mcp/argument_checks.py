"""What no tool takes, whatever its schema, and what is wrong with arguments in words an agent can act on."""

import os
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from agentd.errors import Refused
from agentd.patterns import regex
from agentd.runs.call_scope import Desk
from agentd.runs.safe_paths import LARGEST, holds_secret

_UNWRITABLE = regex(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


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
