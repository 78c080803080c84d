"""A commit of given files and of nothing else, whatever they are called and whatever else is staged."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agentd.errors import AgentdError, Refused
from agentd.git import committing

KEY = "Agentd-Change"
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


def hook(repository: Path, text: str) -> None:
    path = repository / ".git" / "hooks" / "pre-commit"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("refused", [False, True])
def test_the_first_commit_of_a_repository(tmp_path: Path, refused: bool) -> None:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "config", "user.name", "ada")
    git(tmp_path, "config", "user.email", "ada@localhost")
    for name in ("mine.py", "staged.py"):
        (tmp_path / name).write_text("1")
    git(tmp_path, "add", "staged.py")
    assert committing.find(tmp_path, f"{KEY}: one", "2020-01-01T00:00:00Z") == ""
    assert committing.uncommitted(tmp_path, ["mine.py"]) == ("mine.py",)
    if refused:
        hook(tmp_path, "exit 1")
        with pytest.raises(AgentdError, match="nothing was changed"):
            committing.commit(tmp_path, ["mine.py"], "Subject")
        assert git(tmp_path, "status", "--porcelain") == "A  staged.py\n?? mine.py\n"
    else:
        made = committing.commit(tmp_path, ["mine.py"], "Subject")
        assert committing.files(tmp_path, made) == ("mine.py",)
        assert git(tmp_path, "status", "--porcelain") == "A  staged.py\n"


@pytest.mark.parametrize(
    ("message", "found"),
    [
        (f"Subject\n\nWhy.\n\n{KEY}: one\nReview: none\n", True),
        (f"Subject\n\n{KEY}: one\nSigned-off-by: ada <ada@localhost>\n", True),
        (f"Subject\n\n{KEY}: two\n{KEY}: one\n", True),
        (f"Subject\n\n{KEY}: one-2\n", False),
        (f"Subject\n\n{KEY}: one two\n", False),
        (f"Subject\n\nNot-{KEY}: one\n", False),
        (f"Subject\n\nAs the commit says that has\n{KEY}: one\nas a line of its own.\n", False),
        (f"Subject\n\n{KEY}: one\n\nNot the last paragraph.\n", False),
    ],
)
def test_a_commit_is_found_by_the_whole_of_its_trailer(folder: Path, message: str, found: bool) -> None:
    (folder / "mine.py").write_text("2")
    made = committing.commit(folder, ["mine.py"], message)
    git(folder, "commit", "--quiet", "--allow-empty", "-m", f"later\n\n{KEY}: one-3")
    assert committing.find(folder, f"{KEY}: one", "2020-01-01T00:00:00Z") == (made if found else "")


def test_what_a_hook_formats_is_not_staged_to_be_taken_back(folder: Path, tmp_path: Path) -> None:
    (folder / "kept.py").write_text("staged")
    git(folder, "add", "kept.py")
    for name in ("mine.py", "new.py"):
        (folder / name).write_text("2")
    hook(tmp_path, f"cd '{folder}'; for one in mine.py new.py; do echo formatted > $one; git add $one; done")
    committing.commit(folder, ["mine.py", "new.py"], "Subject")
    assert git(folder, "show", "HEAD:./new.py") == "formatted\n"
    assert [line[:3] + Path(line[3:]).name for line in git(folder, "status", "--porcelain").splitlines()] == [
        "M  kept.py"
    ]
    assert committing.uncommitted(folder, ["mine.py", "new.py"]) == ()


def test_the_files_of_a_commit_are_told_also_those_above(folder: Path, tmp_path: Path) -> None:
    (folder / "mine.py").write_text("2")
    (tmp_path / "above.txt").write_text("2")
    hook(tmp_path, f"cd '{tmp_path}'; git add -A")
    made = committing.commit(folder, ["mine.py"], "Subject")
    above = "above.txt" if folder == tmp_path else "../above.txt"
    assert committing.files(folder, made) == tuple(sorted((above, "mine.py")))


def test_without_an_identity_nothing_is_touched_and_the_fix_sets_one(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL"):
        monkeypatch.delenv(name, raising=False)
    folder = Path(shutil.copytree(tmp_path, tmp_path.with_name(f"{tmp_path.name} copy"))) / folder.relative_to(tmp_path)
    git(folder, "config", "--unset", "user.name")
    git(folder, "config", "--unset", "user.email")
    git(folder, "config", "user.useConfigOnly", "true")
    (folder / "new.py").write_text("2")
    before = state(folder)
    with pytest.raises(Refused, match="git does not know your name") as caught:
        committing.commit(folder, ["new.py"], "Subject")
    assert state(folder) == before
    subprocess.run(caught.value.fix, shell=True, check=True, timeout=60)
    committing.commit(folder, ["new.py"], "Subject")


def test_every_lock_that_a_killed_git_left_is_named(folder: Path, tmp_path: Path) -> None:
    for name in ("index.lock", "next-index-7.lock"):
        (tmp_path / ".git" / name).write_text("")
    with pytest.raises(Refused) as caught:
        committing.refuse_unsettled(folder)
    subprocess.run(caught.value.fix, shell=True, check=True, timeout=60)
    assert list((tmp_path / ".git").glob("*.lock")) == []
