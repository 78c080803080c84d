"""The variables for everything that runs in a workspace: its ports, its temporary folder, and names of its own.

What a workspace got stays the same as long as the record of the workspace exists. Who has which ports is kept once for
all projects of a person; what belongs to a workspace that is gone is free again, also after a kill.
"""

import hashlib
import json
import os
import re
import shutil
import socket
import stat
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from agentd.errors import AgentdError
from agentd.git import repository
from agentd.landing import workspace
from agentd.patterns import regex
from agentd.runs.worktree import beside, workspaces_folder
from agentd.state import durable, lock, reading
from agentd.state.layout import private_folder, state_folder

NUMBER = 10
FIRST, LAST = 20_000, 32_759  # below the ports that systems give to clients
LONGEST = 60  # of the path of a temporary folder: a socket in it has room for 40 more
MOST_NAME = 63  # letters of a database's name in PostgreSQL; MySQL takes one more
NOTE = "ports.json"
_PATIENCE = 30.0
_TEMPORARY = regex(r"(?P<ours>/.*-agentd/tmp)/[0-9a-f]{8}|/.*/agentd-[0-9]+-[0-9a-f]{8}", re.DOTALL)


def variables(root: Path, run: str, task: str) -> dict[str, str]:
    """The variables of a task's workspace; the first time, its ports and its temporary folder are chosen."""
    found = _reserved(root, run, task)
    place = inner(root, workspaces_folder(root, run) / task)
    name = f"{run}-{task}".replace("/", "-")
    made = Path(str(found["tmp"]))
    _make_private(made)
    return {
        "AGENTD_WORKSPACE": name,
        "AGENTD_DATABASE": database(f"{root.name}-{name}", mark(root, run, task)),
        "AGENTD_PORT": str(found["port"]),
        "TMPDIR": str(made),
        "CONDUCTOR_PORT": str(found["port"]),
        "CONDUCTOR_WORKSPACE_NAME": name,
        **paths(root, place),
    }


def paths(root: Path, place: Path) -> dict[str, str]:
    """The checkout that a work tree was made from and the work tree, as the scripts of other tools know them."""
    sources = ("AGENTD_SOURCE", "ROOT_WORKTREE_PATH", "CODEX_SOURCE_TREE_PATH", "CONDUCTOR_ROOT_PATH")
    places = ("CODEX_WORKTREE_PATH", "CONDUCTOR_WORKSPACE_PATH")
    return {name: str(root) for name in sources} | {name: str(place) for name in places}


def inner(root: Path, place: Path) -> Path:
    """Where the project is in a work tree: it may be a folder of its repository."""
    return place / root.relative_to(repository.top(root))


def database(name: str, own: str) -> str:
    """A name that databases take without quotes; the mark `own` makes it unique."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    room = MOST_NAME - len("agentd__") - len(own)
    return f"agentd_{plain[:room]}_{own}"


def mark(root: Path, run: str, task: str) -> str:
    """Eight letters that only this workspace has."""
    return hashlib.sha256(f"{root}\0{run}\0{task}".encode(errors="surrogateescape")).hexdigest()[:8]


def ranges(own: str) -> Iterator[int]:
    """The first ports of all ranges, from one that depends on the workspace: so it tends to get the same again."""
    count = (LAST + 1 - FIRST) // NUMBER
    start = zlib.crc32(own.encode()) % count
    return (FIRST + NUMBER * ((start + step) % count) for step in range(count))


def release(root: Path, run: str, task: str) -> None:
    """Give up what a workspace had, its temporary folder with all that is in it, also after its record is gone."""
    with suppress(OSError):
        _note(root, run, task).unlink()
    registry = _registry()
    if registry.is_dir():
        with lock.acquire(registry, "", _PATIENCE, deep=False):
            _sweep(registry)


def _reserved(root: Path, run: str, task: str) -> Mapping[str, Any]:
    note = _note(root, run, task)
    found = _read(note)
    if found:
        return found
    registry = _registry()
    durable.make_folder(registry)
    durable.make_folder(note.parent)
    with lock.acquire(registry, "", _PATIENCE, deep=False):
        found = _read(note)
        if found:
            return found
        _sweep(registry)
        own = mark(root, run, task)
        port = next((port for port in ranges(own) if not (registry / f"{port}.json").exists() and _is_free(port)), 0)
        if not port:
            raise AgentdError(f"No {NUMBER} ports from {FIRST} to {LAST} are free.", "agentd list")
        chosen = {"port": port, "tmp": str(_temporary(root, own)), "note": str(note)}
        data = json.dumps(chosen).encode() + b"\n"
        durable.replace(registry / f"{port}.json", data, "workspace")
        durable.replace(note, data, "workspace")
    return chosen


def _is_free(first: int) -> bool:
    """Whether all ports of a range are free."""
    for port in range(first, first + NUMBER):
        with closing(socket.socket()) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("", port))
            except OSError:
                return False
    return True


def _sweep(registry: Path) -> None:
    """Free what belonged to workspaces that are gone."""
    for path in registry.glob("[0-9]*.json"):
        found = _read(path)
        if not found or _read(Path(str(found.get("note")))) != found:
            if found:
                _remove(Path(str(found["tmp"])))
            with suppress(OSError):
                path.unlink()


def _temporary(root: Path, own: str) -> Path:
    """Beside the workspaces, if the path of a socket in it is short enough."""
    near = beside(root) / "tmp" / own
    if len(os.fsencode(near)) <= LONGEST:
        return near
    return Path(tempfile.gettempdir(), f"agentd-{os.getuid()}-{own}")


def _make_private(path: Path) -> None:
    """Make a folder for this person alone; refuse one of another user, as all may write in the folder around it."""
    with suppress(FileExistsError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700)
    known = path.lstat()
    if not stat.S_ISDIR(known.st_mode) or known.st_uid != os.getuid():
        raise AgentdError(f"{path} is not a folder of yours.", f"ls -ld {path}")


def _remove(path: Path) -> None:
    """Remove a temporary folder, and the folder around it if that is agentd's own and empty; what is not called like one is
    left alone."""
    known = _TEMPORARY.fullmatch(str(path))
    if known:
        shutil.rmtree(path, ignore_errors=True)
    if known and known["ours"]:
        with suppress(OSError):
            path.parent.rmdir()


def _read(path: Path) -> dict[str, Any]:
    """What was chosen; nothing if that cannot be read."""
    try:
        found = json.loads(reading.own(path))
    except (OSError, ValueError, RecursionError):
        return {}
    good = isinstance(found, dict) and isinstance(found.get("port"), int) and isinstance(found.get("tmp"), str)
    return found if good else {}


def _note(root: Path, run: str, task: str) -> Path:
    return private_folder(root) / workspace.RECORDS / run / task / NOTE


def _registry() -> Path:
    return state_folder() / "ports"
