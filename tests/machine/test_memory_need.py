"""What a command needs is what it took at most the last times, and a run that did not get to its tests proves nothing."""

import os
import subprocess
from pathlib import Path

from agentd.machine import memory_need
from agentd.machine.memory_need import MARGIN, REMEMBERED, known, learn


def test_a_command_that_never_ran_has_no_known_need(tmp_path: Path) -> None:
    assert known(tmp_path, "make test") is None


def test_the_largest_of_the_last_peaks_is_expected_with_a_margin(tmp_path: Path) -> None:
    for peak in (100, 300, 200):
        learn(tmp_path, "make test", peak, typical=True)
    assert known(tmp_path, "make test") == int(300 * MARGIN)
    assert known(tmp_path, "make check") is None
    assert known(tmp_path / "other", "make test") is None
    for _ in range(REMEMBERED - 1):
        learn(tmp_path, "make test", 50, typical=True)
    assert known(tmp_path, "make test") == int(200 * MARGIN), "an old peak is forgotten at last"


def test_a_run_that_did_not_get_to_its_tests_only_raises_what_is_known(tmp_path: Path) -> None:
    learn(tmp_path, "make test", 5, typical=False)
    assert known(tmp_path, "make test") is None
    learn(tmp_path, "make test", 100, typical=True)
    for _ in range(2 * REMEMBERED):
        learn(tmp_path, "make test", 5, typical=False)
    assert known(tmp_path, "make test") == int(100 * MARGIN)
    learn(tmp_path, "make test", 200, typical=False)
    assert known(tmp_path, "make test") == int(200 * MARGIN)


def test_a_run_that_was_too_short_to_measure_proves_nothing(tmp_path: Path) -> None:
    learn(tmp_path, "make test", 0, typical=True)
    assert known(tmp_path, "make test") is None


def test_it_is_kept_in_gits_private_folder_for_this_user(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    learn(tmp_path, "make test", 100, typical=True)
    (file,) = (tmp_path / ".git" / "agentd" / "memory").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    file.write_text("not what was written")
    assert known(tmp_path, "make test") is None
    learn(tmp_path, "make test", 100, typical=True)
    assert known(tmp_path, "make test") == int(100 * MARGIN)


def test_what_cannot_be_kept_stops_nothing_and_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    subprocess.run(["git", "init", "-q", str(tmp_path / "repo")], check=True)
    (tmp_path / "repo" / ".git" / "agentd").mkdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / "repo" / ".git" / "agentd" / "memory")
    learn(tmp_path / "repo", "make test", 100, typical=True)
    assert not [*(tmp_path / "elsewhere").iterdir()]
    assert memory_need.known(tmp_path / "repo", "make test") is None
