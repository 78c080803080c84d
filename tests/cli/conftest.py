"""The repository every test of the command line works in."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.sandbox import MEMORY, Sandbox, copy_sandbox, make_sandbox


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder in memory. What a disk does is for the tests of `state`, `git`, `impl` and `landing`."""
    with TemporaryDirectory(prefix="agentd-test-", dir=MEMORY) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def sandbox_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository, made once: git takes its time."""
    return make_sandbox(tmp_path_factory.mktemp("sandbox")).root


@pytest.fixture
def sandbox(sandbox_once: Path, tmp_path: Path) -> Sandbox:
    """A copy of it."""
    return copy_sandbox(sandbox_once, tmp_path)


@pytest.fixture(scope="session")
def planned_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a planned change, made once."""
    made = make_sandbox(tmp_path_factory.mktemp("planned"))
    assert made.plan().code == 0
    return made.root


@pytest.fixture
def planned(planned_once: Path, tmp_path: Path) -> Sandbox:
    """A copy of it."""
    return copy_sandbox(planned_once, tmp_path)
