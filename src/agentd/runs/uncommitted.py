"""Which runs of this checkout ended and were not committed yet: marks in git's private folder, which no clone brings."""

import os
from pathlib import Path

from agentd.state import durable
from agentd.state.layout import git_folder

FOLDER = "uncommitted"


def mark(root: Path, name: str) -> None:
    """Note that a run has ended; nothing outside of git."""
    path = _mark(root, name)
    if path is not None:
        durable.make_folder(path.parent)
        durable.create(path, b"", "pending")


def unmark(root: Path, name: str) -> None:
    path = _mark(root, name)
    if path is not None and path.exists():
        durable.remove(path, "pending")


def is_marked(root: Path, name: str) -> bool:
    path = _mark(root, name)
    return path is not None and path.is_file()


def marked(root: Path) -> list[str]:
    """The names of all runs with a mark."""
    private = git_folder(root)
    try:
        return sorted(os.listdir(private / FOLDER)) if private is not None else []
    except OSError:
        return []


def _mark(root: Path, name: str) -> Path | None:
    private = git_folder(root)
    return private / FOLDER / name if private is not None else None
