"""The repository every test of the command line works in."""

import shutil
from pathlib import Path

import pytest

from tests.sandbox import Sandbox, make_sandbox


@pytest.fixture(scope="session")
def sandbox_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository, made once: git takes its time."""
    return make_sandbox(tmp_path_factory.mktemp("sandbox")).root


@pytest.fixture
def sandbox(sandbox_once: Path, tmp_path: Path) -> Sandbox:
    """A copy of it."""
    shutil.copytree(sandbox_once, tmp_path / "repo", symlinks=True)
    return Sandbox(tmp_path / "repo")


@pytest.fixture(scope="session")
def planned_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a planned change, made once."""
    made = make_sandbox(tmp_path_factory.mktemp("planned"))
    assert made.plan().code == 0
    return made.root


@pytest.fixture
def planned(planned_once: Path, tmp_path: Path) -> Sandbox:
    """A copy of it, to be spoilt."""
    shutil.copytree(planned_once, tmp_path / "repo", symlinks=True)
    return Sandbox(tmp_path / "repo")
