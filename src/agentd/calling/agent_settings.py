"""Settings that an agent takes from nowhere but a JSON file of the project: put there once, and left alone after.

Whatever else is in such a file stays as it is; one that cannot be read, or may not be written, is left untouched.
"""

import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentd import files
from agentd.errors import AgentdError, Corrupt, DiskTrouble, Refused
from agentd.git import ignoring
from agentd.state import durable
from agentd.text.jsonc import Broken, loaded, merged

WRITABLE = 0o222


def register(path: Path, wanted: Mapping[str, Any], root: Path) -> bool:
    """Put what is wanted into a JSON file of the project; False if it was there, and then nothing is written."""
    path = _within(path, root)
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
        return False
    if before is not None and not path.stat().st_mode & WRITABLE:
        fix = f"chmod u+w {shlex.quote(str(path))}   # then run the same command again"
        raise DiskTrouble(f"{path} is read-only; it was left as it is.", fix)
    if before is None:
        durable.make_folder(path.parent)
        with suppress(AgentdError):  # a git that cannot take it costs a line in its status, no more
            hide(path)
    durable.replace(path, after.encode(), "settings")
    return True


def _others(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """The entry of a server that has the place agentd's needs and is not agentd's, of whichever installation."""
    match found:
        case {"mcpServers": {"agentd": dict(entry)}} if "agentd" in wanted.get("mcpServers", {}):
            args = entry.get("args")
            words = [os.path.basename(str(entry.get("command"))), *(args if isinstance(args, list) else [])]
            own = "agentd" in words and "mcp" in words and not entry.keys() & {"url", "httpUrl"}
            return "" if own else "mcpServers.agentd"
    return ""


def _within(path: Path, root: Path) -> Path:
    """The real place of a file; one that a link puts outside the project is not written to."""
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(root)):
        fix = f"ls -ld {shlex.quote(str(path.parent))} {shlex.quote(str(path))}   # put a file in the place of the link"
        raise Refused(f"{path} leads out of {root}, to {real}; nothing was written there.", fix)
    return real


def _read(path: Path) -> str | None:
    """The text of a file, None if there is none."""
    if path.exists() and not path.is_file():
        raise Corrupt(f"{path} is not a file; it was left as it is.", f"ls -ld {shlex.quote(str(path))}")
    try:
        return files.read(path).decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        fix = f"file {shlex.quote(str(path))}   # save it as UTF-8"
        raise Corrupt(f"{path} is not UTF-8 text; it was left as it is.", fix) from None
    except OSError as error:
        raise durable.trouble(path, error, "read") from None


def hide(path: Path, below: Path | None = None) -> None:
    """Keep a file of agentd's own making, or all of its name below a folder, out of `git status`, without touching the
    project's .gitignore."""
    listed = ignoring.exclude_file(path.parent)
    if listed is None or ignoring.is_ignored(path.parent, path):
        return
    durable.make_folder(listed.parent)
    pattern = f"{ignoring.pattern(below, below)}/**/{path.name}" if below else ignoring.pattern(path.parent, path)
    durable.append(listed, f"{pattern}\n".encode(), "settings")
