"""A workspace: a folder beside the repository in which one task is worked on, with a repository of its own.

It is made whole or not at all, and it goes only when all that was written in it is kept under refs/agentd. What agentd
knows of it is kept in git's private folder, where no agent's tools lead.
"""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from agentd.errors import AgentdError, Corrupt
from agentd.git import merging, private_repository, trees
from agentd.git.private_repository import lender
from agentd.git.program import quoted, run, work_tree
from agentd.landing import folders, given_files
from agentd.landing.run_branch import RunBranch
from agentd.patterns import regex
from agentd.runs.worktree import workspaces_folder
from agentd.state import durable, reading
from agentd.state.layout import ALLOWED, NEW_NAME, point_home, private_folder
from agentd.values import dataclass

RECORDS, RECORD, INDEX = "workspaces", "workspace.json", "index"
WHYS = ("", "conflict", "red")
_HASH = regex("[0-9a-f]{40}|[0-9a-f]{64}")


class CouldNotStart(AgentdError):
    """A workspace could not be made, so the task could not start."""


@dataclass(frozen=True)
class Workspace:
    """Where a task is worked on.

    run       the key of its run
    base      the commit that it began with
    made      when, in seconds since 1970
    tree      the files that it began with, where those are not the commit's, and `why` they are not
    work      the work as it was when it came back, if it did
    template  the name of what is installed for it
    ready     it has all that its task needs besides its files
    """

    run: str
    task: str
    place: str
    base: str
    made: float
    tree: str = ""
    why: str = ""
    work: str = ""
    template: str = ""
    ready: bool = False

    @property
    def path(self) -> Path:
        return Path(self.place)


@dataclass(frozen=True)
class Return:
    """Work that comes back to its task: why, the commit it was tried on, the files of both, and the work as it was."""

    why: str
    base: str
    tree: str
    work: str = ""


def can_name(task: str) -> bool:
    """Whether a task can be called like this: it names a folder and, in git, a branch and refs."""
    return bool(NEW_NAME.fullmatch(task)) and len(task) <= 100


def make(
    branch: RunBranch,
    task: str,
    provide: Callable[[Path], str | None] = lambda place: None,
    back: Return | None = None,
) -> Workspace:
    """Make the workspace of a task at the tip of its run's branch, or find the one that was made before.

    `provide` adds what the task needs there besides its files, and says which template that is from. What comes `back` goes on with its own files, at the commit
    that these have in them, wherever the branch is by now. If anything fails, nothing is left behind.
    """
    root = branch.root
    known = find(root, branch.key, task)
    if known and known.ready and known.path.is_dir():
        return known
    place = workspaces_folder(root, branch.key) / task
    if known:  # a kill came before it was ready
        folders.remove(place)
    if not can_name(task):
        raise CouldNotStart(
            f"'{task}' cannot name a task: use {ALLOWED}, at most 100.", "rename it in the list of tasks"
        )
    if os.path.lexists(place):
        raise CouldNotStart(f"{place} is in the way of the workspace.", f"mv {quoted(place)} {quoted(place)}-old")
    temp = place.with_name(f".{task}.{os.getpid()}.{time.monotonic_ns()}.tmp")
    folder = record_folder(root, branch.key, task)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        folders.sweep(place.parent)
        base = back.base if back else branch.tip()
        found = Workspace(branch.key, task, str(place), base, time.time())
        if back:
            found = replace(found, tree=back.tree, why=back.why, work=back.work)
        missing = private_repository.make(lender(root), temp, found.base, f"agentd/{task}")
        if missing:
            what = f"the submodules {', '.join(missing)} are not checked out"
            raise AgentdError(what, f"git -C {quoted(root)} submodule update --init")
        if back:
            trees.keep(root, f"{branch.key}/back/{task}", back.tree)  # nothing else keeps it from a garbage collection
            run(temp, "read-tree", "--reset", "-u", back.tree)
        durable.make_folder(folder)
        shutil.copy2(temp / ".git" / "index", folder / INDEX)
        _note(folder, found)
        temp.rename(place)
        template = provide(place) or ""
        given_files.note(folder, place, private_repository.changed(lender(root), place, folder / INDEX))
        found = replace(found, template=template, ready=True)
        _note(folder, found)
    except BaseException as error:
        for path in (temp, place, folder):
            folders.remove(path)
        folders.tidy(place.parent)
        if isinstance(error, CouldNotStart) or not isinstance(error, AgentdError | OSError):
            raise
        trouble = error if isinstance(error, AgentdError) else durable.trouble(place, error, "made")
        raise CouldNotStart(f"The workspace of {task} could not be made: {trouble.message}", trouble.fix) from error
    return found


def _note(folder: Path, found: Workspace) -> None:
    durable.replace(folder / RECORD, json.dumps(asdict(found)).encode() + b"\n", "workspace")


def find(root: Path, key: str, task: str) -> Workspace | None:
    """Return what is known of a workspace, whether its folder still exists or not."""
    path = record_folder(root, key, task) / RECORD
    try:
        with reading.opened(path) as file:
            found = Workspace(**json.loads(file.read()))
        if not _HASH.fullmatch(found.base) or not all(
            _HASH.fullmatch(each) for each in (found.tree, found.work) if each
        ):
            raise ValueError
        if found.why not in WHYS or type(found.template) is not str:
            raise ValueError
        # Never where the file says: it may have come with a copy of the project.
        place = str(workspaces_folder(root, key) / task)
        return replace(found, run=key, task=task, place=place, made=float(found.made), ready=found.ready is True)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, TypeError):
        raise Corrupt(f"{path} does not describe a workspace.", f"rm {quoted(path)}") from None


def find_all(root: Path, key: str = "") -> Iterator[Workspace]:
    """Yield every known workspace of a run, or of all runs."""
    base = private_folder(root) / RECORDS
    for path in sorted((base / key).glob(f"*/{RECORD}") if key else base.glob(f"*/*/*/{RECORD}")):
        task = path.parent
        found = find(root, task.parent.relative_to(base).as_posix(), task.name)
        if found:
            yield found


def mend(root: Path, one: Workspace) -> bool:
    """Give a workspace a new repository if its own was broken; whether it was. Its files stay, and count as ever."""
    if not one.path.is_dir() or private_repository.is_sound(one.path, one.base):
        return False
    index = record_folder(root, one.run, one.task) / INDEX
    private_repository.renew(lender(root), one.path, one.base, f"agentd/{one.task}", index)
    point_home(one.path / ".git", root)
    return True


def written(root: Path, one: Workspace) -> tuple[str, ...]:
    """Return the files that were changed in a workspace so far, from the project's folder; none if it is gone."""
    try:
        folder = record_folder(root, one.run, one.task)
        given = given_files.unchanged(folder, one.path)
        return from_project(root, private_repository.changed(lender(root), one.path, folder / INDEX, given))
    except (AgentdError, OSError):  # it is just being removed
        return ()


def from_project(root: Path, paths: Iterable[str]) -> tuple[str, ...]:
    """Return paths, given from the top of the repository, from the project's folder, as people declare them."""
    inner = root.relative_to(work_tree(root) or root)
    return tuple(os.path.relpath(path, inner) for path in paths)


def collect(root: Path, one: Workspace, message: str) -> tuple[str, tuple[str, ...]]:
    """Store the files of a workspace as a commit on its base, and keep it; return it and what is not in it.

    The commit is empty if nothing was changed.
    """
    if os.path.realpath(one.path) != one.place:
        raise Corrupt(f"{one.place} is a link, and no link is followed to a workspace.", f"rm {quoted(one.path)}")
    folder = record_folder(root, one.run, one.task)
    if not (folder / INDEX).is_file():
        what = f"{folder / INDEX} is gone: which files the workspace of {one.task} began with is not known any more."
        raise Corrupt(
            what, f"cp {quoted(one.path / '.git' / INDEX)} {quoted(folder / INDEX)}   # the index of the workspace"
        )
    try:
        given = given_files.unchanged(folder, one.path)
        found = private_repository.collect(lender(root), one.path, folder / INDEX, given)
    except OSError as error:
        raise durable.trouble(one.path, error, "collected") from error
    if found.tree == merging.tree_of(root, one.base):
        return "", found.left_out
    last = kept(root, one.run, one.task)
    if last and merging.tree_of(root, last) == found.tree and merging.parent(root, last) == one.base:
        return last, found.left_out
    commit = merging.commit_tree(root, found.tree, (one.base,), message)
    if last:
        _keep(root, one, last)
    merging.move(root, _ref(one.run, one.task), commit, last)
    return commit, found.left_out


def is_committed(root: Path, one: Workspace) -> bool:
    """Whether the files that came back were committed in the workspace just as they are."""
    return private_repository.has_commit_of(lender(root), one.path, one.tree)


def kept(root: Path, key: str, task: str) -> str:
    """Return the last commit of a task that was collected, or "" if there is none."""
    return merging.look_up(root, _ref(key, task)).commit


def remove(root: Path, one: Workspace) -> None:
    """Keep all that was written in a workspace and is not kept yet, then remove its folder and what is known of it."""
    if one.path.is_dir() and not one.ready:
        folders.remove(one.path)
    elif one.path.is_dir():
        commit, left_out = collect(root, one, f"What was left in the workspace of {one.task}")
        if left_out:
            listed = ", ".join(map(reading.printable, left_out))
            away = f"mv {quoted(one.path / left_out[0])} ~/   # then run the same command again"
            raise AgentdError(f"{one.place} has what git cannot keep: {listed}.", away)
        private_repository.keep_commits(lender(root), one.path, f"{one.run}/commits/{one.task}", commit or one.base)
        aside = one.path.with_name(f".{one.task}.{os.getpid()}.{time.monotonic_ns()}.tmp")
        with suppress(FileNotFoundError):
            one.path.rename(aside)
        folders.remove(aside)
    shutil.rmtree(record_folder(root, one.run, one.task), ignore_errors=True)
    folders.tidy(one.path.parent)


def _keep(root: Path, one: Workspace, commit: str) -> None:
    """Keep an earlier state of a task beside the newer one."""
    merging.move(root, f"refs/agentd/{one.run}/earlier/{one.task}/{commit[:12]}", commit, "")


def _ref(key: str, task: str) -> str:
    return f"refs/agentd/{key}/tasks/{task}"


def record_folder(root: Path, key: str, task: str) -> Path:
    """Return where agentd keeps what it knows of a workspace."""
    return private_folder(root) / RECORDS / key / task
