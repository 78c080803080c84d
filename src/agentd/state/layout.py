"""Where a project begins and what the folders of its runs are called. It reads names of folders, nothing in them."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from agentd import files
from agentd.errors import Corrupt
from agentd.patterns import regex

NAME = regex(r"[A-Za-z0-9][A-Za-z0-9._-]*")
NEW_NAME = regex(
    r"(?!.*(?:\.\.|\.lock$))[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?"
)  # git can have a branch of this name
ALLOWED = "letters, digits, single dots, dashes and underscores, and no .lock at the end"
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


def private_folder(root: Path, env: Mapping[str, str] = os.environ) -> Path:
    """Where notes about a project are kept that no clone can bring: in git's private folder, else in the person's own
    folder for state. git is not started."""
    private = git_folder(root)
    if private is not None:
        return private
    import hashlib  # loads a library of cryptography, which nothing in a checkout needs

    return state_folder(env) / hashlib.sha256(os.fsencode(root)).hexdigest()[:16]


def state_folder(env: Mapping[str, str] = os.environ) -> Path:
    """The person's own folder for agentd's state on this machine."""
    return Path(os.path.realpath(env.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")), "agentd")


def git_folder(root: Path) -> Path | None:
    """The folder for such notes in git's private folder; None outside of a checkout."""
    for folder in (root, *root.parents):
        private = _git_folder(folder)
        if private is not None:
            return Path(os.path.realpath(private), "agentd", root.relative_to(folder))
    return None


def _git_folder(folder: Path) -> Path | None:
    """The private folder of the checkout whose top this is."""
    mark = folder / ".git"
    if mark.is_file():
        with suppress(OSError, ValueError):
            return folder / files.read(mark, files.SMALL).decode().removeprefix("gitdir:").strip()
    return mark if (mark / "HEAD").exists() else None


def _main_checkout(folder: Path) -> Path | None:
    """The project a worktree belongs to, if agentd made it."""
    private = _git_folder(folder)
    with suppress(OSError, ValueError):
        root = Path(os.fsdecode(files.read(private / HOME_FILE, files.SMALL))) if private else None
        return root if root and root.is_dir() else None
    return None


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
