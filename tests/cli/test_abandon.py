"""`agentd abandon`: a change is taken away whole, kept in git, and comes back byte for byte."""

import hashlib
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from agentd.state import lock
from tests.sandbox import CHANGE, Sandbox

REF = f"refs/agentd/abandoned/{CHANGE}"


def tree(folder: Path) -> dict[str, str]:
    """Every file by its path and bytes, without locks and the diary, which tells of it."""
    found = (path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    return {
        str(path.relative_to(folder)): os.readlink(path)
        if path.is_symlink()
        else hashlib.md5(path.read_bytes()).hexdigest()
        for path in found
        if path.name not in (lock.NAME, "journal.jsonl")
    }


def refs(sandbox: Sandbox) -> list[str]:
    words = ["git", "for-each-ref", "--format=%(refname)", "refs/agentd/abandoned"]
    return subprocess.run(words, cwd=sandbox.root, capture_output=True, text=True, check=True).stdout.split()


def test_an_abandoned_change_is_gone_and_comes_back_as_it_was(planned: Sandbox) -> None:
    (planned.root / ".git" / "info" / "exclude").write_text("*.jsonl\n*.sh\n")
    (planned.folder() / "note.sh").write_bytes(b"odd \xff\r\nbytes\n")
    (planned.folder() / "note.sh").chmod(0o755)
    (planned.folder() / "link").symlink_to("proposal.md")
    before, status = tree(planned.folder()), planned.run("status", CHANGE).out
    assert any(name.startswith("calls/") for name in before)
    done = planned.run("abandon", CHANGE)
    assert done.code == 0, done.err
    assert f"Undo: agentd abandon {CHANGE} --undo\n" in done.out
    assert refs(planned) == [f"{REF}/1"]
    assert list((planned.root / "agentd" / "changes").iterdir()) == []
    assert f"No runs in {planned.root}." in planned.run("status").out
    again = planned.run("abandon", CHANGE, "--undo")
    assert again.code == 0, again.err
    assert tree(planned.folder()) == before
    assert os.access(planned.folder() / "note.sh", os.X_OK)
    assert planned.run("status", CHANGE).out == status
    assert refs(planned) == []
    assert [event["event"] for event in planned.events()][-1] == "abandoned"
    assert planned.run("impl", CHANGE).code == 0


def test_a_change_that_a_process_works_on_is_not_abandoned(planned: Sandbox) -> None:
    with lock.acquire(planned.folder(), "impl"):
        refused = planned.run("abandon", CHANGE)
    assert refused.code == 1
    assert "is held by" in refused.err
    assert planned.folder().is_dir()
    assert refs(planned) == []


def test_only_what_is_active_is_abandoned_and_only_what_was_abandoned_comes_back(planned: Sandbox) -> None:
    assert f"'{CHANGE}' is not abandoned" in planned.run("abandon", CHANGE, "--undo").err
    assert planned.run("abandon", CHANGE).code == 0
    missing = planned.run("abandon", "nobody", "--undo").err
    assert f"there are: {CHANGE}" in missing
    assert planned.plan().code == 0, "the name is free"
    assert planned.run("abandon", CHANGE, "--undo").code == 1, "and now it is not"
    second = tree(planned.folder())
    assert planned.run("abandon", CHANGE).code == 0
    assert refs(planned) == [f"{REF}/1", f"{REF}/2"]
    assert planned.run("abandon", CHANGE, "--undo").code == 0
    assert tree(planned.folder()) == second, "the last one comes back first"
    shutil.move(planned.folder(), planned.root / "agentd" / "archive" / CHANGE)
    refused = planned.run("abandon", CHANGE)
    assert (refused.code, f"Fix:   agentd undo {CHANGE}" in refused.err) == (1, True)


@pytest.mark.parametrize("way", [(), ("--undo",)], ids=["abandon", "undo"])
def test_a_kill_anywhere_loses_nothing_and_the_same_command_finishes(
    planned: Sandbox, tmp_path: Path, way: tuple[str, ...]
) -> None:
    before = tree(planned.folder())
    if way:
        assert planned.run("abandon", CHANGE).code == 0
    whole = tmp_path / "whole"
    shutil.copytree(planned.root, whole, symlinks=True)
    log = tmp_path / "points"
    assert Sandbox(whole).run("abandon", CHANGE, *way, env={"AGENTD_CRASH_LOG": str(log)}).code == 0
    points = [line.split() for line in log.read_text().splitlines()]
    assert ["move", "1"] in points
    for number, (role, count) in enumerate(points):
        for moment in ("before", "torn", "after"):
            copy = tmp_path / f"{number}-{moment}"
            shutil.copytree(planned.root, copy, symlinks=True)
            sandbox = Sandbox(copy)
            sandbox.run("abandon", CHANGE, *way, env={"AGENTD_CRASH": f"{role}:{count}:{moment}"})
            active = sandbox.folder().is_dir()
            assert active or refs(sandbox), "it is there, or in git"
            if role == "move" or active != bool(way):
                assert sandbox.run("abandon", CHANGE, *way).code == 0, (role, count, moment)
            assert not list(sandbox.root.glob("agentd/changes/.*.abandoned")), (role, count, moment)
            if not way:
                assert sandbox.run("abandon", CHANGE, "--undo").code == 0, (role, count, moment)
            assert tree(sandbox.folder()) == before
            shutil.rmtree(copy)


def test_two_that_bring_it_back_at_once_wait_for_each_other(planned: Sandbox) -> None:
    before = tree(planned.folder())
    assert planned.run("abandon", CHANGE).code == 0
    with lock.acquire(planned.root / "agentd", "archive", deep=False):
        both = [planned.begin("abandon", CHANGE, "--undo") for _ in range(2)]
        time.sleep(3)
        assert [one.poll() for one in both] == [None, None]
        assert list((planned.root / "agentd" / "changes").iterdir()) == []
    told = [one.communicate(timeout=60)[1] for one in both]
    assert sorted(one.returncode for one in both) == [0, 1], told
    assert sum("it has been brought back already" in words for words in told) == 1
    assert tree(planned.folder()) == before
    assert refs(planned) == []


def test_refs_of_others_are_left_alone(planned: Sandbox) -> None:
    for name in ("x", "x/3", "007"):
        shutil.rmtree(planned.root / ".git" / "refs" / "agentd", ignore_errors=True)
        subprocess.run(["git", "update-ref", f"{REF}/{name}", "HEAD"], cwd=planned.root, check=True)
        assert planned.run("abandon", CHANGE).code == 0, name
        assert planned.run("abandon", CHANGE, "--undo").code == 0, name
        assert refs(planned) == [f"{REF}/{name}"]


@pytest.mark.parametrize("kind", ["repository", "pipe", "name"])
def test_what_git_cannot_keep_is_named_and_nothing_is_taken_away(planned: Sandbox, kind: str) -> None:
    odd = planned.folder() / "notes" / ("git~1" if kind == "name" else "odd")
    odd.parent.mkdir()
    if kind == "repository":
        subprocess.run(["git", "init", "-q", str(odd)], check=True)
    elif kind == "pipe":
        os.mkfifo(odd)
    else:
        odd.write_text("x")
    before = tree(planned.folder())
    refused = planned.run("abandon", CHANGE)
    assert refused.code == 1
    assert f"git cannot keep {'' if kind == 'name' else f'agentd/changes/{CHANGE}/'}notes/{odd.name}" in refused.err
    assert (refs(planned), tree(planned.folder())) == ([], before)
    assert not list(planned.folder().parent.glob(".*.abandoned"))


def test_an_empty_folder_is_in_nobodys_way(planned: Sandbox) -> None:
    (planned.folder() / "notes" / "empty").mkdir(parents=True)
    before = tree(planned.folder())
    assert planned.run("abandon", CHANGE).code == 0
    assert planned.run("abandon", CHANGE, "--undo").code == 0
    assert tree(planned.folder()) == before


def test_without_git_it_is_told_that_abandoning_needs_it(planned: Sandbox) -> None:
    (planned.root / ".git").rename(planned.root.parent / "git")
    for way in ((), ("--undo",)):
        refused = planned.run("abandon", CHANGE, *way)
        assert (refused.code, "Abandoning needs git" in refused.err) == (1, True)
