"""Where things live: the root of a project and the folders of its runs. It reads names of folders, nothing in them."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agentd.errors import Corrupt, UsageError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
CHANGE_ID = re.compile(r"[a-z0-9][a-z0-9-]*")
OURS = ("config.toml", "changes", "specs", "archive", "workflows", "runs", "prompts")
ARCHIVE = "agentd/archive"
OWN = "agentd"  # its lock is that of the library
PENDING = "agentd/.archiving.json"
HOME_FILE = "agentd-home"
HOMES = {
    "change": ("agentd/changes", ARCHIVE),
    "team": (".agents-work",),
    "staged": (".agents",),
}
OWN_HOME = ("agentd/runs",)


@dataclass(frozen=True)
class Place:
    """A run's folder and the family whose file names it keeps ("" for a person's own workflow)."""

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
        private = folder / link.read_text().removeprefix("gitdir:").strip()
        root = Path(os.fsdecode((private / HOME_FILE).read_bytes()))
    except (OSError, ValueError):
        return None
    return root if root.is_dir() else None


def homes(family: str) -> tuple[str, ...]:
    """The folders a family's runs live in, relative to the root; new ones go into the first."""
    return HOMES.get(family, OWN_HOME)


def place(root: Path, family: str, name: str) -> Place:
    """Where a run lives, or would live. The name is checked, so that no path leads out of its home."""
    pattern = CHANGE_ID if family == "change" else NAME
    if not pattern.fullmatch(name) or len(name) > 100:
        allowed = (
            "small letters, digits and dashes"
            if family == "change"
            else "letters, digits, dots, dashes and underscores"
        )
        raise UsageError(f"'{name}' cannot name a run: use {allowed}, at most 100.", "for example: add-oauth")
    folders = [root / home / name for home in homes(family)]
    found = next((folder for folder in folders if folder.is_dir()), folders[0])
    return Place(family, name, found)


def places(root: Path, name: str = "", archived: bool = True) -> Iterator[Place]:
    """Every folder that could hold a run, or a run of this name: by family, then by name; without the archive, if so wanted."""
    for family in (*HOMES, ""):
        for home in homes(family):
            base = root / home
            for found in () if home == ARCHIVE and not archived else [name] if name else _names(base):
                if NAME.fullmatch(found):
                    folder = base / found
                    if not name or folder.is_dir():
                        yield Place(family, found, folder)


def _names(base: Path) -> list[str]:
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
