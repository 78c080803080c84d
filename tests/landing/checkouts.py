"""Small repositories with workspaces beside them, for the tests of what a workspace is given."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

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
