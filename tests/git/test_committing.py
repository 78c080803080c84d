"""A commit of given files and of nothing else, whatever they are called and whatever else is staged."""

import subprocess
from pathlib import Path

import pytest

from agentd.errors import AgentdError, Refused
from agentd.git import committing

NAMES = ["a b.py", "*.py", ":(top)x", "ümlaut", "new\nline", "-dash", "sub/deep/file", "!bang", "#hash"]


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(params=["", "inner"])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A project at the top of a repository, or in a folder of it."""
    place = tmp_path / str(request.param)
    place.mkdir(exist_ok=True)
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    git(tmp_path, "config", "user.name", "ada")
    git(tmp_path, "config", "user.email", "ada@localhost")
    (tmp_path / "above.txt").write_text("1")
    for name in ("kept.py", "mine.py", "gone.py"):
        (place / name).write_text("1")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "-m", "start")
    return place


def names(folder: Path) -> set[str]:
    found = git(folder, "show", "--format=", "--name-only", "-z", "--relative", "HEAD")
    return set(found.strip("\0").split("\0"))


def state(folder: Path) -> str:
    return git(folder, "status", "--porcelain", "-z") + git(folder, "ls-files", "--stage", "-z", "mine.py", "kept.py")


def test_files_of_any_name_are_committed_and_no_others(folder: Path) -> None:
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("new")
    (folder / "gone.py").unlink()
    (folder / "mine.py").write_text("staged")
    git(folder, "add", "mine.py")
    (folder / "kept.py").write_text("dirty")
    (folder / "other").write_text("untracked")
    wanted = [*NAMES, "gone.py"]
    assert set(committing.uncommitted(folder, wanted)) == set(wanted)
    made = committing.commit(folder, wanted, "Subject\n\n# kept\n")
    assert names(folder) == set(wanted)
    assert git(folder, "log", "-1", "--format=%H %B").rstrip() == f"{made} Subject\n\n# kept"
    assert git(folder, "status", "--porcelain", "--", ".").splitlines() == [
        line.replace("@", "inner/" if folder.name == "inner" else "")
        for line in (" M @kept.py", "M  @mine.py", "?? @other")
    ]
    assert committing.uncommitted(folder, wanted) == ()


@pytest.mark.parametrize("new", [True, False])
def test_what_a_hook_refuses_leaves_the_index_as_it_was(folder: Path, tmp_path: Path, new: bool) -> None:
    hook = tmp_path / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nprintf 'no \\033[2Jticket\\n' >&2\nexit 1\n")
    hook.chmod(0o755)
    (folder / "mine.py").write_text("staged")
    git(folder, "add", "mine.py")
    (folder / "kept.py").write_text("2")
    (folder / "new.py").write_text("2")
    before = state(folder)
    with pytest.raises(AgentdError, match=r"nothing was changed: no .*ticket") as caught:
        committing.commit(folder, ["kept.py", *(["new.py"] if new else [])], "Subject")
    assert "\033" not in caught.value.message
    assert state(folder) == before


def test_a_file_with_something_else_in_the_index_is_refused(folder: Path) -> None:
    (folder / "mine.py").write_text("staged")
    git(folder, "add", "mine.py")
    (folder / "mine.py").write_text("now")
    with pytest.raises(Refused, match=r"mine\.py is staged with another content"):
        committing.uncommitted(folder, ["mine.py"])


def test_an_identity_that_only_the_environment_has_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_AUTHOR_NAME", "grace")
    (folder / "kept.py").write_text("2")
    committing.commit(folder, ["kept.py"], "Subject")
    assert git(folder, "log", "-1", "--format=%an").strip() == "grace"
