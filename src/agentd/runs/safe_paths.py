"""Names that agents give for files, turned into paths that cannot lead out of a folder, and files read without surprises."""

import os
from pathlib import Path

from agentd import files
from agentd.errors import NotFound, Refused
from agentd.patterns import regex
from agentd.redaction import redact, secret_values
from agentd.state import durable

LARGEST = files.SMALL
_CONTROL = regex(r"[\x00-\x1f\x7f\ud800-\udfff]")
_DRIVE = regex(r"[A-Za-z]:")


def inside(folder: Path, name: str, what: str) -> Path:
    """The path of `name` below `folder`; whatever could lead elsewhere is refused, and so is every link."""
    why = _odd(name)
    if not why:
        root = Path(os.path.realpath(folder))
        path = Path(os.path.realpath(root / name))
        if path == root / name:
            return path
        why = "it is a link, and a link may lead to what is not yours"
    shown = name if len(name) <= 80 else name[:80] + "…"
    raise Refused(f"{what}: {shown!r} is not allowed: {why}.", f"send a path inside {folder.name}/, such as notes/a.md")


def _odd(name: str) -> str:
    """What is wrong with a name by its letters alone, or nothing."""
    if not name.strip():
        return "it is empty"
    if _CONTROL.search(name):
        return "it holds a control character"
    if name.startswith("/") or _DRIVE.match(name):
        return "it is an absolute path"
    if "\\" in name:
        return "it holds a backslash; separate folders with /"
    parts = name.split("/")
    if ".." in parts:
        return "it holds '..'"
    if "" in parts or "." in parts:
        return "it has an empty part"
    if len(name.encode()) > 1000 or any(len(part.encode()) > 200 for part in parts):
        return "it is too long"
    return ""


def read_text(path: Path, shown: str) -> str:
    """The text of a regular file of a sensible size; nothing else is opened for long."""
    try:
        return files.read(path, LARGEST).decode("utf-8")
    except FileNotFoundError:
        raise NotFound(f"There is no file {shown}.") from None
    except (files.Unreadable, IsADirectoryError) as error:
        raise Refused(f"{shown} is not read: {error.strerror}.", "send the path of a smaller file of text") from None
    except OSError as error:
        raise durable.trouble(path, error, "read") from None
    except UnicodeDecodeError:
        raise Refused(f"{shown} is not UTF-8 text.", "read a text file") from None


def holds_secret(text: str) -> bool:
    """Whether a text holds a key, a token or a password: what looks like one, or the value of a variable named so."""
    return redact(text, secret_values(os.environ)) != text
