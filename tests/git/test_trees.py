"""The files of a checkout as trees: everything is in them, and the person's own git does not notice."""

import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentd.errors import AgentdError
from agentd.git import checkout, trees
from agentd.git.repository import begin_repository, git, new_worktree
from agentd.model.evidence import Changed

EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
LONG_AGO = 1_000_000_000
FIRST = {"a.txt": "a\n", "src/words.py": "one\ntwo\n", "src/deep/er.py": "deep\n", ".gitignore": "*.log\nbuild/\n"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    write(folder, FIRST)
    begin_repository(folder, "The beginning")
    git(folder, "config", "user.name", "Nobody")
    git(folder, "config", "user.email", "nobody@localhost")
    return folder


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "More")


def head_tree(folder: Path) -> str:
    return git(folder, "rev-parse", "HEAD^{tree}").strip()


def text_of(folder: Path, tree: str, path: str) -> str:
    return git(folder, "cat-file", "blob", f"{tree}:{path}")


def test_a_clean_checkout_is_the_tree_of_its_commit(project: Path) -> None:
    assert trees.snapshot(project) == head_tree(project)


def test_changed_deleted_and_new_files_are_in_the_tree_and_ignored_ones_are_not(project: Path) -> None:
    write(project, {"a.txt": "other\n", "new/file.py": "new\n", "x.log": "noise", "build/x": "noise"})
    (project / "src/deep/er.py").unlink()
    tree = trees.snapshot(project)
    assert trees.paths(project, tree) == (".gitignore", "a.txt", "new/file.py", "src/words.py")
    assert text_of(project, tree, "a.txt") == "other"


def test_staged_and_committed_or_not_the_same_files_are_the_same_tree(project: Path) -> None:
    write(project, {"a.txt": "other\n", "new.py": "new\n"})
    loose = trees.snapshot(project)
    git(project, "add", "--all")
    staged = trees.snapshot(project)
    git(project, "commit", "--quiet", "-m", "More")
    assert loose == staged == trees.snapshot(project) == head_tree(project)


def test_the_person_s_git_does_not_notice(project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(room))
    write(project, {"a.txt": "staged\n", "later.txt": "later\n"})
    git(project, "add", "a.txt")
    git(project, "add", "--intent-to-add", "later.txt")
    write(project, {"a.txt": "not staged\n", "new.txt": "new\n"})

    def seen() -> tuple[object, ...]:
        files = {path: path.stat().st_mtime_ns for path in project.rglob("*") if ".git" not in path.parts}
        index = project / ".git/index"
        status = git(project, "--no-optional-locks", "status", "--porcelain=v2", "--branch")
        refs = git(project, "for-each-ref"), git(project, "stash", "list")
        return index.read_bytes(), index.stat().st_mtime_ns, status, refs, files, sorted((project / ".git").iterdir())

    before = seen()
    tree = trees.snapshot(project, ("src",))
    trees.lay_out(project, tree, tmp_path / "laid")
    assert trees.changes(project, head_tree(project), tree)
    assert seen() == before
    assert list(room.iterdir()) == []
    assert text_of(project, tree, "a.txt") == "not staged"
    assert text_of(project, tree, "later.txt") == "later"


def test_what_lies_below_the_paths_without_is_left_out_tracked_or_new(project: Path) -> None:
    clean = trees.snapshot(project)
    write(project, {"agentd/changes/x/tasks.md": "t", ".agents/tmp/x": "t", "agentd-else/x": "t", "src/agentd/x": "t"})
    commit(project)
    write(project, {"agentd/config.toml": "t", "agentd/changes/x/tasks.md": "changed"})
    tree = trees.snapshot(project, ("agentd", "./.agents/", ".agents-work", "../away", "/away"))
    assert set(trees.paths(project, tree)) == {*FIRST, "agentd-else/x", "src/agentd/x"}
    assert trees.snapshot(project, ("agentd", ".agents", "agentd-else", "src/agentd")) == clean


def test_of_a_folder_in_a_checkout_only_its_own_files_count(project: Path) -> None:
    commit_tree = git(project, "rev-parse", "HEAD:src").strip()
    assert trees.snapshot(project / "src") == commit_tree
    write(project, {"a.txt": "outside", "outside.txt": "outside", "src/new.py": "new", "src/agentd/x": "own"})
    tree = trees.snapshot(project / "src", ("agentd",))
    assert trees.paths(project / "src", tree) == ("deep/er.py", "new.py", "words.py")
    assert trees.changes(project / "src", commit_tree, tree) == (Changed("new.py", None, "new"),)
    assert list(trees.hashes(project / "src", tree, ["new.py"])) == ["new.py"]
    trees.lay_out(project / "src", tree, project.parent / "laid")
    assert sorted(path.name for path in (project.parent / "laid").iterdir()) == ["deep", "new.py", "words.py"]


def test_an_empty_folder_is_the_empty_tree(project: Path) -> None:
    (project / "empty").mkdir()
    assert trees.snapshot(project / "empty") == EMPTY
    trees.lay_out(project, EMPTY, project.parent / "laid")
    assert list((project.parent / "laid").iterdir()) == []


def test_new_files_of_more_than_5_mb_are_left_out_and_tracked_ones_are_not(project: Path) -> None:
    write(project, {"large.bin": "x" * (checkout.LARGEST_NEW_FILE + 1), "fits.bin": "x" * checkout.LARGEST_NEW_FILE})
    assert {"fits.bin"} == {*trees.paths(project, trees.snapshot(project))} - set(FIRST)
    git(project, "add", "large.bin")
    assert {"fits.bin", "large.bin"} == {*trees.paths(project, trees.snapshot(project))} - set(FIRST)


@pytest.mark.parametrize("count", [1, 300])
def test_a_tracked_file_in_a_folder_of_tools_counts_and_a_new_one_does_not(project: Path, count: int) -> None:
    write(project, {"web/venv/tracked.py": "one\n"})
    commit(project)
    write(project, {"web/venv/tracked.py": "two\n", "web/venv/new.py": "new\n", "web/node_modules/x/new.js": "new\n"})
    write(project, {f"new/{number}.txt": "new\n" for number in range(count)})
    tree = trees.snapshot(project)
    assert text_of(project, tree, "web/venv/tracked.py") == "two"
    assert len(trees.changes(project, head_tree(project), tree)) == count + 1


def test_a_branch_without_a_commit_has_files_too(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    assert trees.snapshot(tmp_path) == EMPTY
    write(tmp_path, {"a.txt": "a"})
    assert trees.paths(tmp_path, trees.snapshot(tmp_path)) == ("a.txt",)
    git(tmp_path, "add", "a.txt")
    assert trees.paths(tmp_path, trees.snapshot(tmp_path)) == ("a.txt",)


def test_an_index_that_the_person_s_git_has_locked_is_read_all_the_same(project: Path) -> None:
    write(project, {".git/index.lock": "", "new.txt": "new"})
    tree = trees.snapshot(project)
    assert "new.txt" in trees.paths(project, tree)
    trees.keep(project, "one/base", tree)
    trees.lay_out(project, tree, project.parent / "laid")
    assert (project / ".git/index.lock").read_bytes() == b""


def test_outside_of_a_checkout_there_is_one_clear_error(tmp_path: Path) -> None:
    for call in (trees.snapshot, lambda folder: trees.kept(folder, "x"), lambda folder: trees.paths(folder, EMPTY)):
        with pytest.raises(AgentdError, match="not a git repository"):
            call(tmp_path)


def test_a_broken_index_is_one_clear_error(project: Path) -> None:
    (project / ".git/index").write_bytes(b"nonsense")
    with pytest.raises(AgentdError, match="git ls-files failed in "):
        trees.snapshot(project)


@pytest.mark.parametrize(
    "name", [b"-rf", b":(top)x", b"new\nline", b"tab\t\"q'", b"\xff\xfe", "ü→".encode(), b"[a]*?", b"!x"]
)
def test_an_odd_name_is_a_name(project: Path, name: bytes) -> None:
    shown = name.decode("utf-8", "backslashreplace")
    root = os.fsencode(project)
    os.mkdir(root + b"/" + name)
    for path in (b"/" + name + b"/" + name, b"/" + name + b"/other"):
        Path(os.fsdecode(root + path)).write_text("x")
    tree = trees.snapshot(project)
    assert {f"{shown}/{shown}", f"{shown}/other"} == {*trees.paths(project, tree)} - set(FIRST)
    assert [one.path for one in trees.changes(project, head_tree(project), tree)] == [
        *sorted((f"{shown}/{shown}", f"{shown}/other"))
    ]
    assert trees.snapshot(project, (os.fsdecode(name),)) == head_tree(project)
    trees.lay_out(project, tree, project.parent / "laid")
    assert os.path.exists(os.fsencode(project.parent) + b"/laid/" + name + b"/" + name)


def test_a_large_new_file_with_an_odd_name_is_left_out_alone(project: Path) -> None:
    write(project, {"*": "x" * (checkout.LARGEST_NEW_FILE + 1), "-b": "small"})
    assert {"-b"} == {*trees.paths(project, trees.snapshot(project))} - set(FIRST)


def test_links_are_kept_and_never_followed(project: Path, tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    write(tmp_path, {"away/secret": "secret", "large": "x" * (checkout.LARGEST_NEW_FILE + 1)})
    (project / "folder").symlink_to(tmp_path / "away")
    (project / "large").symlink_to(tmp_path / "large")
    (project / "nowhere").symlink_to("not/there")
    tree = trees.snapshot(project)
    found = {one.path: one.new for one in trees.changes(project, head_tree(project), tree)}
    assert found == {"folder": str(tmp_path / "away"), "large": str(tmp_path / "large"), "nowhere": "not/there"}
    trees.lay_out(project, tree, tmp_path / "laid")
    assert os.readlink(tmp_path / "laid/nowhere") == "not/there"
    assert os.readlink(tmp_path / "laid/folder") == str(tmp_path / "away")


def test_a_file_that_became_a_folder_or_a_link_is_what_it_is_now(project: Path, tmp_path: Path) -> None:
    (project / "a.txt").unlink()
    (project / "src/words.py").unlink()
    write(project, {"a.txt/inner": "i\n"})
    (project / "src/words.py").symlink_to("deep/er.py")
    tree = trees.snapshot(project)
    assert trees.changes(project, head_tree(project), tree) == (
        Changed("a.txt", "a\n", None),
        Changed("a.txt/inner", None, "i\n"),
        Changed("src/words.py", "one\ntwo\n", "deep/er.py"),
    )


@pytest.mark.parametrize("born", [True, False])
def test_another_repository_inside_is_left_out(project: Path, born: bool) -> None:
    inner = project / "other"
    inner.mkdir()
    write(inner, {"x.txt": "x"})
    if born:
        begin_repository(inner, "Another")
    else:
        git(inner, "init", "--quiet")
    assert trees.snapshot(project) == head_tree(project)
    assert trees.paths(inner, trees.snapshot(inner)) == ("x.txt",)


def test_a_submodule_is_the_commit_that_is_checked_out_there(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    write(other, {"x.txt": "x"})
    begin_repository(other, "Another")
    git(project, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    commit(project)
    assert trees.snapshot(project) == head_tree(project)
    write(project, {"sub/x.txt": "changed there"})
    assert trees.snapshot(project) == head_tree(project)
    git(project / "sub", "-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "--all", "-m", "On")
    tree = trees.snapshot(project)
    assert trees.changes(project, head_tree(project), tree) == (Changed("sub", "", ""),)
    trees.lay_out(project, tree, tmp_path / "laid")
    assert list((tmp_path / "laid/sub").iterdir()) == []


def test_what_cannot_be_read_counts_as_unchanged(project: Path) -> None:
    write(project, {"secret": "new", "closed/x": "tracked"})
    git(project, "add", "closed/x")
    expected = {*FIRST, "closed/x"}
    write(project, {"a.txt": "changed, but nobody can see it\n", "src/words.py": "seen\n", "closed/y": "new"})
    for path in ("a.txt", "secret", "closed"):
        (project / path).chmod(0)
    # Somebody who may read everything has to give that up first.
    plain = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search")
    program = "import sys, pathlib; from agentd.git import trees; print(trees.snapshot(pathlib.Path(sys.argv[1])))"
    done = subprocess.run(
        [*(plain if os.geteuid() == 0 else ()), sys.executable, "-c", program, str(project)],
        capture_output=True,
        text=True,
        check=False,
    )
    (project / "closed").chmod(0o755)
    assert done.returncode == 0, done.stderr
    tree = done.stdout.strip()
    assert set(trees.paths(project, tree)) == expected
    assert text_of(project, tree, "a.txt") == "a"
    assert text_of(project, tree, "src/words.py") == "seen"


@pytest.mark.parametrize("setting", ["false", "true", "input"])
def test_the_hash_is_that_of_the_bytes_whatever_git_does_with_line_ends(project: Path, setting: str) -> None:
    write(project, {"unix.txt": "a\nb\n", "dos.txt": "a\r\nb\r\n", "mixed.txt": "a\nb\r\n"})
    tree = trees.snapshot(project)
    for name, value in (("core.autocrlf", setting), ("core.safecrlf", "true"), ("core.eol", "crlf")):
        git(project, "config", name, value)
    assert trees.snapshot(project) == tree
    git(project, "-c", "core.safecrlf=false", "add", "--all")
    assert trees.snapshot(project) == tree
    trees.lay_out(project, tree, project.parent / "laid")
    assert (project.parent / "laid/dos.txt").read_bytes() == b"a\r\nb\r\n"
    assert (project.parent / "laid/unix.txt").read_bytes() == b"a\nb\n"
    write(project, {"dos.txt": "a\nb\n"})
    (change,) = trees.changes(project, tree, trees.snapshot(project))
    assert change == Changed("dos.txt", "a\r\nb\r\n", "a\nb\n")


def test_a_checkout_with_other_line_ends_than_its_commits_is_the_same_tree_when_a_file_is_only_touched(
    project: Path,
) -> None:
    git(project, "config", "core.autocrlf", "true")
    (project / "a.txt").unlink()
    git(project, "checkout", "--quiet", "--", "a.txt")
    assert (project / "a.txt").read_bytes() == b"a\r\n"
    os.utime(project / "a.txt", (LONG_AGO, LONG_AGO))
    git(project, "update-index", "--refresh")
    tree = trees.snapshot(project)
    os.utime(project / "a.txt", (LONG_AGO + 5, LONG_AGO + 5))
    assert trees.snapshot(project) == tree


def test_a_file_changed_in_the_moment_it_was_added_is_seen(project: Path) -> None:
    # Same size, same time as the index: git must not believe the time, nor would it with the person's index.
    git(project, "config", "core.trustctime", "false")
    for text in ("b\n", "c\n"):
        write(project, {"a.txt": text})
        os.utime(project / "a.txt", (LONG_AGO, LONG_AGO))
        if text == "b\n":
            git(project, "add", "a.txt")
    os.utime(project / ".git/index", (LONG_AGO, LONG_AGO))
    assert text_of(project, trees.snapshot(project), "a.txt") == "c"


@pytest.mark.parametrize("option", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_that_git_was_told_to_overlook_is_looked_at(project: Path, option: str) -> None:
    git(project, "update-index", option, "a.txt", "src/words.py")
    write(project, {"a.txt": "changed\n"})
    index = (project / ".git/index").read_bytes()
    assert [one.path for one in trees.changes(project, head_tree(project), trees.snapshot(project))] == ["a.txt"]
    assert (project / ".git/index").read_bytes() == index


def test_a_work_tree_that_the_repository_s_settings_name_is_not_looked_at(project: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    git(project, "worktree", "add", "--quiet", "-b", "linked", str(tmp_path / "linked"))
    git(project, "worktree", "add", "--quiet", "-b", "other", str(elsewhere))
    old = trees.snapshot(project)
    git(project, "config", "core.worktree", str(elsewhere))
    for place in (project, tmp_path / "linked"):
        assert trees.snapshot(place) == old
        write(place, {"src/words.py": "other\n"})
        changed = [one.path for one in trees.changes(place, old, trees.snapshot(place))]
        assert changed == ["src/words.py"]
        assert trees.paths(place, trees.snapshot(place / "src")) == ("deep/er.py", "words.py")
        assert text_of(project, trees.snapshot(place / "src"), "words.py") == "other"


@pytest.mark.parametrize("where", ["", "src"])
def test_an_index_that_says_that_a_file_is_unchanged_is_not_believed(project: Path, tmp_path: Path, where: str) -> None:
    (tmp_path / "once").write_text("words.py filter=lie\n")
    write(project, {"src/words.py": "lie\n"})
    os.utime(project / "src/words.py", (0, 0))
    lie = (
        "-c",
        f"core.attributesFile={tmp_path / 'once'}",
        "-c",
        "filter.lie.clean=git cat-file blob HEAD:src/words.py",
    )
    git(project, *lie, "add", "src/words.py")
    assert git(project, "status", "--porcelain") == ""
    assert text_of(project, trees.snapshot(project / where), "src/words.py".removeprefix(f"{where}/")) == "lie"


def test_a_file_that_is_no_file_any_more_does_not_stop_a_snapshot(project: Path) -> None:
    (project / "a.txt").unlink()
    os.mkfifo(project / "a.txt")
    assert "src/words.py" in trees.paths(project, trees.snapshot(project))


@pytest.mark.parametrize("how", [(), ("--sparse-index",)])
def test_what_a_sparse_checkout_leaves_away_is_not_gone(project: Path, how: tuple[str, ...]) -> None:
    write(project, {"kept/k.txt": "k\n", "away/deep/w.txt": "w\n"})
    commit(project)
    git(project, "sparse-checkout", "init", "--cone", *how)
    git(project, "sparse-checkout", "set", "kept")
    assert not (project / "away").exists()
    assert trees.snapshot(project) == head_tree(project)
    write(project, {"kept/k.txt": "changed\n", "away/new.txt": "new\n", "away/deep/w.txt": "there again\n"})
    tree = trees.snapshot(project)
    assert [one.path for one in trees.changes(project, head_tree(project), tree)] == [
        "away/deep/w.txt",
        "away/new.txt",
        "kept/k.txt",
    ]
    trees.lay_out(project, head_tree(project), project.parent / "laid")
    assert (project.parent / "laid/away/deep/w.txt").read_text() == "w\n"


def test_a_split_index_is_left_as_it_is(project: Path) -> None:
    git(project, "config", "core.splitIndex", "true")
    git(project, "update-index", "--split-index")
    write(project, {"a.txt": "b\n", "new.txt": "n\n"})
    before = sorted((path.name, path.read_bytes()) for path in (project / ".git").glob("*index*"))
    assert len(before) == 2
    assert trees.paths(project, trees.snapshot(project)) == (
        ".gitignore",
        "a.txt",
        "new.txt",
        "src/deep/er.py",
        "src/words.py",
    )
    assert sorted((path.name, path.read_bytes()) for path in (project / ".git").glob("*index*")) == before


def test_hooks_are_not_run(project: Path) -> None:
    for name in ("post-index-change", "reference-transaction", "post-checkout"):
        hook = project / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch '{project.parent}/ran-{name}'\n")
        hook.chmod(0o755)
    write(project, {"new.txt": "n"})
    tree = trees.snapshot(project)
    trees.keep(project, "x", tree)
    trees.lay_out(project, tree, project.parent / "laid")
    assert list(project.parent.glob("ran-*")) == []


def test_in_the_middle_of_a_merge_with_conflicts_the_files_count(project: Path) -> None:
    git(project, "checkout", "--quiet", "-b", "other")
    write(project, {"a.txt": "theirs\n", "src/words.py": "theirs\n"})
    commit(project)
    git(project, "checkout", "--quiet", "main")
    write(project, {"a.txt": "ours\n", "src/words.py": "ours\n"})
    commit(project)
    with pytest.raises(AgentdError):
        git(project, "merge", "--quiet", "other")
    assert "<<<<<<<" in text_of(project, trees.snapshot(project), "a.txt")
    assert trees.paths(project, trees.snapshot(project / "src")) == ("deep/er.py", "words.py")
    assert "src/words.py" not in trees.paths(project, trees.snapshot(project, ("src",)))
    assert git(project, "ls-files", "--unmerged")


def test_settings_of_a_hook_do_not_lead_into_another_repository(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(project / "nowhere"))
    assert set(trees.paths(project, trees.snapshot(project))) == set(FIRST)


def test_a_temporary_folder_inside_of_the_checkout_is_left_out(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(project / "tmp"))
    assert trees.snapshot(project) == head_tree(project)


def test_snapshots_at_the_same_time_do_not_disturb_each_other(project: Path) -> None:
    write(project, {f"new/{number}.txt": str(number) for number in range(50)})
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: trees.snapshot(project), range(8)))
    assert set(found) == {trees.snapshot(project)}


def test_a_kept_tree_survives_a_clean_up_and_a_forgotten_one_does_not(project: Path) -> None:
    write(project, {"new.txt": "kept\n"})
    tree = trees.snapshot(project)
    assert trees.kept(project, "add-it/base") == ""
    trees.keep(project, "add-it/base", tree)
    (project / "new.txt").unlink()
    other = trees.snapshot(project / "src", ("words.py",))
    git(project, "gc", "--quiet", "--prune=now")
    assert trees.kept(project, "add-it/base") == tree
    assert text_of(project, tree, "new.txt") == "kept"
    with pytest.raises(AgentdError):
        trees.paths(project, other)
    trees.forget(project, "add-it/base")
    trees.forget(project, "add-it/base")
    assert trees.kept(project, "add-it/base") == ""
    git(project, "gc", "--quiet", "--prune=now")
    with pytest.raises(AgentdError):
        trees.paths(project, tree)


def test_a_name_that_is_no_ref_is_one_clear_error(project: Path) -> None:
    for name in ("../heads/main", "x.lock", "a b"):
        with pytest.raises(AgentdError, match="git update-ref failed"):
            trees.keep(project, name, head_tree(project))
    assert git(project, "for-each-ref", "refs/agentd") == ""


def test_worktrees_share_what_is_kept(project: Path, tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    new_worktree(project, "beside", beside)
    write(beside, {"only-here.txt": "x\n"})
    tree = trees.snapshot(beside)
    trees.keep(beside, "it/base", tree)
    assert trees.kept(project, "it/base") == tree
    assert trees.snapshot(project) == head_tree(project)
    assert [one.path for one in trees.changes(project, head_tree(project), tree)] == ["only-here.txt"]
    trees.lay_out(beside, tree, tmp_path / "laid")
    assert (tmp_path / "laid/only-here.txt").is_file()
    git(project, "worktree", "remove", "--force", str(beside))
    git(project, "gc", "--quiet", "--prune=now")
    assert trees.kept(project, "it/base") == tree
    assert "only-here.txt" in trees.paths(project, tree)


def test_changes_have_both_texts_and_none_for_what_is_no_text(project: Path) -> None:
    write(project, {"large.txt": "x" * trees.LARGEST_TEXT, "src/gone.py": "gone\n"})
    (project / "image").write_bytes(b"\x89\0\xff")
    (project / "latin").write_bytes(b"gr\xfc\xdfe\n")
    old = trees.snapshot(project)
    write(project, {"large.txt": "x" * trees.LARGEST_TEXT + "y", "empty": "", "a.txt": "a\r\nno end", "copy": "gone\n"})
    (project / "image").write_bytes(b"\x89\0\xfe")
    (project / "latin").write_bytes(b"gr\xfc\xdfe!")
    (project / "src/gone.py").unlink()
    (project / "src/words.py").chmod(0o755)
    assert trees.changes(project, old, trees.snapshot(project)) == (
        Changed("a.txt", "a\n", "a\r\nno end"),
        Changed("copy", None, "gone\n"),
        Changed("empty", None, ""),
        Changed("image", "", ""),
        Changed("large.txt", "x" * trees.LARGEST_TEXT, ""),
        Changed("latin", "gr��e\n", "gr��e!"),
        Changed("src/gone.py", "gone\n", None),
        Changed("src/words.py", "one\ntwo\n", "one\ntwo\n"),
    )
    assert trees.changes(project, old, old) == ()


def test_changes_do_not_follow_the_person_s_settings(project: Path) -> None:
    for name, value in (
        ("diff.renames", "copies"),
        ("diff.relative", "true"),
        ("diff.external", "false"),
        ("core.abbrev", "4"),
    ):
        git(project, "config", name, value)
    old = head_tree(project)
    (project / "src/words.py").rename(project / "words.py")
    found = trees.changes(project / "src", old, trees.snapshot(project))
    assert [one.path for one in found] == ["src/words.py", "words.py"]


def test_the_hashes_are_those_of_the_files_asked_for(project: Path) -> None:
    tree = trees.snapshot(project)
    expected = git(project, "hash-object", "a.txt").strip()
    assert trees.hashes(project, tree, ["a.txt", "src", "not/there"]) == {"a.txt": expected}
    assert set(trees.hashes(project, tree)) == set(FIRST)


def test_a_tree_is_laid_out_as_the_files_were_and_only_into_an_empty_folder(project: Path, tmp_path: Path) -> None:
    (project / "src/words.py").chmod(0o755)
    tree = trees.snapshot(project)
    target = tmp_path / "some" / "laid"
    trees.lay_out(project, tree, target)
    laid = {str(path.relative_to(target)): path.read_text() for path in target.rglob("*") if path.is_file()}
    assert laid == FIRST
    assert os.access(target / "src/words.py", os.X_OK)
    assert not os.access(target / "a.txt", os.X_OK)
    with pytest.raises(AgentdError, match="not empty"):
        trees.lay_out(project, tree, target)


NAMES = ("a", "b.txt", "d/a", "d/e/f", "ä", "-x", "*")
CONTENTS = (b"", b"1\n", b"2\n", b"1\r\n", b"\0\xff", b"link:a", b"run:1\n")


def put(folder: Path, name: str, content: bytes | None) -> None:
    path = folder / name
    if path.is_symlink() or path.exists():
        path.unlink()
    if content is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if content.startswith(b"link:"):
        path.symlink_to(content.removeprefix(b"link:").decode())
    else:
        path.write_bytes(content)
        path.chmod(0o755 if content.startswith(b"run:") else 0o644)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, bytes]]]:
    """A checkout that edits go on in, and the files of every tree that it ever was."""
    folder = tmp_path_factory.mktemp("seen")
    git(folder, "init", "--quiet")
    return folder, {}


@settings(max_examples=40)
@given(edits=st.lists(st.tuples(st.sampled_from(NAMES), st.none() | st.sampled_from(CONTENTS)), min_size=1, max_size=6))
def test_the_trees_are_the_same_exactly_if_the_files_are(
    seen: tuple[Path, dict[str, dict[str, bytes]]], edits: list[tuple[str, bytes | None]]
) -> None:
    folder, known = seen
    for number, (name, content) in enumerate(edits):
        put(folder, name, content)
        if number % 2:
            git(folder, "add", "--all")
    files = {}
    for path in (folder / name for name in NAMES):
        if path.is_symlink():
            files[str(path)] = b"link:" + os.fsencode(os.readlink(path))
        elif path.exists():
            files[str(path)] = path.read_bytes()
    tree = trees.snapshot(folder)
    assert known.setdefault(tree, files) == files
    assert [each for each, those in known.items() if those == files] == [tree]


def test_from_one_tree_to_another_the_changes_say_all(project: Path) -> None:
    chance = random.Random(6)
    names = [f"{folder}{letter}" for folder in ("", "d/", "d/e/") for letter in "xyz"]
    files: dict[str, str] = dict(FIRST)
    tree = trees.snapshot(project)
    for _ in range(8):
        before, was = dict(files), tree
        for name in chance.sample(names, 4):
            if chance.random() < 0.4:
                files.pop(name, None)
                put(project, name, None)
            else:
                files[name] = "".join(chance.choices("ab\r\n", k=5))
                put(project, name, files[name].encode())
        tree = trees.snapshot(project)
        different = sorted(name for name in {*before, *files} if before.get(name) != files.get(name))
        expected = [Changed(name, before.get(name), files.get(name)) for name in different]
        assert list(trees.changes(project, was, tree)) == expected
        assert list(trees.paths(project, tree)) == sorted(files)


def test_what_tools_leave_behind_is_no_part_of_a_tree(project: Path) -> None:
    before = trees.snapshot(project)
    made = ("pkg/__pycache__/a.pyc", ".pytest_cache/v/x", "web/node_modules/left/index.js", ".coverage")
    write(project, dict.fromkeys(made, "made"))
    assert trees.snapshot(project) == before


def test_a_tree_can_have_some_files_of_another_one(project: Path) -> None:
    before = trees.snapshot(project)
    write(project, {"a.txt": "other\n", "new.py": "new\n", "src/words.py": "three\n"})
    mixed = trees.overlaid(project, before, trees.snapshot(project), ["new.py", "src/words.py", "nowhere.py"])
    assert [one.path for one in trees.changes(project, before, mixed)] == ["new.py", "src/words.py"]
    assert text_of(project, mixed, "a.txt") == "a"


def test_a_patch_shows_what_differs(project: Path) -> None:
    before = trees.snapshot(project)
    write(project, {"a.txt": "other\n"})
    text = trees.patch(project, before, trees.snapshot(project))
    assert "-a\n+other\n" in text


def test_put_back_writes_every_file_as_it_was_whatever_its_name(project: Path) -> None:
    odd = os.fsdecode(b"caf\xe9.txt")
    (project / odd).write_text("one\n")
    (project / "link").symlink_to("nowhere")
    before = trees.snapshot(project)
    (project / odd).write_text("two\n")
    (project / "link").unlink()
    (project / "new.txt").write_text("litter\n")
    changed = trees.put_back(project, before, trees.snapshot(project))
    assert changed == ("caf\\xe9.txt", "link", "new.txt")
    assert (project / odd).read_text() == "one\n"
    assert (project / "link").readlink() == Path("nowhere")
    assert not (project / "new.txt").exists()
    assert trees.snapshot(project) == before
