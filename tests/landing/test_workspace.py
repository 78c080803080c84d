"""Workspaces: made whole or not at all, apart from the person's repository, and gone only when all in them is kept."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agentd.errors import AgentdError, Refused
from agentd.git.repository import head
from agentd.landing import workspace
from agentd.landing.workspace import CouldNotStart, Workspace
from agentd.runs.worktree import workspaces_folder
from tests.landing.repositories import branch, git, invariant, make, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path)


@pytest.fixture(autouse=True)
def unchanged(root: Path) -> Iterator[None]:
    """Whatever a test does in workspaces, the person's repository stays as it is."""
    before = invariant(root)
    yield
    assert invariant(root) == before


def collected(root: Path, one: Workspace) -> dict[str, str]:
    commit, _ = workspace.collect(root, one, "work")
    listed = (
        git(root, "diff-tree", "-r", "--name-status", "--no-renames", one.base, commit).splitlines() if commit else []
    )
    return {name: state for state, name in (line.split("\t") for line in listed)}


def test_a_workspace_has_the_committed_files_and_nothing_of_the_persons_work_in_progress(root: Path) -> None:
    one = workspace.make(branch(root), "T1")
    assert git(one.path, "status", "--porcelain") == ""
    assert git(one.path, "branch", "--show-current") == "agentd/T1"
    assert git(one.path, "stash", "list") == ""
    assert (one.path / "a.txt").read_text() == "1\n2\n3\n"
    assert not (one.path / "new.txt").exists()
    assert not (one.path / "hook-was-here").exists()
    assert git(one.path, "config", "user.name") == "Ada"
    assert not one.path.is_relative_to(root)


def test_twenty_are_made_at_once_while_another_process_holds_the_locks_of_git(root: Path) -> None:
    line = branch(root)
    locks = [root / ".git" / name for name in ("config.lock", "index.lock", "HEAD.lock", "packed-refs.lock")]
    for lock in locks:
        lock.write_text("")
    with ThreadPoolExecutor(20) as pool:
        made = list(pool.map(lambda number: workspace.make(line, f"T{number}"), range(20)))
    assert all(git(one.path, "status", "--porcelain") == "" for one in made)
    assert len(list(workspace.find_all(root, "own/r1"))) == 20
    for lock in locks:
        lock.unlink()


def test_what_git_does_in_a_workspace_stays_there(root: Path) -> None:
    one = workspace.make(branch(root), "T1")
    write(one.path, {"a.txt": "1\n2\nmore\n"})
    for words in (
        ("stash", "--include-untracked"),
        ("stash", "pop"),
        ("config", "core.hooksPath", "/somewhere"),
        ("config", "user.name", "Mallory"),
        ("add", "--all"),
        ("commit", "--quiet", "-m", "mine"),
        ("branch", "other"),
        ("checkout", "--quiet", "--detach"),
        ("branch", "--force", "main", "HEAD"),
        ("checkout", "--quiet", "main"),
        ("tag", "v1"),
        ("gc", "--quiet", "--prune=now"),
        ("worktree", "prune"),
        ("reflog", "expire", "--expire=now", "--all"),
    ):
        git(one.path, *words)
    git(root, "fsck", "--strict")
    assert collected(root, one) == {"a.txt": "M"}


def test_all_that_git_would_take_is_collected_and_what_tools_leave_is_not(root: Path) -> None:
    one = workspace.make(branch(root), "T1")
    write(one.path, {"src/new.py": "Y = 2\n", "big.bin": "x" * 6_000_000, "y.log": "ignored\n", "odd\nname": "odd\n"})
    write(one.path, {"src/__pycache__/c.pyc": "compiled", "node_modules/x/index.js": "installed"})
    (one.path / "b.txt").unlink()
    (one.path / "a.txt").chmod(0o755)
    (one.path / "link").symlink_to("/etc/passwd")
    assert collected(root, one) == {
        "a.txt": "M",
        "b.txt": "D",
        "big.bin": "A",
        "link": "A",
        '"odd\\nname"': "A",
        "src/new.py": "A",
    }


@pytest.mark.parametrize("trick", ["assume", "exclude", "attributes", "alternates", "gone", "link", "config"])
def test_what_an_agent_does_to_its_repository_hides_nothing(root: Path, trick: str) -> None:
    one = workspace.make(branch(root), "T1")
    private = one.path / ".git"
    if trick == "assume":
        git(one.path, "update-index", "--assume-unchanged", "a.txt")
        git(one.path, "update-index", "--skip-worktree", "b.txt")
    write(one.path, {"a.txt": "1\n2\nmore\n", "b.txt": "other\n", "new.py": "Z = 1\n"})
    if trick == "exclude":
        write(private, {"info/exclude": "*\n"})
    elif trick == "attributes":
        write(private, {"info/attributes": "* filter=evil\n"})
        git(one.path, "config", "filter.evil.clean", f"touch {one.path}/evil-was-here; cat")
    elif trick == "alternates":
        write(private, {"objects/info/alternates": "/nowhere\n"})
    elif trick == "gone":
        subprocess.run(["rm", "-rf", str(private)], check=True)
    elif trick == "link":
        subprocess.run(["rm", "-rf", str(private)], check=True)
        private.symlink_to(root / ".git")
    elif trick == "config":
        write(private, {"config": "[core]\n\tfsmonitor = touch evil-was-here\n\tbare = true\n"})
    assert collected(root, one) == {"a.txt": "M", "b.txt": "M", "new.py": "A"}
    assert not (one.path / "evil-was-here").exists()


def test_a_removed_workspace_leaves_every_line_under_a_kept_ref(root: Path) -> None:
    one = workspace.make(branch(root), "T1")
    write(one.path, {"first.py": "first\n"})
    assert collected(root, one)
    write(one.path, {"a.txt": "committed and dropped\n"})
    git(one.path, "commit", "--quiet", "--all", "-m", "mine")
    git(one.path, "reset", "--quiet", "--hard", "HEAD~1")
    write(one.path, {"b.txt": "stashed\n"})
    git(one.path, "stash", "--quiet")
    write(one.path, {"last.py": "last\n"})
    workspace.remove(root, one)
    assert not one.path.exists()
    assert not list(workspace.find_all(root))
    kept = git(root, "for-each-ref", "--format=%(objectname)", "refs/agentd/own/r1").split()
    texts = [git(root, "show", "--format=", "-m", commit) for commit in kept]
    for line in ("first", "committed and dropped", "stashed", "last"):
        assert any(f"+{line}" in text for text in texts), line
    git(root, "prune", "--expire=now")
    assert all(git(root, "cat-file", "-t", commit) == "commit" for commit in kept)


def test_a_broken_commit_among_many_keeps_the_others_from_nothing(root: Path) -> None:
    one = workspace.make(branch(root), "T1")
    made = []
    for number in range(9):
        write(one.path, {"a.txt": f"attempt {number}\n"})
        git(one.path, "commit", "--quiet", "--all", "-m", "attempt")
        made.append(git(one.path, "rev-parse", "HEAD"))
        git(one.path, "reset", "--quiet", "--hard", "HEAD~1")
    tree = git(one.path, "rev-parse", f"{made[4]}^{{tree}}")
    (one.path / ".git/objects" / tree[:2] / tree[2:]).unlink()
    write(one.path / ".git", {"ORIG_HEAD": "1" * 40})
    workspace.remove(root, one)
    kept = git(root, "for-each-ref", "--format=%(objectname)", "refs/agentd/own/r1/commits").split()
    assert sorted(kept) == sorted({*made} - {made[4]})


def test_a_nested_repository_is_named_and_its_workspace_stays(root: Path) -> None:
    one = workspace.make(branch(root), "T1")
    inner = one.path / "inner"
    inner.mkdir()
    git(inner, "init", "--quiet")
    write(inner, {"x": "x"})
    with pytest.raises(AgentdError, match="inner"):
        workspace.remove(root, one)
    assert (inner / "x").exists()


def test_a_folder_that_nobody_may_enter_is_removed_all_the_same(root: Path) -> None:
    one = workspace.make(branch(root), "T1")
    write(one.path, {"build/deep/x": "x"})
    (one.path / "build/deep").chmod(0)
    (one.path / "build").chmod(0o500)
    workspace.remove(root, one)
    assert not one.path.exists()


def test_what_is_in_the_way_is_not_touched_and_the_task_could_not_start(root: Path) -> None:
    line = branch(root)
    place = workspaces_folder(root, line.key) / "T1"
    write(place, {"mine": "mine\n"})
    with pytest.raises(CouldNotStart, match="in the way"):
        workspace.make(line, "T1")
    assert (place / "mine").read_text() == "mine\n"


def test_a_workspace_that_could_not_be_provided_for_leaves_nothing(root: Path) -> None:
    line = branch(root)

    def fail(place: Path) -> None:
        assert (place / "a.txt").exists()
        raise AgentdError("the setup failed", "make setup")

    with pytest.raises(CouldNotStart, match="could not be made: the setup failed") as told:
        workspace.make(line, "T1", fail)
    assert told.value.fix == "make setup"
    assert not list(workspace.find_all(root))
    assert not workspaces_folder(root, line.key).exists()


def test_making_it_again_finds_it_with_the_work_in_it(root: Path) -> None:
    line = branch(root)
    one = workspace.make(line, "T1")
    write(one.path, {"a.txt": "work\n"})
    assert workspace.make(line, "T1") == one
    assert (one.path / "a.txt").read_text() == "work\n"


KILLED = """
import os, sys
from pathlib import Path
from agentd.landing import workspace
from tests.landing.repositories import branch
def stop(place):
    (place / "half").write_text("made")
    print(place, flush=True)
    sys.stdin.read()
workspace.make(branch(Path(sys.argv[1])), "T1", stop)
"""


def test_what_a_killed_process_had_half_made_is_swept_away(root: Path) -> None:
    argv = [sys.executable, "-c", KILLED, str(root)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as half:
        assert half.stdout
        place = Path(half.stdout.readline().strip())
        assert place.is_dir()
        half.send_signal(signal.SIGKILL)
    one = workspace.make(branch(root), "T1")
    assert one.path == place
    assert not (place / "half").exists()


@pytest.fixture
def clone(tmp_path: Path, root: Path) -> Path:
    """Another checkout of the person's, for tests that change it."""
    mine = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--no-local", str(root), str(mine))
    git(mine, "config", "user.name", "Ada")
    git(mine, "config", "user.email", "ada@localhost")
    return mine


def test_a_full_disk_is_told_and_leaves_nothing(clone: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    write(clone, {"large.bin": "x" * 3_000_000})
    git(clone, "add", "large.bin")
    git(clone, "commit", "--quiet", "-m", "large")
    line, before = branch(clone), invariant(clone)
    home = workspaces_folder(clone, line.key)
    home.mkdir(parents=True)
    for size in ("1m", "64k", "4k"):
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(home)], check=True)
        try:
            with pytest.raises(CouldNotStart, match="could not be made"):
                workspace.make(line, "T1")
            assert not list(home.iterdir())
        finally:
            subprocess.run(["umount", str(home)], check=True)
    assert not list(workspace.find_all(clone))
    assert invariant(clone) == before


def test_a_branch_that_is_checked_out_is_not_moved(root: Path, tmp_path: Path) -> None:
    line = branch(root)
    git(root, "worktree", "add", "--quiet", str(tmp_path / "looking"), line.name)
    with pytest.raises(Refused, match="checked out in"):
        line.tip()
    git(root, "worktree", "remove", "--force", str(tmp_path / "looking"))


def test_what_is_known_of_a_workspace_is_read_from_gits_private_folder_alone(root: Path) -> None:
    one = workspace.make(branch(root), "T1")
    assert time.time() - one.made < 60
    record = root / ".git/agentd/workspaces/own/r1/T1/workspace.json"
    assert json.loads(record.read_text())["base"] == head(root)
    record.write_text("{}")
    with pytest.raises(AgentdError, match="does not describe a workspace"):
        workspace.find(root, "own/r1", "T1")


def test_a_sparse_checkout_stays_sparse_and_loses_nothing(clone: Path) -> None:
    git(clone, "sparse-checkout", "set", "--no-cone", "/*", "!/src")
    before = invariant(clone)
    one = workspace.make(branch(clone), "T1")
    assert not (one.path / "src").exists()
    write(one.path, {"a.txt": "changed\n"})
    assert collected(clone, one) == {"a.txt": "M"}
    assert invariant(clone) == before


@pytest.fixture
def with_submodules(tmp_path: Path, clone: Path) -> Path:
    """A person's checkout with the submodules lib/sub and lib/too."""
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "--quiet", "--initial-branch=main")
    write(other, {"inner.txt": "inner\n", ".gitignore": "*.o\n"})
    git(other, "add", "--all")
    git(other, "-c", "user.name=A", "-c", "user.email=a@localhost", "commit", "--quiet", "-m", "inner")
    for path in ("lib/sub", "lib/too"):
        git(clone, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), path)
    git(clone, "commit", "--quiet", "-m", "with submodules")
    return clone


def test_submodules_are_there_with_their_files_and_one_that_is_missing_is_told(
    tmp_path: Path, with_submodules: Path
) -> None:
    clone = with_submodules
    one = workspace.make(branch(clone), "T1")
    assert (one.path / "lib/sub/inner.txt").read_text() == "inner\n"
    write(one.path, {"a.txt": "changed\n", "lib/sub/inner.txt": "changed\n"})
    assert collected(clone, one) == {"a.txt": "M"}
    git(one.path / "lib/sub", "commit", "--quiet", "--all", "-m", "moved")
    assert workspace.collect(clone, one, "work")[1] == ("lib/sub",)
    assert (clone / "lib/sub/inner.txt").read_text() == "inner\n"
    bare = tmp_path / "bare"
    git(tmp_path, "clone", "--quiet", "--no-local", str(clone), str(bare))
    with pytest.raises(CouldNotStart, match="lib/sub") as told:
        workspace.make(branch(bare), "T1")
    assert "submodule update" in told.value.fix


def test_a_file_that_was_only_touched_was_not_changed(root: Path) -> None:
    one = workspace.make(branch(root), "T1")
    (one.path / "a.txt").write_text((one.path / "a.txt").read_text())
    os.utime(one.path / "b.txt", (1, 1))
    assert workspace.written(root, one) == ()
    write(one.path, {"a.txt": "1\n2\n4\n"})
    assert workspace.written(root, one) == ("a.txt",)


@pytest.mark.parametrize("name", ["inner.txt", "new.txt"])
def test_what_was_written_in_a_submodule_is_named_and_its_workspace_stays(with_submodules: Path, name: str) -> None:
    one = workspace.make(branch(with_submodules), "T1")
    write(one.path, {"lib/sub/built.o": "ignored\n", "lib/too/__pycache__/c.pyc": "compiled"})
    assert workspace.collect(with_submodules, one, "work") == ("", ())
    write(one.path, {f"lib/sub/{name}": "mine\n"})
    with pytest.raises(AgentdError, match="lib/sub"):
        workspace.remove(with_submodules, one)
    assert (one.path / "lib/sub" / name).read_text() == "mine\n"


def test_a_submodule_that_was_removed_or_replaced_is_collected_as_that(with_submodules: Path) -> None:
    line = branch(with_submodules)
    one, two, three = (workspace.make(line, task) for task in ("T1", "T2", "T3"))
    git(one.path, "rm", "--quiet", "lib/sub")
    assert collected(with_submodules, one) == {".gitmodules": "M", "lib/sub": "D"}
    git(two.path, "rm", "--quiet", "lib/sub")
    write(two.path, {"lib/sub/own.txt": "own\n"})
    assert workspace.collect(with_submodules, two, "work")[1] == ("lib/sub",)
    (three.path / ".gitmodules").unlink()
    git(three.path / "lib/too", "commit", "--quiet", "--allow-empty", "-m", "moved")
    assert collected(with_submodules, three) == {".gitmodules": "D"}
    assert workspace.collect(with_submodules, three, "work")[1] == ("lib/too",)
    shutil.rmtree(three.path / "lib/too")
    write(three.path, {"lib/too": "a file\n"})
    assert collected(with_submodules, three) == {".gitmodules": "D", "lib/too": "T"}


def test_pointers_of_large_files_stay_pointers_without_their_program(root: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 12\n"
    line = branch(root)
    one = workspace.make(line, "T0")
    write(one.path, {".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "x.bin": pointer})
    commit, _ = workspace.collect(root, one, "pointers")
    git(root, "update-ref", line.ref, commit)
    two = workspace.make(line, "T1")
    assert (two.path / "x.bin").read_text() == pointer
    assert collected(root, two) == {}


def test_a_detached_head_is_where_the_branch_begins(clone: Path) -> None:
    git(clone, "checkout", "--quiet", "--detach")
    before = invariant(clone)
    one = workspace.make(branch(clone), "T1")
    assert one.base == head(clone)
    assert invariant(clone) == before


def test_a_project_in_a_folder_of_a_shallow_clone_has_a_workspace_of_the_whole(tmp_path: Path, root: Path) -> None:
    mine = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth=1", root.as_uri(), str(mine))
    git(mine, "config", "user.name", "Ada")
    git(mine, "config", "user.email", "ada@localhost")
    one = workspace.make(branch(mine / "src"), "T1")
    assert git(one.path, "rev-list", "--count", "HEAD") == "1"
    write(one.path, {"src/c.py": "X = 2\n"})
    assert collected(mine / "src", one) == {"src/c.py": "M"}


def test_commits_of_every_workspace_of_a_task_are_kept(root: Path) -> None:
    line, lines = branch(root), []
    for attempt in range(3):
        one = workspace.make(line, "T1")
        for number in range(2):
            lines.append(f"attempt {attempt} commit {number}")
            write(one.path, {"a.txt": f"{lines[-1]}\n"})
            git(one.path, "commit", "--quiet", "--all", "-m", lines[-1])
            git(one.path, "reset", "--quiet", "--hard", "HEAD~1")
        workspace.remove(root, one)
    kept = git(root, "for-each-ref", "--format=%(refname)", "refs/agentd/own/r1/commits").splitlines()
    texts = {git(root, "show", f"{ref}:a.txt") for ref in kept}
    assert texts == set(lines)
    git(root, "fsck", "--strict")


def test_git_never_runs_what_the_settings_of_a_workspace_name(root: Path, tmp_path: Path) -> None:
    one = workspace.make(branch(root), "T1")
    write(one.path, {"a.txt": "work\n"})
    git(one.path, "commit", "--quiet", "--all", "-m", "mine")
    mine = git(one.path, "rev-parse", "HEAD")
    evil = f"touch {tmp_path}/evil; false"
    for key, value in {
        "remote.o.url": str(tmp_path / "x"),
        "remote.o.promisor": "true",
        "remote.o.uploadpack": evil,
        "extensions.partialClone": "o",
        "core.fsmonitor": evil,
        "core.sshCommand": evil,
        "core.alternateRefsCommand": evil,
    }.items():
        git(one.path, "config", key, value)
    write(one.path / ".git", {"refs/heads/broken": f"{'1' * 40}\n", "shallow": f"{'2' * 40}\n"})
    workspace.remove(root, one)
    assert not (tmp_path / "evil").exists()
    assert git(root, "for-each-ref", "--format=%(objectname)", "refs/agentd/own/r1/commits") == mine


@pytest.mark.parametrize("way", ["commondir", "link", "file"])
def test_a_repository_that_leads_to_the_persons_own_is_not_followed(root: Path, way: str) -> None:
    one = workspace.make(branch(root), "T1")
    write(one.path, {"a.txt": "work\n"})
    private = one.path / ".git"
    if way == "commondir":
        write(private, {"commondir": str(root / ".git")})
    else:
        subprocess.run(["rm", "-rf", str(private)], check=True)
        if way == "link":
            private.symlink_to(root / ".git")
        else:
            private.write_text(f"gitdir: {root}/.git\n")
    workspace.remove(root, one)
    assert git(root, "show", "refs/agentd/own/r1/tasks/T1:a.txt") == "work"
    assert git(root, "for-each-ref", "refs/agentd/own/r1/commits") == ""


def test_new_files_where_the_project_keeps_what_tools_leave_are_work(clone: Path) -> None:
    write(clone, {"tests/node_modules/x/index.js": "1\n"})
    git(clone, "add", "--force", "tests")
    git(clone, "commit", "--quiet", "-m", "a fixture")
    one = workspace.make(branch(clone), "T1")
    write(one.path, {"tests/node_modules/y/index.js": "2\n", "node_modules/z/index.js": "3\n"})
    assert collected(clone, one) == {"tests/node_modules/y/index.js": "A"}
