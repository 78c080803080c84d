"""A disk that fills up or turns read-only in the middle of an archive or an undo: the old tree or the new one, nothing between.

The disks are real mounts, so these tests want root; without it they are skipped, and on CI a skip is a failure.
"""

import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from agentd.git import trees
from agentd.runs.unfinished import note
from tests.archive.library import a_spec, make_library
from tests.archive.stages import Stage, check_through, check_whole, difference, tree
from tests.cli.test_disk import Disk, mount
from tests.sandbox import Ran

PAGES = {"archive": 24, "undo": 12}
Make = Callable[[str], Stage]


def check_told(ran: Ran) -> None:
    """One message in words, one fix, nothing about a defect."""
    assert ran.code == 1, ran
    assert (ran.err.count("Error: "), ran.err.count("Fix: ")) == (1, 1), ran.err
    assert "disk is" in ran.err, ran.err


@pytest.mark.requirement(80)
@pytest.mark.parametrize("part", [0, 1, 2])
@pytest.mark.parametrize("name", PAGES)
def test_wherever_the_room_runs_out_the_tree_is_old_or_new(stage: Make, disk: Disk, name: str, part: int) -> None:
    """Each number of free pages lets the command come further before a write fails, and so does taking it back."""
    made, refused, wrong = stage(name), 0, []
    for pages in range(part, PAGES[name], 3):
        root = disk.folder / f"{pages}"
        library = made.copy(root)
        disk.fill(pages)
        ran = library.run(*made.scenario.words)
        try:
            if ran.code:
                check_told(ran)
                refused += 1
            disk.free()
            assert library.run("stop", "a").code == 0
            check_whole(library, made)
            check_through(library, made)
        except AssertionError as error:
            wrong.append(f"{pages} pages: {error}")
        disk.filler.unlink(missing_ok=True)
        shutil.rmtree(root)
    assert not wrong, "\n".join(wrong)
    assert refused


@pytest.mark.requirement(80)
@pytest.mark.parametrize("folder", ["agentd/specs/z", "agentd/archive"])
def test_a_part_that_is_read_only_or_elsewhere_takes_everything_back(
    mounted: Callable[..., Path], stage: Make, tmp_path: Path, folder: str
) -> None:
    """The last spec cannot be written, or the folder cannot be moved to another disk: the specs before are as they were."""
    library = stage("archive").copy(tmp_path / "repo")
    page = library.root / "agentd/changes/a/specs/sum.md"
    (page.parent / "z").mkdir()
    page.rename(page.parent / "z" / "last.md")
    (library.root / folder).mkdir()
    before = tree(library)
    mounted(library.root / folder, "--bind", str(library.root / folder))
    mount("-o", "remount,bind,ro", str(library.root / folder))
    ran = library.run("archive", "a")
    assert (ran.code, ran.err.count("Error: ")) == (1, 1), ran
    assert str(library.root / folder) in ran.err
    assert tree(library) == before, difference(tree(library), before)
    mount("-o", "remount,bind,rw", str(library.root / folder))
    if folder != "agentd/archive":
        assert library.run("archive", "a").code == 0


@pytest.mark.requirement(80)
@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("place", ["spec:2:torn", "move:1:before", "move:1:after"])
def test_a_killed_command_on_a_disk_that_is_read_only_now_is_finished_when_it_is_writable(
    stage: Make, disk: Disk, name: str, place: str
) -> None:
    made = stage(name)
    library = made.copy(disk.folder / "repo")
    assert library.run(*made.scenario.words, env={"AGENTD_CRASH": place}).code == -signal.SIGKILL
    disk.freeze()
    check_told(library.run("stop", "a"))
    disk.thaw()
    assert library.run("stop", "a").code == 0
    check_whole(library, made, [made.new])


@pytest.mark.requirement(80)
@pytest.mark.parametrize("name", PAGES)
def test_a_killed_command_on_a_disk_that_is_full_now_is_finished_when_there_is_room(
    stage: Make, disk: Disk, name: str
) -> None:
    made = stage(name)
    library = made.copy(disk.folder / "repo")
    assert library.run(*made.scenario.words, env={"AGENTD_CRASH": "spec:2:before"}).code == -signal.SIGKILL
    for pages in range(3):
        disk.fill(pages)
        check_told(library.run("stop", "a"))
        check_told(library.run(*made.scenario.words))
        disk.free()
    assert library.run("stop", "a").code == 0
    check_whole(library, made, [made.new])


def test_a_file_of_the_archive_that_cannot_be_read_is_named_and_nothing_is_touched(stage: Make, tmp_path: Path) -> None:
    made = stage("archive")
    for number in range(2):
        library = made.copy(tmp_path / str(number))
        path = (note(library.root), library.root / "agentd/changes/a/archive.json")[number]
        assert library.run("archive", "a", env={"AGENTD_CRASH": "spec:2:before"}).code == -signal.SIGKILL
        sane = path.read_bytes()
        path.write_text("{ torn", encoding="utf-8")
        before = tree(library)
        ran = library.run("stop", "a")
        assert ran.code == 1
        assert str(path) in ran.err
        assert tree(library) == before
        path.write_bytes(sane)
        assert library.run("stop", "a").code == 0
        check_whole(library, made, [made.new])


@pytest.mark.requirement(80)
def test_git_keeps_the_files_the_implementation_began_with_until_the_change_is_archived(tmp_path: Path) -> None:
    library = make_library(tmp_path)
    folder = library.complete("a", {"sum": a_spec("sum")})
    tree_kept = trees.snapshot(library.root)
    trees.keep(library.root, "a/base", tree_kept)
    with (folder / "STATE.yaml").open("a", encoding="utf-8") as file:
        file.write(f"implementation:\n  base: {tree_kept}\n")
    before = tree(library)
    in_the_way = library.root / "agentd" / "archive"
    in_the_way.write_text("a file where a folder should be", encoding="utf-8")
    assert library.run("archive", "a").code == 1
    in_the_way.unlink()
    assert tree(library) == before
    assert trees.kept(library.root, "a/base") == tree_kept
    assert library.run("archive", "a").code == 0
    assert trees.kept(library.root, "a/base") == ""
    assert library.run("undo", "a").code == 0
    assert trees.kept(library.root, "a/base") == tree_kept
