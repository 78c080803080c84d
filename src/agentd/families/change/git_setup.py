"""Where a change is worked on: on its own branch, in its own worktree, or in place."""

import errno
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentd import files
from agentd.errors import AgentdError, ChangeNotReady
from agentd.git import repository
from agentd.git.changes import uncommitted
from agentd.git.program import INSTALL
from agentd.landing import local_files
from agentd.model.run import Outcome
from agentd.runs import decisions
from agentd.runs.project import Project
from agentd.runs.work import Work
from agentd.runs.worktree import branch_name, worktree_path
from agentd.state import durable, layout

BLOCKING = "agentd"  # a branch of this name leaves no room for agentd/CHANGE
SHOWN = 3


def refuse_impossible(project: Project, change: str, choice: str) -> None:
    """Refuse a choice that cannot be carried out, before anything is written."""
    problem = _problem(project.root, change, choice)
    if problem:
        raise AgentdError(*problem)


def refuse_without_git(project: Project, doing: str = "implementing") -> None:
    """Refuse to begin what cannot be done here."""
    checkout = _checkout(project.root)
    if checkout is None:
        raise ChangeNotReady(
            f"{doing.capitalize()} needs git, so that every change can be seen and undone.", "git init"
        )
    if not shutil.which("git"):
        raise ChangeNotReady(f"git is not installed, and {doing} needs it.", INSTALL)
    private = checkout / ".git"
    if not os.access(private, os.W_OK):
        cause = errno.EROFS if os.statvfs(private).f_flag & os.ST_RDONLY else errno.EACCES
        raise durable.trouble(private / "agentd", OSError(cause, os.strerror(cause)))


def refuse_blocked(project: Project) -> None:
    """Refuse to begin if a branch has the name of the folder for the changes' branches. No program is started for it."""
    checkout = _checkout(project.root)
    if checkout is None:
        return
    packed = b""
    with suppress(OSError):
        packed = files.read(checkout / ".git" / "packed-refs")
    loose = checkout / ".git" / "refs" / "heads" / BLOCKING
    if loose.is_file() or any(line.endswith(f" refs/heads/{BLOCKING}".encode()) for line in packed.splitlines()):
        raise AgentdError(*_blocked(branch_name("CHANGE")))


def _checkout(root: Path) -> Path | None:
    return next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), None)


def say_uncommitted(project: Project) -> None:
    """Say what happens to files that are not committed; they are no reason to stop."""
    with suppress(AgentdError):
        found = uncommitted(project.root, project.own_folders())
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        if found:
            project.say(
                f"⚠ not committed: {', '.join(found[:SHOWN])}{more}. They stay as they are: agents see them in place and on "
                "a new branch, not in a new worktree; the change is compared with the files as they are when impl begins"
            )


def choose_git(work: Work) -> Outcome:
    """Whether to ask a person: only for a new change in a repository, and only if one is there."""
    chosen = _chosen(work)
    if chosen.get("choice"):
        return Outcome("done", str(chosen["choice"]))
    if not work.artifact("proposal.md"):
        why = "the change already has a proposal"
    elif not repository.is_repository(work.project.root):
        why = "this is not a git repository with a commit"
    elif work.project.attended:
        return Outcome("ask")
    else:
        why = "nobody is there to ask"
    _keep(work, choice="in_place")
    return Outcome("done", f"in place: {why}")


def set_up_git(work: Work) -> Outcome:
    """Carry out the choice; may be repeated after a kill. If git refuses, the question is asked again."""
    chosen = _chosen(work)
    if chosen.get("ready"):
        return Outcome("done", str(chosen["choice"]))
    decision = decisions.answered(work, "git_setup")
    choice = str(chosen.get("choice") or (decision.answer if decision else "in_place"))
    if choice == "in_place":
        _keep(work, choice=choice, ready=True)
        return Outcome("done", "in place")
    root, change = work.project.root, work.state.run.name
    if not repository.is_repository(root):
        return _refused(work, f"{root} is not a git repository with a commit.")
    branch, path = branch_name(change), worktree_path(root, change)
    if chosen.get("from") is None:
        problem = _problem(root, change, choice)
        if problem:
            return _refused(work, problem[0])
        _keep(work, **{"choice": choice, "branch": branch, "from": repository.head(root)})
        work.keep("git", branch=branch, choice=choice)
    begun_at = str(_chosen(work)["from"])
    try:
        _carry_out(work, choice, branch, path, begun_at)
    except AgentdError as error:
        _undo(root, branch, path, begun_at)
        return _refused(work, error.message)
    _keep(work, ready=True)
    done = f"branch {branch}" + (f" in {path}" if choice == "worktree" else "")
    work.say(f"✓ {done}")
    return Outcome("done", done)


def _carry_out(work: Work, choice: str, branch: str, path: Path, begun_at: str) -> None:
    root = work.project.root
    mine = repository.branch_commit(root, branch) == begun_at  # made by an interrupted attempt
    if choice == "branch":
        if not mine:
            repository.new_branch(root, branch)
        elif repository.current_branch(root) != branch:
            repository.git(root, "checkout", "--quiet", branch)
        return
    if not (mine and (path / ".git").exists()):
        if mine:
            repository.git(root, "worktree", "prune")
            repository.git(root, "worktree", "add", "--quiet", str(path), branch)
        else:
            repository.new_worktree(root, branch, path)
    layout.point_home(repository.private_folder(path), root)
    inner = path / root.relative_to(repository.top(root))
    known = work.home / "clarifications.md"
    if known.is_file():
        copy = inner / work.project.relative(known)
        durable.make_folder(copy.parent)
        durable.replace(copy, files.read(known), "document")
    _keep(work, worktree=os.path.relpath(inner, root))
    local_files.provide(work)


def _undo(root: Path, branch: str, path: Path, begun_at: str) -> None:
    """Remove what a failed git command left behind (a hook may fail at the end); git keeps worktrees with changes."""
    steps: list[tuple[str, ...]] = [("worktree", "remove", str(path)), ("worktree", "prune")]
    if repository.current_branch(root) == branch:
        steps.append(("checkout", "--quiet", "-"))
    if repository.branch_commit(root, branch) == begun_at:
        steps.append(("branch", "-D", branch))
    for words in steps:
        with suppress(AgentdError):
            repository.git(root, *words)
    with suppress(OSError):
        path.parent.rmdir()


def _problem(root: Path, change: str, choice: str) -> tuple[str, str] | None:
    """Why a choice cannot be carried out, with a fix; None if it can."""
    if choice == "in_place":
        return None
    if not repository.is_repository(root):
        what = f"{root} is not a git repository with a commit, so there can be no {choice} for '{change}'."
        return what, "git init && git add --all && git commit -m start   # or: --git in-place"
    branch, path = branch_name(change), worktree_path(root, change)
    if repository.branch_commit(root, branch):
        return f"The branch {branch} exists already.", f"git branch -m {branch} {branch}-old   # or: --git in-place"
    if repository.branch_commit(root, BLOCKING):
        return _blocked(branch)
    if choice == "worktree" and not repository.is_committed(root):
        what = f"{root} is not committed, so a worktree would not have it."
        return what, f"git -C {root} add . && git -C {root} commit -m 'the project'   # or: --git branch"
    if choice == "worktree" and path.exists():
        return f"{path} is in the way of the worktree.", f"mv {path} {path}-old   # or: --git branch"
    return None


def _blocked(branch: str) -> tuple[str, str]:
    what = f"There is a branch {BLOCKING}, so git cannot have {branch}."
    return what, f"git branch -m {BLOCKING} {BLOCKING}-old   # or: --git in-place"


def _refused(work: Work, why: str) -> Outcome:
    work.say(f"⚠ {why}")
    work.note("git", {"refused": why})
    return Outcome("refused", why)


def _chosen(work: Work) -> Mapping[str, Any]:
    found = work.state.fields.get("git")
    return found if isinstance(found, Mapping) else {}


def _keep(work: Work, **values: Any) -> None:
    work.note("git", {**_chosen(work), **values})
