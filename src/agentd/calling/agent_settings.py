"""Settings that an agent takes from nowhere but a JSON file of the project: put there for each call, and taken out again.

Whatever else is in such a file stays as it is; one that cannot be read, may not be written, or is a link, is left untouched.
"""

import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from agentd import files
from agentd.errors import AgentdError, Corrupt, DiskTrouble, Refused
from agentd.git import ignoring
from agentd.runs.borrowed_files import Borrowed, borrowed
from agentd.state import durable
from agentd.text.jsonc import Broken, loaded, merged

WRITABLE = 0o222


@contextmanager
def lent(root: Path, cwd: Path, merges: Mapping[str, Mapping[str, Any]]) -> Iterator[None]:
    """What is wanted in JSON files below `cwd`, for as long as a call lasts; `root` is the project's."""
    with ExitStack() as stack:
        for name, wanted in merges.items():
            stack.enter_context(borrowed(root, cwd / name, partial(registration, cwd / name, wanted)))
        yield


def registration(path: Path, wanted: Mapping[str, Any]) -> Borrowed | None:
    """A JSON file of the project with what is wanted in it; None if it is there."""
    durable.refuse_links(path)
    before = _read(path)
    try:
        theirs = _others(loaded(before or ""), wanted)
        after = merged(before or "", wanted)
    except Broken as error:
        fix = f"${{EDITOR:-vi}} +{error.line} {shlex.quote(str(path))}"
        raise Corrupt(f"{path}:{error.line}: {error}; it was left as it is.", fix) from None
    if theirs:
        fix = f"${{EDITOR:-vi}} {shlex.quote(str(path))}   # give {theirs} another name"
        raise Refused(f"{theirs} in {path} is a server of another kind than agentd's; it was left as it is.", fix)
    if after == before:
        return None
    if before is not None and not path.stat().st_mode & WRITABLE:
        fix = f"chmod u+w {shlex.quote(str(path))}   # then run the same command again"
        raise DiskTrouble(f"{path} is read-only; it was left as it is.", fix)
    if before is None:
        durable.make_folder(path.parent)
    return Borrowed(str(path), before, after, *(_unlisted(path) if before is None else ()))


def _others(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """The entry of a server that has the place agentd's needs and is not agentd's, of whichever installation."""
    match found:
        case {"mcpServers": {"agentd": dict(entry)}} if "agentd" in wanted.get("mcpServers", {}):
            args = entry.get("args")
            words = [os.path.basename(str(entry.get("command"))), *(args if isinstance(args, list) else [])]
            own = "agentd" in words and "mcp" in words and not entry.keys() & {"url", "httpUrl"}
            return "" if own else "mcpServers.agentd"
    return ""


def _read(path: Path) -> str | None:
    """The text of a file, None if there is none."""
    if path.exists() and not path.is_file():
        raise Corrupt(f"{path} is not a file; it was left as it is.", f"ls -ld {shlex.quote(str(path))}")
    try:
        return files.read(path, flags=os.O_NOFOLLOW).decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        fix = f"file {shlex.quote(str(path))}   # save it as UTF-8"
        raise Corrupt(f"{path} is not UTF-8 text; it was left as it is.", fix) from None
    except OSError as error:
        raise durable.trouble(path, error, "read") from None


def _unlisted(path: Path) -> tuple[str, ...]:
    """The list that keeps a file of agentd's own making out of `git status`, and its line; nothing if git ignores it."""
    try:
        listed = ignoring.exclude_file(path.parent)
        if listed is None or ignoring.is_ignored(path.parent, path):
            return ()
        durable.make_folder(listed.parent)
        return str(listed), ignoring.pattern(path.parent, path)
    except AgentdError:
        return ()
