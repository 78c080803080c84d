"""The note that an archive or an undo was decided: whatever ends the process then, the next command finishes it."""

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentd.errors import Corrupt
from agentd.families.change import LAYOUT
from agentd.state import durable

Deed = Literal["archive", "undo"]


@dataclass(frozen=True)
class Pending:
    """What is under way, and was decided: it is finished, or taken back as a whole."""

    deed: Deed
    change: str


def read(root: Path) -> Pending | None:
    """What an earlier command left unfinished."""
    path = root / LAYOUT.unfinished
    try:
        data = json.loads(path.read_bytes())
        if not LAYOUT.names.fullmatch(data["change"]):
            raise ValueError
        return Pending({"archive": "archive", "undo": "undo"}[data["deed"]], data["change"])  # type: ignore[arg-type]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise durable.trouble(path, error, "read") from error
    except (ValueError, TypeError, KeyError):
        fix = f"rm {shlex.quote(str(path))}   # then agentd archive, or agentd undo, of the change that was under way"
        raise Corrupt(f"{path}: it does not say which archive is under way.", fix) from None


def decide(root: Path, deed: Deed, change: str) -> None:
    """Say what is under way. From when the change has its record, it will be done, by this process or by the next."""
    durable.replace(root / LAYOUT.unfinished, json.dumps({"deed": deed, "change": change}).encode() + b"\n", "pending")


def settle(root: Path) -> None:
    """Nothing is under way any more."""
    durable.remove(root / LAYOUT.unfinished, "pending")
