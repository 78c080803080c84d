"""What the scripted agent writes: whole files, appended text, replacements, deletions.

Every path is checked against the folder it belongs to; nothing is written outside it.
"""

import os
from contextlib import suppress

from agentd.agents.script import Entry, Trouble


def apply(entry: Entry, folder: str) -> None:
    for name, text in entry.get("documents", {}).items():
        write(inside(folder, name), text.encode())
    for path, text in entry.get("files", {}).items():
        write(place(path, folder), text.encode())
    for path, text in entry.get("append", {}).items():
        target = place(path, folder)
        write(target, (read(target) if os.path.exists(target) else b"") + text.encode())
    for path, edits in entry.get("replace", {}).items():
        target = place(path, folder)
        write(target, edited(read(target), edits, path))
    for path in entry.get("delete", ()):
        os.unlink(place(path, folder))


def edited(content: bytes, edits: list[list[str]], path: str) -> bytes:
    for old, new in edits:
        found = content.count(old.encode())
        if found != 1:
            raise Trouble(f"{path} holds {old!r} {found} times; a replacement needs it exactly once.")
        content = content.replace(old.encode(), new.encode())
    return content


def place(path: str, folder: str) -> str:
    """A path of the project, or of the run's folder when it starts with `run:`."""
    return inside(folder, path[4:]) if path.startswith("run:") else inside(os.getcwd(), path)


def inside(root: str, path: str) -> str:
    """The real path below root; an absolute one, or one that leads out by `..` or through a link, is refused."""
    root = os.path.realpath(root)
    target = os.path.realpath(os.path.join(root, path))
    strays = os.path.isabs(path) or ".." in path.split("/")
    if strays or target == root or os.path.commonpath([root, target]) != root:
        raise Trouble(f"The path {path!r} is not inside {root}.")
    return target


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def write(path: str, content: bytes) -> None:
    """All or nothing: nobody ever reads half of it. A file that was there keeps its mode."""
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    temp = os.path.join(folder, f".{os.getpid()}.tmp")
    try:
        with open(temp, "wb") as file:
            file.write(content)
        if os.path.exists(path):
            os.chmod(temp, os.stat(path).st_mode & 0o7777)
        os.replace(temp, path)
    except OSError:
        with suppress(FileNotFoundError):
            os.unlink(temp)
        raise


def add_line(path: str, line: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    os.write(file, f"{line}\n".encode())  # one write, so that lines of parallel agents do not mix
    os.close(file)
