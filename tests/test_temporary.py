"""Temporary folders go with whoever made them."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from agentd import temporary

KILLED = "import os; from agentd import temporary\nwith temporary.folder() as made:\n    os.kill(os.getpid(), 9)"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_a_folder_goes_at_the_end(home: Path) -> None:
    with temporary.folder() as made:
        (made / "file").write_text("")
        temporary.sweep()
        assert (made / "file").exists(), "it is in use"
    assert list(home.iterdir()) == []


def test_the_next_sweep_takes_what_a_killed_process_left_and_nothing_else(home: Path) -> None:
    (home / "agentd-demo-x").mkdir()
    (home / "kept").mkdir()
    (home / f"{temporary.PREFIX}link").symlink_to("kept")
    subprocess.run([sys.executable, "-c", KILLED], check=False, timeout=30, env={**os.environ, "TMPDIR": str(home)})
    assert len(list(home.iterdir())) == 4
    temporary.sweep()
    assert sorted(path.name for path in home.iterdir()) == ["agentd-demo-x", "agentd-tmp-link", "kept"]
