"""What the built-in agent can do in the work tree: read, list, search, and if it may write files and run commands.

Every path stays inside the work tree, links followed; git's own files and what looks like a secret are not touched.
A call that cannot be done is answered with what is wrong.
"""

import fnmatch
import inspect
import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Literal

from agentd import process
from agentd.agents.file_edits import edited, inside, write
from agentd.agents.script import Trouble
from agentd.errors import AgentdError
from agentd.patterns import regex
from agentd.redaction import redact, secret_values
from agentd.values import dataclass

ERROR = "Error: "
LARGEST = 1 << 20
MOST_LINES, MOST_FILES, MOST_MATCHES, MOST_LETTERS = 2000, 500, 200, 30_000
LONGEST_LINE = 500
SECONDS, MOST_SECONDS = 120, 600
SKIPPED = {".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".mypy_cache", ".ruff_cache"}
CLOSED = {".git", ".ssh", ".gnupg", ".aws"}
SECRETS = regex(
    r"\.env(?!\.(?:example|sample|template|dist)$)(?:\..+)?|.+\.(?:pem|key|p12|pfx|jks|keystore|kdbx)|id_(?:rsa|dsa|ecdsa|ed25519)"
    r"|\.(?:netrc|npmrc|pypirc|htpasswd|git-credentials|pgpass)|credentials(?:\.\w+)?|secrets?\.(?:json|ya?ml|toml|env)"
)


@dataclass(frozen=True)
class Offer:
    """A tool as the model sees it, and what it does."""

    name: str
    description: str
    schema: Mapping[str, Any]
    do: Callable[..., str]


def _answered(do: Callable[..., str], **arguments: Any) -> str:
    try:
        return do(**arguments)
    except (Trouble, AgentdError, OSError, ValueError, TypeError) as trouble:
        return f"{ERROR}{trouble}"


def place(cwd: str, path: str) -> str:
    """The real path of a file that may be touched."""
    root = os.path.realpath(cwd)
    if os.path.isabs(path):
        path = os.path.relpath(os.path.realpath(path), root)
    target = root if path in ("", ".") else inside(root, os.path.normpath(path))
    for name in (path, os.path.relpath(target, root)):
        if hidden(name):
            raise Trouble(f"{path} is not to be read or changed: it belongs to git, or may hold secrets.")
    return target


def hidden(path: str) -> bool:
    parts = path.lower().split(os.sep)
    return not CLOSED.isdisjoint(parts) or bool(SECRETS.fullmatch(parts[-1]))


def read_file(cwd: str, path: str, first_line: int = 1) -> str:
    """The text of a file, by its path from the project's root; at most 2000 lines at a time."""
    lines = _text(place(cwd, path)).splitlines()
    before = max(0, first_line - 1)
    shown = lines[before : before + MOST_LINES]
    rest = len(lines) - before - len(shown)
    more = f"\n[{rest} more lines; go on with first_line: {before + len(shown) + 1}]" if rest > 0 else ""
    return "\n".join(shown) + more


def _text(path: str) -> str:
    if not os.path.isfile(path):
        raise Trouble("There is no such file.")
    if os.path.getsize(path) > LARGEST:
        raise Trouble(f"The file has more than {LARGEST} bytes.")
    with open(path, "rb") as file:
        content = file.read()
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise Trouble("The file is no UTF-8 text.") from None


def list_files(cwd: str, folder: str = ".", pattern: str = "*") -> str:
    """The files below a folder; pattern is a glob for their path, such as *.py."""
    names = [name for name in _walk(cwd, folder) if fnmatch.fnmatch(name, pattern)]
    more = f"\n[{len(names) - MOST_FILES} more]" if len(names) > MOST_FILES else ""
    return "\n".join(names[:MOST_FILES]) + more or "There are none."


def _walk(cwd: str, folder: str) -> Iterator[str]:
    """Paths from the root, links to elsewhere left out."""
    root = os.path.realpath(cwd)
    for where, folders, files in os.walk(place(cwd, folder)):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(files):
            path = os.path.join(where, name)
            if os.path.isfile(path) and not os.path.islink(path) and not hidden(os.path.relpath(path, root)):
                yield os.path.relpath(path, root)


def search(cwd: str, text: str, folder: str = ".", regex: bool = False) -> str:
    """Every line with this text in the files below a folder, as path:line: text; regex: true for a pattern."""
    try:
        pattern = re.compile(text if regex else re.escape(text))
    except re.error as error:
        raise Trouble(f"{text!r} is no pattern: {error}.") from None
    found: list[str] = []
    for name in _walk(cwd, folder):
        try:
            lines = _text(os.path.join(cwd, name)).splitlines()
        except (Trouble, OSError):
            continue
        for number, line in enumerate(lines, 1):
            if pattern.search(line[: 4 * LONGEST_LINE]):
                found.append(f"{name}:{number}: {line[:LONGEST_LINE]}")
                if len(found) >= MOST_MATCHES:
                    return "\n".join(found) + "\n[there may be more]"
    return "\n".join(found) or "Nothing was found."


def write_file(cwd: str, path: str, content: str) -> str:
    """Writes a whole file, new or not."""
    write(place(cwd, path), content.encode())
    return f"{path} is written."


def replace_text(cwd: str, path: str, old: str, new: str) -> str:
    """Replaces a text that is in a file exactly once."""
    target = place(cwd, path)
    if not old:
        raise Trouble("The text to replace is empty.")
    write(target, edited(_text(target).encode(), [[old, new]], path))
    return f"{path} is changed."


def run_command(cwd: str, command: str, seconds: int = SECONDS) -> str:
    """Runs a shell command in the project's root; after 120 seconds, or those given, it is ended."""
    # It sees no API keys.
    keys: dict[str, str | None] = {name: None for name in os.environ if name.endswith("_API_KEY")}
    done = process.run(
        ["sh", "-c", f"exec 2>&1\n{command}"],
        cwd=cwd,
        env=keys,
        timeout=min(seconds, MOST_SECONDS),
        grace=1.0,
    )
    said = redact("\n".join(done.output), secret_values(os.environ))
    if len(said) > MOST_LETTERS:
        said = f"{said[: MOST_LETTERS // 4]}\n[…]\n{said[-MOST_LETTERS * 3 // 4 :]}"
    how = f"exit code {done.code}" if done.ended == "exit" else f"ended after {done.seconds:.0f} s"
    return f"[{how}]\n{said}"


# Each tool by its name, with what the job must allow.
TOOLS: Mapping[str, tuple[Callable[..., str], Literal["", "edits", "shell"]]] = {
    "read_project_file": (read_file, ""),
    "list_project_files": (list_files, ""),
    "search_project": (search, ""),
    "write_project_file": (write_file, "edits"),
    "replace_in_project_file": (replace_text, "edits"),
    "run_command": (run_command, "shell"),
}
KINDS = {str: {"type": "string"}, int: {"type": "integer", "minimum": 1}, bool: {"type": "boolean"}}


def offers(cwd: str, edits: bool, shell: bool) -> list[Offer]:
    allowed = {"": True, "edits": edits, "shell": shell}
    return [
        Offer(name, inspect.getdoc(do) or "", _schema(do), partial(_answered, partial(do, cwd)))
        for name, (do, need) in TOOLS.items()
        if allowed[need]
    ]


def _schema(do: Callable[..., str]) -> Mapping[str, Any]:
    """The arguments of a tool: those of its function after the folder."""
    _, *own = inspect.signature(do).parameters.values()
    properties = {one.name: KINDS[one.annotation] for one in own}
    required = [one.name for one in own if one.default is one.empty]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
