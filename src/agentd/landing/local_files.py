"""Files of a person's checkout that another work tree needs and git does not check out: copied or linked into it.

Only what is missing is added, so this may be repeated. Nothing is written in the checkout or in git's settings, and no
link is written through.
"""

import os
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from agentd import files, temporary
from agentd.errors import AgentdError, BadConfig
from agentd.evidence.detection import detect
from agentd.evidence.installation import INSTALLED, absent_launchers
from agentd.git import ignoring
from agentd.git.program import fields
from agentd.runs.config import Config
from agentd.runs.work import Work
from agentd.state import durable, reading

INCLUDE = ".worktreeinclude"
SECTION = "workspace"


def provide(work: Work) -> None:
    """Give the worktree of a run what `.worktreeinclude` and `[workspace]` name, and the main tree's environment unless
    `[workspace]` says otherwise."""
    root, place = work.project.root, work.cwd
    if place == root or not place.is_dir():
        return
    made = copy_named(root, place, work.project.config)
    found = [path for path in shared(root, work.project.config) if link(root / path, place / path)]
    if made:
        work.say(f"copied into the worktree: {few(made)}")
    if found:
        work.say(f"linked into the worktree: {few(found)}")


def copy_named(root: Path, place: Path, config: Config, patterns: bytes = b"") -> list[str]:
    """Copy what `.worktreeinclude`, or these patterns without it, and `[workspace] copy` name; return the paths."""
    wanted = (*matching(root, patterns), *below(root, named(config, "copy")))
    return [path for path in wanted if copy(root / path, place / path)]


def shared(root: Path, config: Config) -> Iterable[str]:
    """The paths that work trees share: what `[workspace] link` names, else what is installed in the checkout."""
    linked = named(config, "link")
    return linked if linked or named(config, "copy") else installed(root)


def named(config: Config, key: str) -> tuple[str, ...]:
    """The paths that `[workspace]` names, none of them outside of the project."""
    found: tuple[str, ...] = config.get(SECTION, key)
    for name in found:
        if not {"", ".", ".."}.isdisjoint(name.rstrip("/").split("/")) or ".git" in name.split("/"):
            raise BadConfig(f"{SECTION}.{key} = {name!r} is not a path inside the project.", "edit agentd/config.toml")
    return tuple(name.rstrip("/") for name in found)


def matching(root: Path, patterns: bytes = b"") -> list[str]:
    """The files that git ignores and `.worktreeinclude` matches, in the syntax of .gitignore; none of agentd's own.

    Without that file, `patterns` are used.
    """
    with suppress(OSError):
        patterns = files.read(root / INCLUDE, files.SMALL, os.O_NOFOLLOW)
    if not patterns:
        return []
    with temporary.folder() as room:
        (room / "patterns").write_bytes(patterns)
        options = ("ls-files", "-z", "--others", "--ignored")
        wanted = set(fields(root, *options, f"--exclude-from={room / 'patterns'}"))
        found = (path for path in fields(root, *options, "--exclude-standard") if path in wanted)
        return [os.fsdecode(path) for path in found if not path.startswith(b"agentd/")]


def below(root: Path, names: Iterable[str]) -> Iterator[str]:
    """The files below these names, and the links, which are not followed."""
    for name in names:
        path = root / name
        if not path.is_dir() or path.is_symlink():
            yield name
            continue
        for place, folders, found in os.walk(path):
            links = [each for each in folders if os.path.islink(os.path.join(place, each))]
            yield from (os.path.relpath(os.path.join(place, each), root) for each in sorted([*found, *links]))


def installed(root: Path) -> Iterator[str]:
    """The installed folders beside the commands of a checkout; not what uv keeps in step by itself."""
    listed = detect(root, absent_launchers())
    synced = {one.folder for one in listed if one.run.startswith("uv run ")}
    for folder in sorted({"", *(one.folder for one in listed)}):
        for name in INSTALLED:
            path = os.path.join(folder, name)
            kept = name == "vendor" and not ignoring.is_ignored(root, root / path)
            if (root / path).is_dir() and not kept and not ("venv" in name and folder in synced):
                yield path


def copy(source: Path, target: Path) -> bool:
    """Copy a file or a link, whole or not at all; False if something is there, or it cannot be."""
    if os.path.lexists(target) or not os.path.lexists(source):
        return False
    temp = target.with_name(f".{target.name}.{os.getpid()}.0.tmp")
    with suppress(AgentdError, OSError, shutil.SpecialFileError):
        durable.refuse_links(target.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, temp, follow_symlinks=False)
        os.replace(temp, target)
        return True
    return False


def link(source: Path, target: Path) -> bool:
    """Link what is in a folder, each entry by itself: patterns such as `.venv/` match a folder and no link."""
    if os.path.lexists(target) or not source.exists():
        return False
    with suppress(AgentdError, OSError):
        durable.refuse_links(target.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not source.is_dir():
            target.symlink_to(source)
            return True
        temp = target.with_name(f".{target.name}.{os.getpid()}.0.tmp")
        temp.mkdir()
        _link_entries(source, temp)
        os.rename(temp, target)
        return True
    return False


def _link_entries(source: Path, target: Path) -> None:
    """Link the entries of a folder. A relative link is copied: `node_modules/own` may lead to a package of the project,
    and then it has to be this work tree's package. So is .gitignore, which git does not read through a link."""
    for entry in sorted(os.listdir(source)):
        path = source / entry
        if path.is_symlink() and not os.path.isabs(os.readlink(path)):
            (target / entry).symlink_to(os.readlink(path))
        elif entry == ".gitignore":
            shutil.copyfile(path, target / entry)
        elif entry.startswith("@") and path.is_dir():  # a scope of npm, with packages in it
            (target / entry).mkdir()
            _link_entries(path, target / entry)
        else:
            (target / entry).symlink_to(path)


def few(paths: Collection[str]) -> str:
    listed = sorted(map(reading.printable, paths))
    more = f" and {len(listed) - 5} more" if len(listed) > 5 else ""
    return ", ".join(listed[:5]) + more
