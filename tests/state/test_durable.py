"""Writes that matter: whole or not at all, whenever the process dies and whatever the disk says."""

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentd.errors import DiskTrouble
from agentd.state import durable

OLD, NEW = b"old: content\n" * 100, b"new: content!\n" * 200


def python(code: str, *args: object, crash: str = "", log: object = "") -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own, with `durable`, `Path` and the arguments at hand."""
    env = {**os.environ, "AGENTD_CRASH": crash, "AGENTD_CRASH_LOG": str(log)}
    start = "import sys\nfrom pathlib import Path\nfrom agentd.state import durable\nargs = sys.argv[1:]\n"
    command = [sys.executable, "-c", start + code, *map(str, args)]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)


def visible(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if not name.startswith("."))


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 KiB."""
    yield from mount(tmp_path / "disk", "-t", "tmpfs", "-o", "size=64k", "tmpfs")


@pytest.fixture
def bound(tmp_path: Path) -> Iterator[Path]:
    """A folder that can be made read-only by mounting it again."""
    yield from mount(tmp_path / "disk", "--bind", str(tmp_path / "disk"))


def mount(folder: Path, *words: str) -> Iterator[Path]:
    folder.mkdir()
    done = subprocess.run(["mount", *words, str(folder)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"mounting takes a privileged root: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_replaced_file_has_the_new_content_and_the_old_permissions(tmp_path: Path) -> None:
    path = tmp_path / "state"
    durable.replace(path, OLD, "state")
    path.chmod(0o640)
    durable.replace(path, NEW, "state")
    assert path.read_bytes() == NEW
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["state"]


@pytest.mark.parametrize("link", ["there", "not-yet", "folder"])
def test_nothing_is_written_through_a_link(tmp_path: Path, link: str) -> None:
    far = tmp_path / "far"
    (far / "folder").mkdir(parents=True)
    (far / "there").write_bytes(OLD)
    (tmp_path / link).symlink_to(far / link)
    path = tmp_path / link / "file" if link == "folder" else tmp_path / link
    for write in (durable.replace, durable.append):
        with pytest.raises(DiskTrouble, match="is a link to") as refused:
            write(path, NEW, "state")
        assert refused.value.fix.startswith(f"rm {tmp_path / link} ")
    with pytest.raises(DiskTrouble, match="is a link to"):
        durable.make_folder(path)
    assert (far / "there").read_bytes() == OLD
    assert sorted(each.name for each in far.rglob("*")) == ["folder", "there"]


@pytest.mark.parametrize("above", ["a", "a/b"])
def test_a_link_anywhere_on_the_way_is_refused(tmp_path: Path, above: str) -> None:
    (tmp_path / "far" / "a" / "b" / "c").mkdir(parents=True)
    (tmp_path / above).parent.mkdir(exist_ok=True)
    (tmp_path / above).symlink_to(tmp_path / "far" / above)
    for write in (durable.replace, durable.append, durable.create):
        with pytest.raises(DiskTrouble, match="is a link to"):
            write(tmp_path / "a" / "b" / "c" / "file", NEW, "state")
    assert os.listdir(tmp_path / "far" / "a" / "b" / "c") == []


def test_a_link_to_itself_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").symlink_to("file")
    for write in (durable.replace, durable.append, durable.create):
        with pytest.raises(DiskTrouble, match="was not written: Too many levels of symbolic links"):
            write(tmp_path / "file", NEW, "state")
    assert (tmp_path / "file").is_symlink()


def test_a_path_from_here_or_with_dots_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path)
    for path in (Path("file"), Path("a/../file"), tmp_path / "a" / ".." / "file"):
        durable.replace(path, OLD, "state")
        durable.append(path, b"line\n", "state")
        assert (tmp_path / "file").read_bytes() == OLD + b"line\n"


def test_a_link_that_takes_the_place_of_an_open_folder_is_not_followed(tmp_path: Path) -> None:
    folder, far = tmp_path / "run", tmp_path / "far"
    folder.mkdir()
    far.mkdir()
    with durable.folder_of(folder / "state") as known:
        folder.rename(tmp_path / "aside")
        folder.symlink_to(far)
        durable.append(folder / "lines", b"line\n", "journal", known)
        durable.replace(folder / "state", NEW, "state", folder=known)
    assert os.listdir(far) == []
    assert (tmp_path / "aside" / "state").read_bytes() == NEW
    assert (tmp_path / "aside" / "lines").read_bytes() == b"line\n"


def test_a_torn_line_is_closed_before_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    durable.append(path, b"one\n", "journal")
    path.write_bytes(path.read_bytes() + b"tw")
    durable.append(path, b"three\n", "journal")
    assert path.read_bytes() == b"one\ntw\nthree\n"


def test_a_file_is_created_once(tmp_path: Path) -> None:
    path = tmp_path / "answer"
    assert durable.create(path, b"first", "answer") is True
    assert durable.create(path, b"second", "answer") is False
    assert path.read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["answer"]


def test_a_file_is_created_once_without_hard_links_too(tmp_path: Path) -> None:
    path = tmp_path / "answer"
    durable._create_in_place(path, b"first")
    with pytest.raises(FileExistsError):
        durable._create_in_place(path, b"second")
    assert path.read_bytes() == b"first"


def test_of_eight_processes_that_create_a_file_one_does(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom agentd.state import durable\n"
        "me, folder = sys.argv[1].encode(), Path(sys.argv[2])\nprint('ready', flush=True)\nsys.stdin.readline()\n"
        "print([n for n in range(25) if durable.create(folder / str(n), me * 1000, 'answer')])"
    )
    command = [sys.executable, "-c", code]
    racers = [
        subprocess.Popen([*command, str(n), str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for n in range(8)
    ]
    for racer in racers:
        assert racer.stdout
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin
        racer.stdin.write("\n")
        racer.stdin.flush()
    won = [(str(me), n) for me, racer in enumerate(racers) for n in json.loads(racer.communicate(timeout=60)[0])]
    assert sorted(n for _, n in won) == list(range(25))
    assert all((tmp_path / str(n)).read_text() == me * 1000 for me, n in won)
    assert len(os.listdir(tmp_path)) == 25


def test_a_removed_file_is_gone_and_removing_it_again_is_fine(tmp_path: Path) -> None:
    durable.replace(tmp_path / "a", b"x", "state")
    durable.remove(tmp_path / "a", "state")
    durable.remove(tmp_path / "a", "state")
    assert not os.listdir(tmp_path)


def test_a_folder_is_made_with_its_parents_and_moved_with_its_content(tmp_path: Path) -> None:
    durable.make_folder(tmp_path / "a" / "b" / "c")
    durable.make_folder(tmp_path / "a" / "b" / "c")
    durable.make_folder(tmp_path / "archive")
    durable.move(tmp_path / "a" / "b", tmp_path / "archive" / "b", "document")
    assert (tmp_path / "archive" / "b" / "c").is_dir()
    assert not (tmp_path / "a" / "b").exists()


@pytest.mark.parametrize("moment", ["before", "torn", "after"])
def test_a_kill_while_replacing_leaves_the_old_or_the_new_file(tmp_path: Path, moment: str) -> None:
    path = tmp_path / "state"
    path.write_bytes(OLD)
    done = python(f"durable.replace(Path(args[0]), {NEW!r}, 'state')", path, crash=f"state:1:{moment}")
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == (NEW if moment == "after" else OLD)
    assert visible(tmp_path) == ["state"]
    assert len(os.listdir(tmp_path)) == (2 if moment == "torn" else 1)
    durable.sweep(tmp_path)
    assert os.listdir(tmp_path) == ["state"]


@pytest.mark.parametrize("moment", ["before", "torn", "after"])
def test_a_kill_while_appending_leaves_a_tail_that_heals(tmp_path: Path, moment: str) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\n")
    done = python("durable.append(Path(args[0]), b'twotwo\\n', 'journal')", path, crash=f"journal:1:{moment}")
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == {"before": b"one\n", "torn": b"one\ntwo", "after": b"one\ntwotwo\n"}[moment]
    durable.append(path, b"three\n", "journal")
    middle = {"before": [], "torn": [b"two"], "after": [b"twotwo"]}[moment]
    assert path.read_bytes().split(b"\n") == [b"one", *middle, b"three", b""]


@pytest.mark.parametrize("moment", ["before", "torn", "after"])
def test_a_kill_while_creating_leaves_nothing_or_the_whole_file(tmp_path: Path, moment: str) -> None:
    path = tmp_path / "answer"
    done = python(f"durable.create(Path(args[0]), {NEW!r}, 'answer')", path, crash=f"answer:1:{moment}")
    assert done.returncode == -signal.SIGKILL
    assert visible(tmp_path) == (["answer"] if moment == "after" else [])
    assert durable.create(path, OLD, "answer") is (moment != "after")
    assert path.read_bytes() == (NEW if moment == "after" else OLD)


@pytest.mark.parametrize("moment", ["before", "torn", "after"])
@pytest.mark.parametrize("act", ["durable.remove(path, 'state')", "durable.move(path, path.with_name('b'), 'state')"])
def test_a_kill_while_removing_or_moving_leaves_it_done_or_not(tmp_path: Path, act: str, moment: str) -> None:
    (tmp_path / "a").write_bytes(OLD)
    done = python(f"path = Path(args[0])\n{act}", tmp_path / "a", crash=f"state:1:{moment}")
    assert done.returncode == -signal.SIGKILL
    after = [] if "remove" in act else ["b"]
    assert visible(tmp_path) == (["a"] if moment == "before" else after)


def test_crash_points_are_counted_by_role_and_listed(tmp_path: Path) -> None:
    code = """
durable.point("step")
durable.replace(Path(args[0]) / "a", b"1", "state")
durable.append(Path(args[0]) / "b", b"1", "journal")
durable.replace(Path(args[0]) / "a", b"2", "state")
durable.point("step")
print("alive")
"""
    log = tmp_path / "log"
    assert python(code, tmp_path, log=log).stdout == "alive\n"
    assert log.read_text().splitlines() == ["step 1", "state 1", "journal 1", "state 2", "step 2"]
    for crash, content in (("state:2:before", "1"), ("*:4:after", "2"), ("step:2:torn", "2")):
        done = python(code, tmp_path, crash=crash)
        assert (done.returncode, done.stdout) == (-signal.SIGKILL, "")
        assert (tmp_path / "a").read_text() == content
    assert python(code, tmp_path, crash="state:3:before").stdout == "alive\n"


def test_a_crash_point_that_names_nothing_is_refused() -> None:
    done = python("print('alive')", crash="state:0:soon")
    assert done.returncode == 1
    assert "state:0:soon names no crash point" in done.stderr


def test_only_temp_files_of_dead_processes_are_swept(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    names = [f".state.{os.getpid()}.1.tmp", ".hidden", "x.tmp", f"state.{dead.pid}.1.tmp"]
    for name in [*names, f".state.{dead.pid}.7.tmp"]:
        (tmp_path / name).write_text("x")
    durable.sweep(tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted(names)


def test_a_full_disk_is_told_and_the_old_file_stands(mounted: Path) -> None:
    state, lines = mounted / "state", mounted / "lines"
    durable.replace(state, OLD, "state")
    durable.append(lines, b"one\n", "journal")
    big = b"x" * 100_000
    for write in (
        lambda: durable.replace(state, big, "state"),
        lambda: durable.append(lines, big, "journal"),
        lambda: durable.create(mounted / "answer", big, "answer"),
        lambda: durable._create_in_place(mounted / "answer", big),
    ):
        with pytest.raises((DiskTrouble, OSError)) as caught:
            write()
        if isinstance(caught.value, DiskTrouble):
            assert str(mounted) in caught.value.message
            assert "the disk is full" in caught.value.message
            assert caught.value.fix.startswith(f"df -h {mounted}")
    assert state.read_bytes() == OLD
    assert lines.read_bytes() == b"one\n"
    assert sorted(os.listdir(mounted)) == ["lines", "state"]
    durable.append(lines, b"two\n", "journal")
    assert lines.read_bytes() == b"one\ntwo\n"


def test_a_read_only_disk_is_told_and_the_old_file_stands(bound: Path) -> None:
    path = bound / "state"
    path.write_bytes(OLD)
    subprocess.run(["mount", "-o", "remount,bind,ro", str(bound)], check=True)
    for write in (
        lambda: durable.replace(path, NEW, "state"),
        lambda: durable.append(path, NEW, "state"),
        lambda: durable.create(bound / "other", NEW, "state"),
        lambda: durable.remove(path, "state"),
        lambda: durable.make_folder(bound / "a" / "b"),
        lambda: durable.move(path, bound / "other", "state"),
    ):
        with pytest.raises(DiskTrouble, match="the disk is read-only") as caught:
            write()
        assert "findmnt" in caught.value.fix
    assert path.read_bytes() == OLD


def test_a_short_write_is_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\n")
    code = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))
try:
    durable.append(Path(args[0]), b"x" * 100 + b"\\n", "journal")
except durable.DiskTrouble as error:
    print(error.message)
"""
    assert "larger than the limit" in python(code, path).stdout
    assert path.read_bytes() == b"one\n"


def test_missing_permission_is_told_and_the_old_file_stands(tmp_path: Path) -> None:
    path = tmp_path / "closed" / "state"
    path.parent.mkdir()
    path.write_bytes(OLD)
    path.parent.chmod(0o500)
    code = """
import os
if os.geteuid() == 0:
    os.setuid(65534)
for act in (durable.replace, durable.append, durable.create):
    try:
        act(Path(args[0]) / "new", b"x", "state")
    except durable.DiskTrouble as error:
        print(error.message)
"""
    done = python(code, path.parent)
    path.parent.chmod(0o700)
    assert done.stdout.count("no permission") == 3, done
    assert path.read_bytes() == OLD


def test_a_file_or_folder_in_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(OLD)
    (tmp_path / "folder").mkdir()
    with pytest.raises(DiskTrouble, match="a folder is in its place"):
        durable.replace(tmp_path / "folder", NEW, "state")
    with pytest.raises(DiskTrouble, match="a file is in the place of its folder"):
        durable.replace(tmp_path / "file" / "state", NEW, "state")
    with pytest.raises(DiskTrouble, match="a file is in the place of its folder"):
        durable.make_folder(tmp_path / "file" / "deep")
    with pytest.raises(DiskTrouble, match="its folder is not there"):
        durable.append(tmp_path / "gone" / "lines", NEW, "journal")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]
