"""What is installed for a project, once for all workspaces with the same lock files: a folder beside the repository.

A template is there whole or not at all. Workspaces link the entries of its folders, so that nothing leads from a workspace
into the person's own checkout.
"""

import errno
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from agentd import files
from agentd.errors import AgentdError, Held, Stopped
from agentd.evidence.detection.folder import MANIFESTS
from agentd.evidence.detection.node import LOCKS
from agentd.git.program import fields
from agentd.landing import local_files
from agentd.patterns import regex
from agentd.runs.project import Project
from agentd.runs.worktree import beside
from agentd.state import crash, durable, lock, reading
from agentd.values import dataclass

HOME, MADE, TREE, ABOUT = "environments", "made", "tree", "about.json"
VERSION = 1
_IN_USE = 3600.0  # seconds
_TURN = 0.2  # seconds between two looks at whether to go on waiting
_LOCK = regex(
    rf"{'|'.join(map(re.escape, LOCKS))}|bun\.lockb?|(uv|poetry|pdm|Pipfile|Cargo|Gemfile|composer|mix|deno|pubspec)\.lock"
    r"|go\.sum|pylock[\w.-]*\.toml|gradle\.lockfile|packages\.lock\.json|[\w.-]*requirements[\w.-]*\.(txt|in)"
)
_WORDS = regex(r"[^\s;&|<>()'\"]+")
# What package managers write with each installation.
_MARKS = (".package-lock.json", ".modules.yaml", ".yarn-state.yml", ".yarn-integrity")
_MANIFESTS = {*MANIFESTS, "composer.json", "Gemfile", "Pipfile"}


@dataclass(frozen=True)
class Contents:
    """What work trees get, by paths from the project.

    linked  folders of the template; their entries are linked
    copied  files and folders of the template
    fresh   files that are copied from the checkout each time, as they are then
    """

    linked: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()
    fresh: tuple[str, ...] = ()


def key(inner: Path, setup: tuple[str, ...], *more: str) -> str:
    """The key of what is installed for the files of a fresh work tree: its lock files, the commands of the setup and the
    scripts that they name, and whatever else is named. A folder without a lock file in it or above it counts by its
    manifests."""
    listed = {}
    for entry in fields(inner, "ls-files", "-z", "--stage"):
        about, _, name = entry.partition(b"\t")
        listed[os.fsdecode(name)] = about.split(b" ")[1]
    counted = {path for path in listed if _LOCK.fullmatch(os.path.basename(path))}
    locked = {os.path.dirname(path) for path in counted}
    counted |= {path for path in listed if os.path.basename(path) in _MANIFESTS and locked.isdisjoint(_above(path))}
    counted |= listed.keys() & {os.path.normpath(word) for command in setup for word in _WORDS.findall(command)}
    found = hashlib.sha256(f"{VERSION}".encode())
    for path in sorted(counted):
        found.update(b"\0%s\0%s" % (os.fsencode(path), listed[path]))
    for word in (*setup, *more):
        found.update(b"\0\0" + os.fsencode(word))
    return found.hexdigest()[:16]


def age(root: Path, paths: Iterable[str]) -> Iterator[str]:
    """Tell installed folders of a checkout from what they were before something was installed into them."""
    for path in paths:
        folder = root / path
        marks = [*(folder / name for name in _MARKS), *sorted(folder.glob("lib/*/site-packages"))]
        for place in [each for each in marks if each.exists()] or [folder]:
            with suppress(OSError):
                yield f"{path} {place.stat().st_mtime_ns}"


class Template:
    """The template of a key, made or not."""

    def __init__(self, project: Project, name: str) -> None:
        self.project = project
        self.folder = beside(project.root) / HOME / name
        self.made = self.folder / MADE

    def contents(self) -> Contents | None:
        """What it holds; None if there is none yet."""
        try:
            found = json.loads(reading.own(self.made / ABOUT))
            return Contents(*(tuple(found[name]) for name in ("linked", "copied", "fresh")))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the template alone; other threads and processes wait meanwhile. What a killed process had begun is
        removed."""
        durable.make_folder(self.folder)
        waited = False
        while True:
            try:
                mine = lock.acquire(self.folder, "setup", _TURN, deep=False)
                break
            except Held:
                if not waited:
                    self.project.say("waiting for another workspace to be set up")
                waited = True
                stop_if_told(self.project)
                time.sleep(_TURN)
        with mine:
            for left in self.folder.glob(".*.tmp"):
                shutil.rmtree(left, ignore_errors=True)
            if self.contents() is None:
                shutil.rmtree(self.made, ignore_errors=True)
            yield

    def make(
        self,
        moved: Mapping[str, Path],
        linked: Mapping[str, Path],
        copied: Mapping[str, Path],
        fresh: Iterable[str] = (),
    ) -> Contents:
        """Fill the template, whose lock is held. What is moved into it or `linked` is linked from now on."""
        temp = self.folder / f".{MADE}.{os.getpid()}.0.tmp"
        try:
            for path, source in (*moved.items(), *linked.items(), *copied.items()):
                target = temp / TREE / path
                target.parent.mkdir(parents=True, exist_ok=True)
                if path in moved:
                    shutil.move(source, target)
                elif source.is_dir() and not source.is_symlink():
                    shutil.copytree(source, target, symlinks=True)
                else:
                    shutil.copy2(source, target, follow_symlinks=False)
                if path not in copied:
                    _relocate(target, source, self.made / TREE / path)
            temp.mkdir(parents=True, exist_ok=True)
            found = Contents((*moved, *linked), tuple(copied), tuple(fresh))
            durable.replace(temp / ABOUT, json.dumps(asdict(found)).encode() + b"\n", "workspace")
            crash.point("landing")
            os.rename(temp, self.made)
        except OSError as error:
            shutil.rmtree(temp, ignore_errors=True)
            if isinstance(error, shutil.Error):
                raise AgentdError(f"{self.made} could not be made: {_first(error)}", f"ls -la {self.folder}") from error
            raise durable.trouble(self.made, error, "made") from error
        return found

    def give(self, found: Contents, inner: Path) -> None:
        """Link and copy into a work tree what it lacks."""
        os.utime(self.made)
        for path in found.linked:
            local_files.link(self.made / TREE / path, inner / path)
        for path in local_files.below(self.made / TREE, found.copied):
            local_files.copy(self.made / TREE / path, inner / path)
        for path in found.fresh:
            local_files.copy(self.project.root / path, inner / path)


def prune(project: Project, used: Collection[str]) -> list[Path]:
    """Remove what the templates hold that nothing uses any more, and return these folders; a lock is never removed.

    Those that are named stay, the one that was given last, and what was given within the hour: a proof may be using it.
    """
    home = beside(project.root) / HOME
    known = sorted((path.stat().st_mtime, path) for path in home.glob(f"*/{MADE}/") if not path.parent.is_symlink())
    gone = [path for last, path in known[:-1] if path.parent.name not in used and time.time() - last > _IN_USE]
    for path in gone:
        with Template(project, path.parent.name).held():
            aside = path.with_name(f".{MADE}.{os.getpid()}.0.tmp")  # whole or not there, also after a kill
            os.rename(path, aside)
            shutil.rmtree(aside, ignore_errors=True)
    return gone


def stop_if_told(project: Project) -> None:
    """End the waiting if the command was interrupted."""
    if project.interrupted.is_set():
        raise Stopped("It was interrupted while the workspace was being set up.", "run the same command again")


def _above(path: str) -> set[str]:
    """The folders that a file is in."""
    parts = path.split("/")[:-1]
    return {"/".join(parts[:count]) for count in range(len(parts) + 1)}


def _relocate(folder: Path, old: Path, new: Path) -> None:
    """Correct the programs of an installed folder that name the place they were installed to, as those of a virtual
    environment do: with the old path, they would install into another one."""
    names = [folder / "pyvenv.cfg", *folder.glob("bin/*"), *folder.glob(".bin/*")]
    for path in names:
        with suppress(OSError):
            data = files.read(path, files.SMALL, os.O_NOFOLLOW)
            if os.fsencode(old) in data and b"\0" not in data:
                mode = path.stat().st_mode
                path.unlink()  # an installer may have linked the file from its cache
                path.write_bytes(data.replace(os.fsencode(old), os.fsencode(new)))
                path.chmod(mode)


def _first(error: shutil.Error) -> str:
    """The first of the reasons of an error about many files; a full disk before all others."""
    reasons = [str(each[2]) for each in error.args[0]]
    return next((each for each in reasons if f"[Errno {errno.ENOSPC}]" in each), reasons[0])
