"""What a snapshot believes: contents that this process has read, and never the index that others can write."""

import ctypes
import mmap
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentd.errors import AgentdError
from agentd.git import local_disk, trees, verified_index
from agentd.git.program import fields, run, text
from agentd.git.repository import begin_repository, git, new_worktree
from tests.git.test_trees import head_tree, text_of, write

EXACT = [word for each in ("autocrlf=false", "eol=lf", "sparseCheckout=false") for word in ("-c", f"core.{each}")]
NAMES = [f"{folder}{name}" for folder in ("", "src/", "src/deep/") for name in "abc"]
FILES = {name: f"{name}\n" for name in NAMES}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    begin(folder)
    return folder


def begin(folder: Path) -> None:
    folder.mkdir()
    write(folder, FILES)
    begin_repository(folder, "The beginning")
    for name in ("name", "email"):
        git(folder, "config", f"user.{name}", "nobody")


def snapshot(folder: Path) -> str:
    """A snapshot for which stat data counts after a second, so that no test has to wait for a minute."""
    return trees.snapshot(folder, settles=1)


def settle(folder: Path) -> None:
    """Wait until the stat data of all files counts."""
    while max(path.lstat().st_ctime_ns for path in folder.rglob("*")) >= time.time_ns() - 1_000_000_000:
        time.sleep(0.05)


def slowly(folder: Path) -> str:
    """The same snapshot of a small project from all contents, whatever was read before."""
    with tempfile.TemporaryDirectory() as room:
        env = {"GIT_INDEX_FILE": f"{room}/index"}
        listed = [entry.partition(b"\t") for entry in fields(folder, "ls-files", "-z", "-v", "--stage")]
        kept = [
            b"%s\t%s" % (about[2:], path)
            for about, _, path in listed
            if about[:1] not in b"Ss" or os.path.lexists(os.path.join(os.fsencode(folder), path))
        ]
        run(folder, "update-index", "-z", "--index-info", stdin=b"".join(each + b"\0" for each in kept), env=env)
        run(folder, *EXACT, "add", "--all", "--ignore-errors", ".", env=env, accept=(0, 1))
        absent = [
            b"%s\t%s" % (about[2:], path) for about, _, path in listed if b"%s\t%s" % (about[2:], path) not in kept
        ]
        run(folder, "update-index", "-z", "--index-info", stdin=b"".join(each + b"\0" for each in absent), env=env)
        return text(folder, "write-tree", env=env)


def rewrite(path: Path) -> None:
    """Other content of the same size, with the times set back."""
    before = path.lstat()
    path.write_bytes(bytes(byte ^ 1 for byte in path.read_bytes()))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


class Reads:
    """How often a file was read, as the kernel tells."""

    def __init__(self, file: Path) -> None:
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self.libc.inotify_init1(os.O_NONBLOCK)
        assert self.libc.inotify_add_watch(self.fd, os.fsencode(file), 1) >= 0  # IN_ACCESS

    def any(self) -> bool:
        """Whether the file was read since the last time."""
        try:
            return bool(os.read(self.fd, 4096))
        except BlockingIOError:
            return False


def test_a_file_is_read_once_and_again_when_it_changed(project: Path) -> None:
    settle(project)
    reads, trusted = Reads(project / "src/a"), local_disk.local_disk(os.fsencode(project)) != -1
    for _ in range(2):
        assert snapshot(project) == head_tree(project)
        assert reads.any()
        assert snapshot(project) == head_tree(project)
        assert reads.any() is not trusted
        write(project, {"b": "other\n"})
        assert text_of(project, snapshot(project), "b") == "other"
        assert reads.any() is not trusted
        git(project, "checkout", "--quiet", "b")
        os.utime(project / "src/a")
        settle(project)


def test_what_was_taken_out_of_the_index_of_a_worktree_and_is_ignored_is_left_out(
    project: Path, tmp_path: Path
) -> None:
    beside = tmp_path / "beside"
    new_worktree(project, "beside", beside)
    write(beside, {".gitignore": "/a\n"})
    settle(beside)
    assert "a" in trees.paths(beside, snapshot(beside))
    git(beside, "rm", "--cached", "--quiet", "a")
    assert "a" not in trees.paths(beside, snapshot(beside))


def test_a_file_that_was_changed_through_a_mapping_is_seen_even_if_no_time_tells(tmp_path: Path) -> None:
    project = tmp_path / "project"
    begin(project)
    with open(project / "a", "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[0:1] = b"a"
        assert trees.snapshot(project) == head_tree(project)
        mapped[0:1] = b"b"
        assert text_of(project, trees.snapshot(project), "a") == "b"


def test_a_file_changed_in_the_moment_it_was_read_is_seen(project: Path) -> None:
    for number in range(20):
        rewrite(project / NAMES[number % len(NAMES)])
        assert snapshot(project) == slowly(project)


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_a_changed_file_among_many_is_seen_with_its_times_set_back(tmp_path: Path, kind: str) -> None:
    write(tmp_path, {f"{number % 7}/{number}": f"{number}\n" for number in range(verified_index.PARALLEL + 10)})
    git(tmp_path, "init", "--quiet", f"--object-format={kind}")
    git(tmp_path, "add", "--all")
    settle(tmp_path / "0")
    clean = text(tmp_path, "write-tree")
    assert snapshot(tmp_path) == clean
    for name in ("0/0", "3/3", "6/4003"):
        rewrite(tmp_path / name)
    changed = snapshot(tmp_path)
    assert [one.path for one in trees.changes(tmp_path, clean, changed)] == ["0/0", "3/3", "6/4003"]
    for name in ("0/0", "3/3", "6/4003"):
        rewrite(tmp_path / name)
    assert snapshot(tmp_path) == clean


def test_an_empty_repository_with_long_hashes_is_an_empty_tree(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256")
    assert [trees.paths(tmp_path, snapshot(tmp_path)) for _ in range(2)] == [(), ()]
    write(tmp_path, {"a": "a\n"})
    assert trees.paths(tmp_path, snapshot(tmp_path)) == ("a",)


def test_of_many_files_each_part_is_read(tmp_path: Path) -> None:
    names = [f"{number:05}" for number in range(verified_index.PARALLEL + 10)]
    write(tmp_path, dict.fromkeys(names, "x\n"))
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    clean = text(tmp_path, "write-tree")
    for name in names[:: len(names) // 12]:
        rewrite(tmp_path / name)
    found = trees.changes(tmp_path, clean, snapshot(tmp_path))
    assert [one.path for one in found] == names[:: len(names) // 12]


def test_a_conflict_a_link_and_a_program_among_many_files_count_as_they_are(tmp_path: Path) -> None:
    names = [f"{number:05}" for number in range(verified_index.PARALLEL + 10)]
    write(tmp_path, dict.fromkeys(names, "x\n"))
    (tmp_path / names[5]).chmod(0o755)
    (tmp_path / "link").symlink_to("nowhere")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    clean = text(tmp_path, "write-tree")
    blob = text(tmp_path, "rev-parse", f":{names[-1]}")
    stages = "".join(f"100644 {blob} {stage}\t{names[-1]}\n" for stage in (1, 2, 3))
    listed = f"0 {'0' * len(blob)}\t{names[-1]}\n{stages}".encode()
    run(tmp_path, "update-index", "--index-info", stdin=listed)
    assert snapshot(tmp_path) == clean
    (tmp_path / names[-1]).unlink()
    (tmp_path / names[5]).chmod(0o644)
    assert [one.path for one in trees.changes(tmp_path, clean, snapshot(tmp_path))] == [names[5], names[-1]]


@pytest.mark.parametrize("place", ["/proc", "/nowhere"])
def test_what_is_no_local_disk_is_not_taken_for_one(place: str) -> None:
    assert local_disk.local_disk(os.fsencode(place)) == -1


def edit(project: Path, path: Path) -> None:
    _clear(path)
    path.write_text("edited\n")


def delete(project: Path, path: Path) -> None:
    _clear(path)


def restore(project: Path, path: Path) -> None:
    _clear(path)
    git(project, "checkout", "--quiet", "HEAD", "--", str(path.relative_to(project)))


def set_back(project: Path, path: Path) -> None:
    if path.is_file() and not path.is_symlink():
        rewrite(path)


def move_over(project: Path, path: Path) -> None:
    if path.is_file() and not path.is_symlink():
        shutil.copy2(path, project.parent / "other")
        rewrite(project.parent / "other")
        (project.parent / "other").rename(path)


def swap_folder(project: Path, path: Path) -> None:
    folder, other = path.parent, project.parent / "swapped"
    if folder != project and path.is_file() and not path.is_symlink():
        shutil.copytree(folder, other, symlinks=True)
        rewrite(other / path.name)
        shutil.rmtree(folder)
        other.rename(folder)


def link_folder(project: Path, path: Path) -> None:
    if path.parent != project and not path.parent.is_symlink():
        path.parent.rename(path.parent.with_name("aside"))
        path.parent.symlink_to("aside")


def link(project: Path, path: Path) -> None:
    _clear(path)
    path.symlink_to("a")


def make_folder(project: Path, path: Path) -> None:
    _clear(path)
    write(project, {f"{path.relative_to(project)}/inner": "inner\n"})


def run_bit(project: Path, path: Path) -> None:
    if path.is_file() and not path.is_symlink():
        path.chmod(path.stat().st_mode ^ stat.S_IXUSR)


def touch(project: Path, path: Path) -> None:
    if path.exists():
        os.utime(path)


def new(project: Path, path: Path) -> None:
    if path.parent.is_dir():
        path.with_name(f"{path.name}-new").write_text("new\n")


def stage(project: Path, path: Path) -> None:
    git(project, "add", "--all")


def overlook(project: Path, path: Path) -> None:
    _mark(project, path, "--assume-unchanged")


def skip(project: Path, path: Path) -> None:
    _mark(project, path, "--skip-worktree")


def lie(project: Path, path: Path) -> None:
    """Make the index say that other content is unchanged."""
    name = str(path.relative_to(project))
    if path.is_file() and not path.is_symlink() and name in git(project, "ls-files").splitlines():
        (project.parent / "once").write_text("* filter=lie\n")
        path.write_text("a lie\n")
        options = (f"core.attributesFile={project.parent / 'once'}", f"filter.lie.clean=git cat-file blob :{name}")
        git(project, *(word for option in options for word in ("-c", option)), "add", "--", name)


def old_index(project: Path, path: Path) -> None:
    """Put back the index as it was at first, or begin without one."""
    (project / ".git/index").unlink(missing_ok=True)
    if path.name == "a":
        shutil.copy2(project / ".git/first", project / ".git/index")


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()


def _mark(project: Path, path: Path, option: str) -> None:
    name = str(path.relative_to(project))
    if name in git(project, "ls-files").splitlines():
        git(project, "update-index", option, name)


ACTIONS: list[Callable[[Path, Path], None]] = [
    *(edit, delete, restore, set_back, set_back, move_over, swap_folder, link_folder, link, make_folder, run_bit),
    *(touch, new, stage, overlook, skip, lie, old_index),
]


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Projects whose files are old enough for their stat data to count, each for one script."""
    first = tmp_path_factory.mktemp("scripts") / "0"
    begin_in(first)
    return [first]


def begin_in(place: Path) -> None:
    place.mkdir()
    begin(place / "project")
    shutil.copy2(place / "project/.git/index", place / "project/.git/first")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=12)
@given(script=st.lists(st.tuples(st.sampled_from(ACTIONS), st.sampled_from(NAMES)), min_size=1, max_size=4))
def test_whatever_was_done_to_files_and_index_a_snapshot_is_that_of_the_contents(
    settled: list[Path], script: list[tuple[Callable[[Path, Path], None], str]]
) -> None:
    if not settled[1:]:  # ten at a time, so that most need not wait
        place = settled[0].parent
        made = [place / f"{len(list(place.iterdir())) + number}" for number in range(10)]
        for each in made:
            begin_in(each)
        settle(made[-1])
        settled += made
    project = settled.pop() / "project"
    assert snapshot(project) == slowly(project)
    for act, name in script:
        with suppress(OSError, AgentdError):  # such as below a file
            act(project, project / name)
        assert snapshot(project) == slowly(project), (act.__name__, name)
