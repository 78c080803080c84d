"""Where a project begins and what the folders of its runs are called. It reads names of folders, nothing in them."""

import os
import re
from pathlib import Path
from typing import NamedTuple

from agentd import files
from agentd.errors import Corrupt

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
OURS = ("config.toml", "changes", "specs", "archive", "workflows", "runs", "prompts")
HOME_FILE = "agentd-home"


class Place(NamedTuple):
    """A run's folder and the family it belongs to."""

    family: str
    name: str
    folder: Path


def find_root(start: Path) -> Path:
    """The nearest folder upwards that holds agentd's own `agentd/`, else the top of the git checkout, else `start`.

    A Python package or any other folder that happens to be called agentd does not count.
    """
    start = start.resolve()
    upwards = (start, *start.parents)
    main = next(filter(None, map(_main_checkout, upwards)), None)
    if main is not None:
        return main
    for folder in upwards:
        ours = folder / "agentd"
        if any((ours / name).exists() for name in OURS) and not (ours / "__init__.py").exists():
            return folder
    return next((folder for folder in upwards if (folder / ".git").exists()), start)


def point_home(private: Path, root: Path) -> None:
    """Note in git's private folder of a worktree that its runs are kept in the project at `root`."""
    (private / HOME_FILE).write_bytes(os.fsencode(root))


def _main_checkout(folder: Path) -> Path | None:
    """The project a worktree belongs to, if agentd made it."""
    link = folder / ".git"
    if not link.is_file():
        return None
    try:
        private = folder / files.read(link).decode().removeprefix("gitdir:").strip()
        root = Path(os.fsdecode(files.read(private / HOME_FILE)))
    except (OSError, ValueError):
        return None
    return root if root.is_dir() else None


def folders_in(base: Path) -> list[str]:
    """The folders in a folder, in order."""
    try:
        with os.scandir(base) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def child_folder(folder: Path, step: str, item: str) -> Path:
    """Where the child run of one item lives: a folder of its own, inside its parent's."""
    if not NAME.fullmatch(item):
        raise Corrupt(f"'{item}' cannot name an item: use letters, digits, dots, dashes and underscores.")
    return folder / "children" / step / item
