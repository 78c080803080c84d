"""A full disk, a read-only one, things in the way: one clear message, the old state whole, and then the same command goes on.

The disks are real mounts, so these tests want root; without it they are skipped, and on CI a skip is a failure.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.sandbox import CHANGE, IDEA, Ran, Sandbox, make_sandbox, reviewed, wait_until

PLANNED = ["break_down-1.1", "challenge-1.1", "challenge-2.1", "propose-1.1", "revise-1.1", "write_spec-1.1"]
PAGE = 4096


class Disk:
    """A small disk with a repository on it, which can be filled to the last page or made read-only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.filler = folder / "filler"

    def fill(self, pages_left: int = 0) -> None:
        with self.filler.open("wb") as file:
            file.write(b"x" * PAGE * (self._pages() - pages_left))
        assert self._pages() == pages_left

    def _pages(self) -> int:
        found = os.statvfs(self.folder)
        return found.f_bavail * found.f_frsize // PAGE

    def free(self) -> None:
        self.filler.unlink()

    def freeze(self) -> None:
        """Read-only from now on; what is there stays readable."""
        mount("-o", "remount,ro", str(self.folder))

    def thaw(self) -> None:
        mount("-o", "remount,rw", str(self.folder))


def mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True, capture_output=True)


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Mounts that are gone after the test, whatever became of it."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a disk")
    made: list[Path] = []

    def at(folder: Path, *words: str) -> Path:
        folder.mkdir(exist_ok=True)
        mount(*words, str(folder))
        made.append(folder)
        return folder

    yield at
    for folder in reversed(made):
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def disk(mounted: Callable[..., Path], tmp_path: Path) -> Disk:
    return Disk(mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "size=2m", "tmpfs"))


@pytest.fixture
def sandbox(disk: Disk) -> Sandbox:
    """A repository that lies on the small disk as a whole."""
    return make_sandbox(disk.folder)


@pytest.fixture
def planned(disk: Disk, planned_once: Path) -> Sandbox:
    shutil.copytree(planned_once, disk.folder / "repo", symlinks=True)
    return Sandbox(disk.folder / "repo")


def asked(sandbox: Sandbox) -> Sandbox:
    """A change with an open question."""
    sandbox.script(challenge=reviewed("needs_revision", "Ties", severity="Low"))
    assert sandbox.plan().code == 4
    return sandbox


def check_refused(refused: Ran, said: str) -> None:
    """One message in words, one fix, nothing about a defect."""
    assert refused.code == 1, refused
    assert refused.err.count("Error: ") == 1
    assert refused.err.count("Fix: ") == 1
    assert len(refused.err.splitlines()) == 2, refused.err
    assert said in refused.err


def check_whole(sandbox: Sandbox) -> None:
    """The state can be read, and so can every line of the diary."""
    assert sandbox.run("status", CHANGE).code == 0
    assert sandbox.run("log", CHANGE, "--json").code == 0
    for line in (sandbox.folder() / "journal.jsonl").read_text().splitlines():
        assert json.loads(line)["event"]
    assert not list(sandbox.folder().rglob("*.tmp"))


def no_room(disk: Disk) -> tuple[Callable[[], None], Callable[[], None], str, str]:
    return disk.fill, disk.free, "the disk is full", "Fix:   df -h "


def no_writing(disk: Disk) -> tuple[Callable[[], None], Callable[[], None], str, str]:
    return disk.freeze, disk.thaw, "the disk is read-only", "Fix:   findmnt -T "


Trouble = Callable[[Disk], tuple[Callable[[], None], Callable[[], None], str, str]]
either = pytest.mark.parametrize("trouble", [no_room, no_writing])


@either
def test_a_new_change_is_refused_and_begun_when_the_disk_is_well(
    sandbox: Sandbox, disk: Disk, trouble: Trouble
) -> None:
    begin, end, said, fix = trouble(disk)
    begin()
    refused = sandbox.plan()
    check_refused(refused, said)
    assert fix in refused.err
    assert sandbox.plan("--json").data["error"] == "DiskTrouble"
    assert sandbox.run("status").code == 0
    assert not (sandbox.root / "agentd" / "changes" / CHANGE / "STATE.yaml").exists()
    end()
    assert sandbox.plan().code == 0
    assert sandbox.calls() == PLANNED
    check_whole(sandbox)


@either
def test_impl_is_refused_with_its_state_untouched_and_goes_on_to_the_archive(
    planned: Sandbox, disk: Disk, trouble: Trouble
) -> None:
    begin, end, said, fix = trouble(disk)
    before = planned.state_file().read_bytes()
    begin()
    refused = planned.run("impl", CHANGE)
    check_refused(refused, said)
    assert fix in refused.err
    assert planned.run("impl", CHANGE, "--json").data["error"] == "DiskTrouble"
    assert planned.state_file().read_bytes() == before
    check_whole(planned)
    end()
    assert planned.run("impl", CHANGE).code == 0
    begin()
    before = planned.state_file().read_bytes()
    check_refused(planned.run("archive", CHANGE), said)
    assert planned.state_file().read_bytes() == before
    end()
    assert planned.run("archive", CHANGE).code == 0
    assert planned.state()["phase"] == "archived"
    assert planned.calls() == sorted([*PLANNED, "implement-1.1", "resolve-1.1", "review-1.1", "review-2.1"])
    check_whole(planned)


@either
def test_an_answer_is_refused_or_whole(sandbox: Sandbox, disk: Disk, trouble: Trouble) -> None:
    asked(sandbox)
    begin, end, said, fix = trouble(disk)
    before = sandbox.state_file().read_bytes()
    begin()
    answer = ("answer", CHANGE, "UD-1", "implement", "--note", "it will do")
    refused = sandbox.run(*answer)
    check_refused(refused, said)
    assert fix in refused.err
    assert not list(sandbox.folder().glob("answers/*"))
    assert sandbox.state_file().read_bytes() == before
    check_whole(sandbox)
    end()
    assert sandbox.run(*answer).code == 0
    begin()
    check_refused(sandbox.run("plan", CHANGE), said)
    assert sandbox.state_file().read_bytes() == before
    end()
    assert sandbox.run("plan", CHANGE).code == 0
    assert sandbox.state()["phase"] == "challenged"
    check_whole(sandbox)


@pytest.mark.parametrize("pages", [1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16])
def test_wherever_the_room_runs_out_the_same_command_goes_on(sandbox: Sandbox, disk: Disk, pages: int) -> None:
    """Each number of free pages lets the work come further before a write fails: agentd's own or the agent's."""
    disk.fill(pages)
    stopped = sandbox.plan()
    assert stopped.code == 1, stopped
    assert "disk is full" in stopped.err or "No space left on device" in stopped.out, stopped
    assert "Traceback" not in stopped.err
    journal = sandbox.root / "agentd" / "changes" / CHANGE / "journal.jsonl"
    finished = [json.loads(line) for line in journal.read_text().splitlines()] if journal.exists() else []
    once = [event["step"] for event in finished if event["event"] == "end"]
    disk.free()
    done = sandbox.plan()
    assert done.code == 0, done.out + done.err
    assert sandbox.state()["phase"] == "challenged"
    assert [step for step in once if f"▶ {step}\n" in done.out and step not in ("challenge", "revise")] == []
    check_whole(sandbox)


def test_a_transcript_that_does_not_fit_is_trouble_with_the_disk(sandbox: Sandbox, disk: Disk) -> None:
    """The disk fills up while the agent works, and what it prints then has nowhere to go."""
    fine = sandbox.entry("propose")
    sandbox.script(propose={"wait_for": "go", "lines": ["x" * 60] * 2000})
    working = sandbox.begin("plan", CHANGE, IDEA)
    folder = sandbox.root / "agentd" / "changes" / CHANGE
    wait_until(lambda: "start" in text_of(folder / "calls" / "propose-1.1.jsonl"))
    before = sandbox.state_file().read_bytes()
    disk.fill()
    (folder / "go").touch()
    out, err = working.communicate(timeout=60)
    check_refused(Ran(working.returncode, out, err), "propose-1.1.jsonl was not written: the disk is full")
    assert sandbox.state_file().read_bytes() == before
    shown = sandbox.run("status", CHANGE, "--json").data
    assert (shown["doing"], shown["next"]) == ("interrupted", f"agentd plan {CHANGE}")
    disk.free()
    sandbox.script(propose=fine)
    assert sandbox.plan().code == 0
    assert sandbox.calls() == sorted([*PLANNED, "propose-1.2"])
    check_whole(sandbox)


def text_of(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def test_looking_needs_no_writable_disk(planned: Sandbox, disk: Disk) -> None:
    disk.freeze()
    for words in (("status",), ("status", CHANGE), ("list", "--all"), ("log", CHANGE), ("workflow", "list")):
        seen = planned.run(*words)
        assert seen.code == 0, seen
    disk.thaw()


def test_a_folder_mounted_read_only_is_named_with_its_fix(mounted: Callable[..., Path], planned: Sandbox) -> None:
    """Only the changes are read-only, as in a container that was given them so."""
    folder = planned.root / "agentd" / "changes"
    mounted(folder, "--bind", str(folder))
    mount("-o", "remount,bind,ro", str(folder))
    before = planned.state_file().read_bytes()
    for words in (("impl", CHANGE), ("plan", "another", IDEA), ("plan", CHANGE)):
        refused = planned.run(*words)
        check_refused(refused, "the disk is read-only")
        assert str(folder) in refused.err
    assert planned.run("status", CHANGE).code == 0
    assert planned.state_file().read_bytes() == before
    mount("-o", "remount,bind,rw", str(folder))
    assert planned.run("impl", CHANGE).code == 0


def test_a_git_folder_mounted_read_only_is_named_before_anything_is_begun(
    mounted: Callable[..., Path], sandbox: Sandbox
) -> None:
    folder = sandbox.root / ".git"
    mounted(folder, "--bind", str(folder))
    mount("-o", "remount,bind,ro", str(folder))
    refused = sandbox.plan()
    assert (refused.code, refused.out) == (1, "")
    assert f"{folder}/agentd was not written: the disk is read-only." in refused.err
    assert f"Fix:   findmnt -T {folder} " in refused.err
    assert not sandbox.folder().exists()


@pytest.mark.parametrize("place", ["agentd/changes", f"agentd/changes/{CHANGE}"])
def test_a_link_that_leads_nowhere_is_an_error_and_stays(tmp_path: Path, place: str) -> None:
    sandbox = make_sandbox(tmp_path)
    link = sandbox.root / place
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(tmp_path / "nowhere")
    refused = sandbox.plan()
    check_refused(refused, "is a link to")
    assert link.is_symlink()
    assert not (tmp_path / "nowhere").exists()
    (tmp_path / "nowhere").mkdir()
    check_refused(sandbox.plan(), "is a link to")
    link.unlink()
    assert sandbox.plan().code == 0
    assert sandbox.state()["phase"] == "challenged"


def make_folder(path: Path) -> None:
    path.mkdir()


def make_dangling(path: Path) -> None:
    path.symlink_to("nowhere.yaml")


def remove(path: Path) -> None:
    if path.is_symlink():
        path.unlink()
    else:
        path.rmdir()


@pytest.mark.parametrize("make", [make_folder, make_dangling])
def test_something_else_in_the_place_of_the_state_is_an_error_and_stays(
    tmp_path: Path, planned_once: Path, make: Callable[[Path], None]
) -> None:
    shutil.copytree(planned_once, tmp_path / "repo", symlinks=True)
    sandbox = Sandbox(tmp_path / "repo")
    path = sandbox.state_file()
    kept = path.rename(path.with_name("kept.yaml"))
    make(path)
    diary = (sandbox.folder() / "journal.jsonl").read_bytes()
    for words in (("plan", CHANGE, IDEA), ("plan", CHANGE), ("impl", CHANGE), ("resume", CHANGE), ("status", CHANGE)):
        check_refused(sandbox.run(*words), f"{path}: ")
    assert "unreadable" in sandbox.run("status").out
    assert path.is_dir() or path.is_symlink()
    assert not (path.parent / "nowhere.yaml").exists()
    assert (sandbox.folder() / "journal.jsonl").read_bytes() == diary
    remove(path)
    kept.rename(path)
    assert sandbox.run("impl", CHANGE).code == 0
