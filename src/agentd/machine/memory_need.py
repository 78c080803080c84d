"""How much memory a command of a project needed the last times it ran, kept where no clone can bring it."""

import hashlib
import json
from contextlib import suppress
from pathlib import Path

from agentd.errors import AgentdError
from agentd.state import durable, reading
from agentd.state.layout import private_folder

REMEMBERED = 8
MARGIN = 1.2  # the next run may need a little more, and not all that a process takes is in its resident memory


def known(project: Path, command: str) -> int | None:
    """Return what a command is expected to need, in bytes; None if it was never measured."""
    peaks = _peaks(_file(project, command))
    return int(max(peaks) * MARGIN) if peaks else None


def learn(project: Path, command: str, peak: int, typical: bool) -> None:
    """Keep a peak that was measured. A run that is not `typical`, one that failed to start its tests say, tells only that
    more is needed than was known, never that little is enough."""
    path = _file(project, command)
    peaks = _peaks(path)
    if peak <= 0 or not (typical or (peaks and peak > max(peaks))):
        return
    with suppress(AgentdError):  # what cannot be kept is measured again
        durable.make_folder(path.parent)
        durable.replace(path, json.dumps({"peaks": [*peaks, peak][-REMEMBERED:]}).encode() + b"\n", "memory", 0o600)


def _file(project: Path, command: str) -> Path:
    name = hashlib.sha256(command.encode(errors="surrogateescape")).hexdigest()[:16]
    return private_folder(project) / "memory" / f"{name}.json"


def _peaks(path: Path) -> list[int]:
    try:
        found = json.loads(reading.own(path))["peaks"]
        return [peak for peak in found if type(peak) is int and peak > 0]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return []
