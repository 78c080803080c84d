"""The repository every test of the command line works in."""

import shutil
from pathlib import Path

import pytest

from tests.sandbox import Sandbox, make_sandbox


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return make_sandbox(tmp_path)


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
