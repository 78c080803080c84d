"""A git checkout: the few commands agentd gives. It never touches history that is not its own."""

from pathlib import Path

from agentd import process
from agentd.errors import AgentdError


def git(folder: Path, *args: str) -> str:
    """What git prints, or an error with what it said."""
    done = process.run(("git", *args), cwd=folder, timeout=60)
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
