"""The repository every test of the command line works in."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.sandbox import MEMORY, Sandbox, copy_sandbox, make_sandbox
from tests.shared import Shared


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder in memory. What a disk does is for the tests of `state`, `git`, `impl` and `landing`."""
    with TemporaryDirectory(prefix="agentd-test-", dir=MEMORY) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def sandbox_once(shared: Shared) -> Path:
    """A repository, made once: git takes its time."""
    return shared.once("sandbox", lambda folder: make_sandbox(folder).root)


@pytest.fixture
def sandbox(sandbox_once: Path, tmp_path: Path) -> Sandbox:
    """A copy of it."""
    return copy_sandbox(sandbox_once, tmp_path)


@pytest.fixture(scope="session")
def planned_once(sandbox_once: Path, shared: Shared) -> Path:
    """A repository with a planned change, made once."""

    def make(folder: Path) -> Path:
        made = copy_sandbox(sandbox_once, folder)
        assert made.plan().code == 0
        return made.root

    return shared.once("planned", make)


@pytest.fixture
def planned(planned_once: Path, tmp_path: Path) -> Sandbox:
    """A copy of it."""
    return copy_sandbox(planned_once, tmp_path)
