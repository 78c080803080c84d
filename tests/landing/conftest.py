"""The repository that whole runs work in."""

from pathlib import Path

import pytest

from tests.sandbox import Sandbox, copy_sandbox, make_sandbox


@pytest.fixture(scope="session")
def sandbox_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository, made once."""
    return make_sandbox(tmp_path_factory.mktemp("sandbox")).root


@pytest.fixture
def sandbox(sandbox_once: Path, tmp_path: Path) -> Sandbox:
    """A copy of it."""
    return copy_sandbox(sandbox_once, tmp_path)
