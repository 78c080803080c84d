"""Questions about a repository, and new repositories, branches and worktrees. Existing commits are never changed."""

from contextlib import suppress
from pathlib import Path

from agentd.errors import AgentdError
from agentd.git.program import run, text


def git(folder: Path, *args: str) -> str:
    """Run a git command with the user's settings and hooks, and return its output. Everything else here is isolated."""
    return text(folder, *args, isolated=False)


def begin_repository(folder: Path, message: str) -> None:
    """Create a repository in `folder` and commit all files in it, without the user's hooks and identity."""
    git(folder, "init", "--quiet", "--initial-branch=main")
    run(folder, "add", "--all")
    settings = (
        "user.name=agentd demo",
        "user.email=demo@localhost",
        "commit.gpgsign=false",
        "core.logAllRefUpdates=true",
    )
    run(
        folder,
        *(word for setting in settings for word in ("-c", setting)),
        "commit",
        "--quiet",
        "--no-verify",
        "-m",
        message,
    )


def is_repository(folder: Path) -> bool:
    """Return whether `folder` is in a work tree or repository with at least one commit."""
    with suppress(AgentdError, OSError):
        return bool(run(folder, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"))
    return False


def top(folder: Path) -> Path:
    """Return the top folder of the work tree."""
    return Path(text(folder, "rev-parse", "--show-toplevel")).resolve()


def is_committed(folder: Path) -> bool:
    """Return whether `folder` exists in the commit HEAD."""
    inner = folder.resolve().relative_to(top(folder)).as_posix()
    return inner == "." or bool(run(folder, "ls-tree", "--full-tree", "-d", "HEAD", "--", inner))


def head(folder: Path) -> str:
    """Return the hash of the commit HEAD."""
    return text(folder, "rev-parse", "HEAD")


def blob(folder: Path, path: str) -> str:
    """Return the hash of a file in the commit HEAD, its path given from `folder`, or "" if it is not there."""
    return text(folder, "rev-parse", "--verify", "--quiet", f"HEAD:./{path}", accept=(0, 1, 128))


def branch_commit(folder: Path, branch: str) -> str:
    """Return the hash of the commit a branch points to, or "" if there is no such branch."""
    return text(folder, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}^{{commit}}", accept=(0, 1))


def new_branch(folder: Path, branch: str) -> None:
    """Create a branch at HEAD and check it out. Uncommitted changes are kept."""
    git(folder, "checkout", "--quiet", "-b", branch)


def new_worktree(folder: Path, branch: str, path: Path) -> None:
    """Create a branch at HEAD and check it out in a new worktree at `path`."""
    git(folder, "worktree", "add", "--quiet", "-b", branch, str(path))


def current_branch(folder: Path) -> str:
    """Return the name of the branch that is checked out, or "" if HEAD is detached."""
    return text(folder, "branch", "--show-current")


def private_folder(folder: Path) -> Path:
    """Return the git directory of this worktree (`$GIT_DIR`)."""
    return Path(text(folder, "rev-parse", "--absolute-git-dir"))
