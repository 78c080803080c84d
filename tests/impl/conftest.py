"""The repository every test of implementing works in."""

from pathlib import Path

import pytest

from tests.cli.conftest import planned as planned
from tests.cli.conftest import planned_once as planned_once
from tests.cli.conftest import sandbox as sandbox
from tests.cli.conftest import sandbox_once as sandbox_once
from tests.impl.coding import APPROVED, HONEST
from tests.sandbox import CHANGE, Sandbox, copy_sandbox
from tests.shared import Shared


@pytest.fixture(scope="session")
def complete_once(planned_once: Path, shared: Shared) -> Path:
    """A repository with a change that was implemented honestly and approved, made once."""

    def make(folder: Path) -> Path:
        made = copy_sandbox(planned_once, folder)
        made.script(implement=HONEST, review=APPROVED)
        assert made.run("impl", CHANGE).code == 0
        return made.root

    return shared.once("complete", make)


@pytest.fixture
def complete(complete_once: Path, tmp_path: Path) -> Sandbox:
    """A copy of it."""
    return copy_sandbox(complete_once, tmp_path)
