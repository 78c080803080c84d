"""Files of the project that an agent call needs to be different: changed while calls use them, and put back by the last.

What to put back is noted where only this person's own commands put files, so that the next command that writes does it
if this one is killed. No link is followed.
"""

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from agentd import files
from agentd.errors import AgentdError
from agentd.state import durable, reading
from agentd.state.layout import private_folder
from agentd.values import dataclass

PREFIX = "borrowed-"


@dataclass(frozen=True)
class Borrowed:
    """A file as it was (None: there was none) and as calls need it, and the line that keeps it out of `git status`."""

    path: str
    before: str | None
    after: str
    listed: str = ""
    line: str = ""


@contextmanager
def borrowed(root: Path, path: Path, wanted: Callable[[], Borrowed | None]) -> Iterator[None]:
    """A file as `wanted` says for as long as this lasts, or as it is if that gives None."""
    note = private_folder(root) / f"{PREFIX}{sha256(os.fsencode(path)).hexdigest()[:12]}.json"
    durable.make_folder(note.parent)
    with _opened(note) as fd:
        while not _joined(fd, note, wanted):
            pass
        try:
            yield
        finally:
            if _locked(fd, fcntl.LOCK_EX | fcntl.LOCK_NB):
                with suppress(AgentdError):  # the note stays, and the next command tries again
                    _put_back(note)


def put_back_left(root: Path, say: Callable[[str], None]) -> None:
    """Put back what a killed command left changed; a file that calls still use is left to them."""
    for note in sorted(private_folder(root).glob(f"{PREFIX}*.json")):
        try:
            with _opened(note) as fd:
                if _locked(fd, fcntl.LOCK_EX | fcntl.LOCK_NB):
                    _put_back(note)
        except AgentdError as error:
            say(f"⚠ {error.message}")


def _joined(fd: int, note: Path, wanted: Callable[[], Borrowed | None]) -> bool:
    """Use a file together with other calls; False if the last of them put it back meanwhile."""
    if _locked(fd, fcntl.LOCK_EX | fcntl.LOCK_NB):  # nobody else uses it
        _put_back(note)
        found = wanted()
        if found is not None:
            _change(note, found)
    _locked(fd, fcntl.LOCK_SH)
    found = wanted()
    if found is not None and note.exists():  # somebody wrote it meanwhile
        durable.replace(Path(found.path), found.after.encode(), "settings")
    return found is None or note.exists()


def _change(note: Path, found: Borrowed) -> None:
    path = Path(found.path)
    durable.replace(note, json.dumps(asdict(found)).encode(), "pending")
    if found.line:
        with suppress(AgentdError):  # a git that cannot take it costs a line in its status, no more
            durable.append(Path(found.listed), f"{found.line}\n".encode(), "settings")
    durable.make_folder(path.parent)
    durable.replace(path, found.after.encode(), "settings")


def _put_back(note: Path) -> None:
    found = _read(note)
    if found is not None:
        path = Path(found.path)
        durable.refuse_links(path, "put back")
        now = _text(path)
        if now == found.after and found.before is None:
            durable.remove(path, "settings")
            with suppress(OSError):
                os.rmdir(path.parent)
        elif now is not None and found.before is not None and now != found.before:
            durable.replace(
                path, _without(now, found.before, found.after).encode("utf-8", "surrogateescape"), "settings"
            )
        if found.line:
            with suppress(AgentdError, OSError):
                _strike(Path(found.listed), found.line)
    durable.remove(note, "pending")


def _without(now: str, before: str, after: str) -> str:
    """The text as it is now with what made `before` to `after` taken back, if that stands in it exactly once."""
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    added, taken = after[start : len(after) - end], before[start : len(before) - end]
    return before if now == after else now.replace(added, taken) if added and now.count(added) == 1 else now


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(one), len(other)))


def _strike(listed: Path, line: str) -> None:
    """Take a line out of a file, the last one if there are several."""
    head, found, tail = files.read(listed).decode("utf-8", "surrogateescape").rpartition(f"{line}\n")
    if found and (not head or head.endswith("\n")):
        durable.replace(listed, (head + tail).encode("utf-8", "surrogateescape"), "settings")


def _read(note: Path) -> Borrowed | None:
    """What is noted, if this user did; None if there is nothing that can be read."""
    try:
        with reading.opened(note) as file:
            mine = os.fstat(file.fileno()).st_uid == os.geteuid()
            return Borrowed(**json.loads(file.read())) if mine else None
    except (OSError, ValueError, TypeError):
        return None


def _text(path: Path) -> str | None:
    try:
        return files.read(path, flags=os.O_NOFOLLOW).decode("utf-8", "surrogateescape")
    except OSError:
        return None


@contextmanager
def _opened(note: Path) -> Iterator[int]:
    """The lock of a note. The file is never deleted: that would let two hold it."""
    path = note.with_suffix(".lock")
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise durable.trouble(path, error, "locked") from error
    try:
        yield fd
    finally:
        os.close(fd)


def _locked(fd: int, how: int) -> bool:
    try:
        fcntl.flock(fd, how)
    except BlockingIOError:
        return False
    return True
