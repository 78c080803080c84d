"""What the tests of archiving share: commands made ready to be cut off, small disks, and how far a test goes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.archive.library import ONE, Library, make_library
from tests.archive.stages import SCENARIOS, Stage, make_stage
from tests.cli.test_disk import disk, mounted

__all__ = ["disk", "mode", "mounted", "stage"]


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Stage]:
    """Each scenario's stage, made when it is first wanted."""
    made: dict[str, Stage] = {}

    def find(name: str) -> Stage:
        if name not in made:
            made[name] = make_stage(SCENARIOS[name], tmp_path_factory.mktemp(name))
        return made[name]

    return find


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """A project with one spec, `report`."""
    made = make_library(tmp_path)
    made.put("report", ONE)
    return made


@pytest.fixture
def mode(request: pytest.FixtureRequest) -> str:
    """`sample` or `all`."""
    return str(request.config.getoption("crash"))
