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
