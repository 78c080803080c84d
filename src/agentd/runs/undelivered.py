"""Which runs of this checkout have landed work that was not delivered yet: marks in git's private folder, which no clone brings."""

from pathlib import Path

from agentd.state import durable
from agentd.state.layout import private_folder

FOLDER = "undelivered"


def mark(root: Path, family: str, run: str) -> None:
    """Note that work of a run has landed."""
    path = _mark(root, family, run)
    if not path.exists():
        durable.make_folder(path.parent)
        durable.create(path, b"", "pending")


def unmark(root: Path, family: str, run: str) -> None:
    path = _mark(root, family, run)
    if path.exists():
        durable.remove(path, "pending")


def is_marked(root: Path, family: str, run: str) -> bool:
    return _mark(root, family, run).is_file()


def _mark(root: Path, family: str, run: str) -> Path:
    return private_folder(root) / FOLDER / family / run
