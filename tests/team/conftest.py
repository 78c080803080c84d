"""The sessions that tests of the team workflow look at: one to be spoilt by each test, and a few that ran once."""

from pathlib import Path

import pytest

from tests.cli.conftest import sandbox_once as sandbox_once
from tests.cli.conftest import tmp_path as tmp_path
from tests.sandbox import copy_sandbox
from tests.shared import Shared
from tests.team import examples, waiting
from tests.team.examples import Done
from tests.team.sessions import Session


@pytest.fixture(scope="session")
def prepared_once(sandbox_once: Path, shared: Shared) -> Path:
    """A repository with scripted roles, made once."""
    return shared.once("prepared", lambda folder: Session(copy_sandbox(sandbox_once, folder)).root)


@pytest.fixture
def session(prepared_once: Path, tmp_path: Path) -> Session:
    """A copy of it, in which no session has begun."""
    return Session(copy_sandbox(prepared_once, tmp_path))


@pytest.fixture(scope="session")
def full(shared: Shared) -> Done:
    """A full session that was reviewed task by task, with everything in it that a session can have."""
    return shared.once("full", examples.per_batch)


@pytest.fixture(scope="session")
def late(shared: Shared) -> Done:
    """A full session that was reviewed once, at the end."""
    return shared.once("late", examples.single_final)


@pytest.fixture(scope="session")
def lean(shared: Shared) -> Done:
    """A lean session."""
    return shared.once("lean", examples.lean)


@pytest.fixture(scope="session")
def at_design(shared: Shared) -> Path:
    """The repository of a session with every document of DESIGN, which waits for the approval of the design."""
    return shared.once("design", waiting.at_design)


@pytest.fixture(scope="session")
def at_strategy(shared: Shared) -> Path:
    """The repository of a session with one task, which waits for the choice of a review strategy."""
    return shared.once("strategy", waiting.at_strategy)
