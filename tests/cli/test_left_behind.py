"""What a small change leaves in the work tree, in git's folder, among the processes and in the folder for temporary files."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.quick_plans import NAME, WORDS, scripted
from tests.impl.coding import APPROVED, HONEST
from tests.sandbox import CHANGE, Sandbox

MOST = 15
CODE = {"tally/__init__.py", "tally/words.py", "tests/test_top.py"}
# As docs/guide.md says: what git sees, and what agentd/.gitignore has it leave alone.
KEPT = {"agentd/.gitignore", "agentd/specs/top-words.md"}
IGNORED = (".lock", "/calls/", "/children/", "ledger.jsonl", "GEMINI.md", "AGENTS.md", "implementation.diff")


def status(sandbox: Sandbox) -> dict[str, str]:
    words = ["git", "status", "--porcelain", "--ignored", "--untracked-files=all"]
    done = subprocess.run(words, cwd=sandbox.root, capture_output=True, text=True, check=True, timeout=30)
    return {line[3:]: line[:2] for line in done.stdout.splitlines()}


def private(sandbox: Sandbox) -> set[str]:
    """The files of git's private folder that are not its objects."""
    home = sandbox.root / ".git"
    found = (path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file())
    return {name for name in found if not name.startswith("objects/")}


def processes(sandbox: Sandbox) -> set[str]:
    """The processes that work in the repository."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if Path(os.readlink(entry / "cwd")).is_relative_to(sandbox.root):
                found.add((entry / "cmdline").read_text())
        except OSError:
            continue
    return found


@contextmanager
def nothing_else_is_left(sandbox: Sandbox, tmp_path: Path, change: str) -> Iterator[None]:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    sandbox.env["TMPDIR"] = str(temporary)
    before, git = status(sandbox), private(sandbox)
    yield
    after = {name: how for name, how in status(sandbox).items() if before.get(name) != how}
    ours = {name for name, how in after.items() if how != "!!" and name not in CODE}
    assert len(ours) <= MOST
    assert {name for name in ours if not name.startswith(f"agentd/archive/{change}/")} == KEPT
    strange = [name for name, how in after.items() if how == "!!" and not any(known in name for known in IGNORED)]
    assert strange == []
    notes = private(sandbox) - git
    measured = {name for name in notes if name.startswith("agentd/memory/")}
    assert len(measured) <= 1, "there is one test command"
    assert notes - measured <= {"agentd/uncommitted/" + change}
    assert list(temporary.iterdir()) == []
    assert processes(sandbox) == set()


def test_a_quick_change_leaves_what_is_documented(sandbox: Sandbox, tmp_path: Path) -> None:
    scripted(sandbox)
    with nothing_else_is_left(sandbox, tmp_path, NAME):
        done = sandbox.run("quick", WORDS, "--yes", "--archive")
        assert done.code == 0, done.out + done.err


def test_a_change_that_is_planned_in_full_leaves_what_is_documented(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.script(implement=HONEST, review=APPROVED)
    with nothing_else_is_left(sandbox, tmp_path, CHANGE):
        for done in (sandbox.plan(), sandbox.run("impl", CHANGE), sandbox.run("archive", CHANGE)):
            assert done.code == 0, done.out + done.err


def test_a_gitignore_of_the_persons_own_is_left_alone(sandbox: Sandbox) -> None:
    path = sandbox.root / "agentd" / ".gitignore"
    path.write_text("mine\n")
    assert sandbox.plan().code == 0
    assert path.read_text() == "mine\n"


@pytest.mark.parametrize("name", ["GEMINI.md", "AGENTS.md"])
def test_what_agents_read_is_not_ignored_while_the_change_is_under_way(planned: Sandbox, name: str) -> None:
    """Gemini's own read_file refuses what git ignores."""
    assert status(planned)[f"agentd/changes/{CHANGE}/{name}"] == "??"
