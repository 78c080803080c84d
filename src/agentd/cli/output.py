"""What a command prints: one JSON document for a program, or lines for a person that cannot steer the terminal."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import click

from agentd.patterns import regex

# A whole sequence for the terminal, or a control character by itself.
CONTROL = regex(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_UNESCAPED = regex(r"[\x7f-\x9f]")  # control characters that JSON leaves as they are


def tell(as_json: bool, data: Mapping[str, Any], lines: Iterable[str], code: int = 0) -> int:
    """What a command came to, as data or as lines; gives the exit code."""
    if as_json:
        print_json({"ok": not code, **data, "exit": code})
    else:
        for line in lines:
            say(line)
    return code


def say(text: str, err: bool = False) -> None:
    """One line for a person; `err`: of what went wrong."""
    click.echo(CONTROL.sub("", text), err=err)


def print_json(data: Mapping[str, Any]) -> None:
    """The one document of a `--json` command."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    print(_UNESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text))
