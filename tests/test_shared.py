"""What is made once for all workers."""

import multiprocessing
import time
from pathlib import Path

import pytest

from tests.shared import Shared, find


def make(folder: Path) -> dict[str, Path]:
    with open(folder.parent / "log", "a") as log:
        log.write("made\n")
    time.sleep(0.05)
    (folder / "file").write_text("whole")
    return {"file": folder / "file"}


def look(folder: Path) -> None:
    assert Shared(folder).once("example", make)["file"].read_text() == "whole"


def test_of_several_processes_one_makes_it_and_each_gets_it_whole(tmp_path: Path) -> None:
    workers = [multiprocessing.get_context("spawn").Process(target=look, args=(tmp_path,)) for _ in range(2)]
    for worker in workers:
        worker.start()
    look(tmp_path)
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert (tmp_path / "log").read_text() == "made\n"


def test_what_could_not_be_made_is_not_given_to_the_next(tmp_path: Path) -> None:
    for error in (ZeroDivisionError, FileExistsError):
        with pytest.raises(error):
            Shared(tmp_path).once("example", lambda folder: 1 // 0)


def test_workers_share_the_folder_beside_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw1")
    assert find(tmp_path / "gw1").folder == find(tmp_path / "gw0").folder == tmp_path / "shared"
    monkeypatch.delenv("PYTEST_XDIST_WORKER")
    assert find(tmp_path / "shared").folder == tmp_path / "shared" / "shared"
