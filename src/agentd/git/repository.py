"""A git checkout: the few commands agentd gives. It never touches history that is not its own."""

import os
from pathlib import Path

from agentd import process
from agentd.errors import AgentdError

KEPT = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")


def git(folder: Path, *args: str) -> str:
    """What git prints, or an error with what it said."""
    # A git hook that calls agentd sets these, and they would lead git into another repository.
    away = {name: None for name in os.environ if name.startswith("GIT_") and name not in KEPT}
    done = process.run(("git", *args), cwd=folder, env=away, timeout=60)
    if done.ended != "exit" or done.code != 0:
        said = " ".join(done.errors[-3:]) or f"exit {done.code}"
        raise AgentdError(f"git {args[0]} failed in {folder}: {said}", f"git -C {folder} status")
    return "\n".join(done.output)


def begin_repository(folder: Path, message: str) -> None:
    """A new repository with everything in it committed, whatever the person's own git settings are."""
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    identity = ("-c", "user.name=agentd demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false")
    git(folder, *identity, "commit", "--quiet", "--no-verify", "-m", message)


def is_repository(folder: Path) -> bool:
    """Whether a folder is in a git checkout that has a commit to start from."""
    try:
        git(folder, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    except (AgentdError, OSError):
        return False
    return True


def top(folder: Path) -> Path:
    """The folder a checkout begins at."""
    return Path(git(folder, "rev-parse", "--show-toplevel")).resolve()


def is_committed(folder: Path) -> bool:
    """Whether a folder of a checkout is in its last commit."""
    inner = folder.resolve().relative_to(top(folder)).as_posix()
    return inner == "." or bool(git(folder, "ls-tree", "--full-tree", "-d", "HEAD", "--", inner).strip())


def head(folder: Path) -> str:
    """The commit that is checked out."""
    return git(folder, "rev-parse", "HEAD").strip()


def branch_commit(folder: Path, branch: str) -> str:
    """The commit a branch points at; nothing if there is no such branch."""
    found = git(folder, "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")
    return found.strip()


def new_branch(folder: Path, branch: str) -> None:
    """A new branch from where the checkout stands; what is not committed stays as it is."""
    git(folder, "checkout", "--quiet", "-b", branch)


def new_worktree(folder: Path, branch: str, path: Path) -> None:
    """Another checkout of the same repository in a folder of its own, on a new branch."""
    git(folder, "worktree", "add", "--quiet", "-b", branch, str(path))


def current_branch(folder: Path) -> str:
    """The branch that is checked out; nothing if none is."""
    return git(folder, "branch", "--show-current").strip()


def private_folder(folder: Path) -> Path:
    """Where git keeps what is about this checkout alone."""
    return (folder / git(folder, "rev-parse", "--git-dir").strip()).resolve()
