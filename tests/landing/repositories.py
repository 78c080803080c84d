"""A person's repository for the tests of landing, and everything of it that must stay as it is."""

import atexit
import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from agentd.git.repository import begin_repository, head
from agentd.landing import run_branch, workspace
from agentd.landing.queue import Finished
from agentd.landing.run_branch import RunBranch
from agentd.landing.workspace import Workspace

OURS = ("refs/agentd/", "refs/heads/agentd/")
FILES = {"a.txt": "1\n2\n3\n", "b.txt": "one\ntwo\n", "src/c.py": "X = 1\n", ".gitignore": "*.log\nbuild/\n"} | {
    name: "".join(f"{name}{number}\n" for number in range(6)) for name in "abc"
}


def git(folder: Path, *words: str, code: int = 0) -> str:
    done = subprocess.run(("git", *words), cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    return done.stdout.strip()


@cache
def _template() -> Path:
    """A repository in the middle of a person's work: a stash, a staged, a changed, a new and an ignored file, a hook."""
    root = Path(tempfile.mkdtemp(prefix="agentd-test-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    write(root, FILES)
    begin_repository(root, "The beginning")
    git(root, "config", "user.name", "Ada")
    git(root, "config", "user.email", "ada@localhost")
    write(root, {"b.txt": "one\nstashed\n"})
    git(root, "stash", "--quiet")
    write(root, {"staged.txt": "staged\n", "a.txt": "1\n2\nmine\n", "new.txt": "new\n", "x.log": "log\n"})
    git(root, "add", "staged.txt")
    hook = root / ".git/hooks/post-checkout"
    hook.write_text("#!/bin/sh\ntouch hook-was-here\n")
    hook.chmod(0o755)
    return root


def make(tmp_path: Path) -> Path:
    """A person's repository in a folder."""
    root = tmp_path / "project"
    shutil.copytree(_template(), root, symlinks=True)
    git(root, "status")  # the index knows the copied files
    return root


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def branch(root: Path, run: str = "r1") -> RunBranch:
    return run_branch.begin(root, f"own/{run}", f"agentd/{run}", head(root))


def finished(line: RunBranch, one: Workspace) -> Finished:
    said = run_branch.message(f"Do {one.task}", "", line, one.task, ["Robot <robot@localhost>"])
    commit, left_out = workspace.collect(line.root, one, said)
    assert not left_out
    return Finished(one.task, commit, one.base, said)


def invariant(root: Path) -> dict[str, str]:
    """What no run may change: HEAD, index, files, stash, settings, hooks, and refs that are not agentd's."""
    private = root / ".git"
    found = {}
    for folder, folders, names in os.walk(root):
        inner = os.path.relpath(folder, root)
        if inner == ".git":
            folders[:] = [name for name in folders if name in ("hooks", "info", "worktrees")]
        for name in names:
            found[os.path.join(inner, name)] = _content(Path(folder, name))
    listed = git(root, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    found |= {line.split()[0]: line for line in listed if not line.startswith(OURS)}
    for name in ("logs/HEAD", "logs/refs/stash"):
        found[name] = _content(private / name)
    return found


def _content(path: Path) -> str:
    if path.is_symlink():
        return os.readlink(path)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "absent"
