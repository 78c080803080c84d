"""The note on a command that was cut off between two writes, which the next command that writes finishes.

It is kept where only this person's own commands put files: a note that a repository brings is never read.
"""

import json
import os
import shlex
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from agentd.errors import Corrupt, Refused
from agentd.state import durable, lock, reading
from agentd.state.layout import NAME, private_folder
from agentd.values import dataclass

FILE = "unfinished.json"


@dataclass(frozen=True)
class Unfinished:
    """The command in progress, and the run it is about."""

    family: str
    command: str
    run: str


def read(root: Path) -> Unfinished | None:
    """The command that is in progress, or that a process began and did not finish."""
    path = note(root)
    shown = shlex.quote(str(path))
    try:
        with reading.opened(path) as file:
            if os.fstat(file.fileno()).st_uid != os.geteuid():
                raise Refused(f"{path} belongs to another user; nothing is finished in their name.", f"ls -l {shown}")
            found = Unfinished(**json.loads(file.read()))
        if not all(NAME.fullmatch(word) for word in vars(found).values()):
            raise ValueError
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise durable.trouble(path, error, "read") from error
    except (ValueError, TypeError):
        fix = f"rm {shown}   # then run agentd archive or agentd undo again for the interrupted change"
        raise Corrupt(f"{path} does not say which command is in progress.", fix) from None
    return found


def interrupted(root: Path) -> Unfinished | None:
    """The command that was cut off; None while a process is at it."""
    found = read(root)
    return found if found and lock.holder(root / "agentd") is None else None


def begin(root: Path, found: Unfinished) -> None:
    path = note(root)
    durable.make_folder(path.parent)
    durable.sweep(path.parent)
    durable.replace(path, json.dumps(asdict(found)).encode() + b"\n", "pending")


def end(root: Path) -> None:
    path = note(root)
    durable.remove(path, "pending")
    with suppress(OSError):
        os.rmdir(path.parent)


def note(root: Path) -> Path:
    return private_folder(root) / FILE
