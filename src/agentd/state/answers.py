"""What people say to a run that another process may be working on: a file of its own, made once, never changed."""

import json
import os
import shlex
from pathlib import Path
from typing import Any

from agentd.errors import BadAnswer, Corrupt
from agentd.model.decision import Answer
from agentd.patterns import regex
from agentd.state import durable, reading

_ID = regex(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_STOP = "stop.json"


def write(folder: Path, answer: Answer) -> bool:
    """Record an answer; False if somebody was first."""
    path = _path(folder, answer.decision)
    durable.make_folder(path.parent)
    return durable.create(path, _json(answer._asdict()), "answer")


def read(folder: Path, decision_id: str) -> Answer | None:
    """The answer to a decision, if there is one."""
    path = _path(folder, decision_id)
    try:
        data = reading.own(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise durable.trouble(path, error, "read") from error
    try:
        found = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise _corrupt(path, "it is not complete JSON") from None
    if not isinstance(found, dict) or found.get("decision") != decision_id or not found.get("value"):
        raise _corrupt(path, f"it is not an answer to {decision_id}")
    said = {name: found[name] for name in Answer._fields if name in found}
    if not all(isinstance(word, str) for word in said.values()):
        raise _corrupt(path, "its values must be text")
    return Answer(**said)


def set_aside(folder: Path, decision_id: str) -> Path:
    """Take an answer that cannot count out of the way, without losing it."""
    path = _path(folder, decision_id)
    number = 1
    while (aside := path.with_suffix(f".void-{number}")).exists():
        number += 1
    durable.move(path, aside, "answer")
    return aside


def ask_to_stop(folder: Path, by: str, at: str) -> bool:
    """Ask whoever works on the run to stop; False if somebody has asked before."""
    return durable.create(folder / _STOP, _json({"by": by, "at": at}), "answer")


def stop_requested(folder: Path) -> bool:
    return os.path.exists(f"{folder}/{_STOP}")


def clear_stop(folder: Path) -> None:
    """The request has been heard."""
    durable.remove(folder / _STOP, "answer")


def _path(folder: Path, decision_id: str) -> Path:
    if not _ID.fullmatch(decision_id):
        raise BadAnswer(f"{decision_id!r} cannot be the id of a decision.", f"agentd status {shlex.quote(folder.name)}")
    return folder / "answers" / f"{decision_id}.json"


def _json(data: dict[str, Any]) -> bytes:
    return (json.dumps(data, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "backslashreplace")


def _corrupt(path: Path, what: str) -> Corrupt:
    return Corrupt(f"{path}: {what}.", f"rm {shlex.quote(str(path))}   # then answer again")
