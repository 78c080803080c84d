"""Small repositories with workspaces beside them, for the tests of what a workspace is given."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from agentd.git import private_repository
from agentd.landing import environment
from agentd.runs.config import read_config
from agentd.runs.project import Project
from agentd.runs.worktree import workspaces_folder

IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@localhost")


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *IDENTITY, *words], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def repository(folder: Path, files: Mapping[str, str], inner: str = "") -> Path:
    """A repository with these files committed; the project may be a folder of it."""
    top = folder.resolve() / "shop"
    write(top, {"README.md": "shop\n", **files})
    git(top, "init", "--quiet", "--initial-branch=main")
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "-m", "first")
    return top / inner


class Checkout:
    """A project that workspaces are made of, and all that is said meanwhile."""

    def __init__(self, root: Path, say: Callable[[str], None] | None = None) -> None:
        self.root, self.said = root, list[str]()
        self.project = Project(root, read_config(root, env={}), (), say=say or self.said.append)
        self.log = root.parent / "logs" / "setup.txt"

    def fresh(self, task: str) -> Path:
        """A workspace with nothing but the files of the last commit."""
        place = workspaces_folder(self.root, "run") / task
        source = private_repository.lender(self.root)
        private_repository.make(source, place, git(self.root, "rev-parse", "HEAD"), f"agentd/{task}")
        return place

    def make(self, task: str) -> Path:
        """A workspace that is provided with what it needs."""
        place = self.fresh(task)
        environment.provide(self.project, place, self.log)
        return place

    @property
    def templates(self) -> list[Path]:
        return sorted((workspaces_folder(self.root, "").parent / "environments").glob("*/made"))

    def heard(self, words: str) -> str:
        """The one line with these words."""
        (line,) = [line for line in self.said if words in line]
        return line


if __name__ == "__main__":  # one workspace, made by a process of its own
    Checkout(Path(sys.argv[1]), lambda text: print(text, flush=True)).make(sys.argv[2])
