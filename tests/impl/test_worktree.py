"""A change in a worktree of its own: its tests run there with what the main tree has installed, and nothing else is touched."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.impl.coding import APPROVED, HONEST, TESTS, seen
from tests.sandbox import CHANGE, Sandbox

IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@localhost")


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def place(sandbox: Sandbox) -> Path:
    return sandbox.root.parent / f"{sandbox.root.name}-agentd" / CHANGE


def ignore(sandbox: Sandbox, *patterns: str) -> None:
    with (sandbox.root / ".gitignore").open("a") as file:
        file.write("".join(f"{pattern}\n" for pattern in patterns))
    git(sandbox.root, "add", "--all")
    git(sandbox.root, *IDENTITY, "commit", "--quiet", "-m", "more")


def shared(sandbox: Sandbox) -> dict[str, str]:
    """What all worktrees share: git's settings, its list of exclusions, and agentd's configuration."""
    names = (".git/config", ".git/info/exclude", "agentd/config.toml")
    return {name: (sandbox.root / name).read_text() for name in names} | {
        "status": git(sandbox.root, "status", "-s", ".venv")
    }


def begin(sandbox: Sandbox) -> Path:
    done = sandbox.plan("--git", "worktree")
    assert done.code == 0, done.out + done.err
    return place(sandbox)


def test_its_tests_run_with_what_the_main_tree_has_installed_and_on_its_own_code(sandbox: Sandbox) -> None:
    venv = sandbox.root / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True, timeout=60)
    (packages,) = venv.glob("lib/python*/site-packages")
    (packages / "wanted.py").write_text("")
    (packages / "own.pth").write_text(f"{sandbox.root}\n")  # as `pip install -e .` does
    config = sandbox.root / "agentd" / "config.toml"
    config.write_text(config.read_text().replace("[evidence]", "[limits]").replace("test =", "#"))
    tests = {"tests/test_top.py": f"import wanted  # noqa: F401\n{TESTS}"}
    sandbox.script(implement={**HONEST, "files": tests}, review=APPROVED)
    ignore(sandbox, ".venv/")
    before = shared(sandbox)
    there = begin(sandbox)
    done = sandbox.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    (ran,) = [one for one in seen(sandbox).results if one.command.kind == "test"]
    assert (ran.command.run.split()[0], ran.status) == (".venv/bin/python", "green")
    assert shared(sandbox) == before
    assert ".venv" not in git(there, "status", "--short", "--untracked-files=all")
    assert (there / ".venv" / "lib").is_symlink()
    git(sandbox.root, "worktree", "remove", "--force", str(there))
    assert (packages / "wanted.py").exists()


def test_ignored_files_that_worktreeinclude_matches_are_copied_and_no_others(sandbox: Sandbox) -> None:
    for name in (".env", "secret/key.pem", "secret/other.txt", "local.log"):
        (sandbox.root / name).parent.mkdir(exist_ok=True)
        (sandbox.root / name).write_text(name)
    (sandbox.root / ".env").chmod(0o600)
    (sandbox.root / "secret" / "link").symlink_to("key.pem")
    (sandbox.root / ".worktreeinclude").write_text("# mine\n.env\nsecret/*\n!secret/other.txt\nREADME.md\nuntracked\n")
    ignore(sandbox, ".env", "secret/*", "*.log")
    (sandbox.root / "untracked").write_text("not ignored")
    (sandbox.root / "README.md").write_text("not ignored")
    there = begin(sandbox)
    assert (there / ".env").read_text() == ".env"
    assert (there / ".env").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in (there / "secret").iterdir()) == ["key.pem", "link"]
    assert (there / "secret" / "link").is_symlink()
    assert not (there / "local.log").exists()
    assert not (there / "untracked").exists()
    assert (there / "README.md").read_text() != "not ignored"


def test_workspace_says_what_is_copied_and_linked(sandbox: Sandbox) -> None:
    (sandbox.root / "node_modules" / "a").mkdir(parents=True)
    (sandbox.root / ".venv" / "bin").mkdir(parents=True)
    (sandbox.root / "cache" / "deep").mkdir(parents=True)
    (sandbox.root / "cache" / "deep" / "file").write_text("1")
    sandbox.set("workspace", copy=["cache"], link=["node_modules"])
    ignore(sandbox, "node_modules/", ".venv/", "cache/")
    there = begin(sandbox)
    assert (there / "cache" / "deep" / "file").read_text() == "1"
    assert (there / "node_modules" / "a").readlink() == sandbox.root / "node_modules" / "a"
    assert not (there / ".venv").exists()


@pytest.mark.parametrize("name", ["../outside", "/etc", ".git/hooks", "a//b"])
def test_workspace_stays_inside_the_project(sandbox: Sandbox, name: str) -> None:
    sandbox.set("workspace", copy=[name])
    ignore(sandbox, "x")
    refused = sandbox.plan("--git", "worktree")
    assert "is not a path inside the project" in refused.out + refused.err
    assert not place(sandbox).exists()


def test_nothing_is_copied_through_a_link_that_the_repository_brings(sandbox: Sandbox, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (sandbox.root / "conf").symlink_to(theirs)
    (sandbox.root / ".worktreeinclude").write_text("key\n")
    ignore(sandbox, "key")
    (sandbox.root / "conf").unlink()
    (sandbox.root / "conf").mkdir()
    (sandbox.root / "conf" / "key").write_text("key")
    begin(sandbox)
    assert list(theirs.iterdir()) == []
