"""The files that differ from a base branch."""

from pathlib import Path

import pytest

from agentd.errors import NotFound
from agentd.git.changes import ChangedFile, changed_files
from agentd.git.repository import begin_repository, git, new_branch


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    for name in ("a.txt", "b.txt", "src/c.txt"):
        (folder / name).write_text("one\ntwo\n")
    begin_repository(folder, "The beginning")
    return folder


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "-c", "user.name=me", "-c", "user.email=me@localhost", "commit", "--quiet", "-m", "More")


def test_committed_uncommitted_and_untracked_files_are_compared_with_the_merge_base(project: Path) -> None:
    new_branch(project, "mine")
    (project / "a.txt").write_text("one\nthree\nfour\n")
    commit(project)
    git(project, "checkout", "--quiet", "main")
    (project / "b.txt").write_text("theirs\n")
    commit(project)
    git(project, "checkout", "--quiet", "mine")
    (project / "src/c.txt").unlink()
    (project / "src/new\n.txt").write_text("new\n")
    (project / "image").write_bytes(b"\0\xff")
    git(project, "add", "image")
    everything = (
        ChangedFile("a.txt", "modified", 2, 1),
        ChangedFile("image", "added"),
        ChangedFile("src/c.txt", "deleted", 0, 2),
        ChangedFile("src/new\n.txt", "added"),
    )
    assert changed_files(project, "main") == everything
    inner = (ChangedFile("c.txt", "deleted", 0, 2), ChangedFile("new\n.txt", "added"))
    assert changed_files(project / "src", "main") == inner


def test_line_ends_are_compared_as_the_user_has_them(project: Path) -> None:
    git(project, "config", "core.autocrlf", "true")
    (project / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    (project / "b.txt").write_bytes(b"one\r\nthree\r\n")
    assert changed_files(project, "main") == (ChangedFile("b.txt", "modified", 1, 1),)


def test_a_file_in_conflict_is_listed_once(project: Path) -> None:
    new_branch(project, "mine")
    (project / "a.txt").write_text("mine\n")
    commit(project)
    git(project, "checkout", "--quiet", "main")
    (project / "a.txt").write_text("theirs\n")
    commit(project)
    with pytest.raises(Exception, match="git merge failed"):
        git(project, "merge", "--quiet", "mine")
    assert [one.path for one in changed_files(project, "main")] == ["a.txt"]


def test_without_a_repository_or_a_branch_nothing_is_compared(project: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="is not in a git repository"):
        changed_files(tmp_path, "main")
    for base in ("nowhere", "--output=x", "main@{99}"):
        with pytest.raises(NotFound, match="there is no branch"):
            changed_files(project, base)
