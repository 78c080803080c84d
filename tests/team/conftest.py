"""The sessions that tests of the team workflow look at: one to be spoilt by each test, and a few that ran once."""

from pathlib import Path

import pytest

from tests.sandbox import Sandbox, copy_sandbox, make_sandbox
from tests.team import examples
from tests.team.examples import Done
from tests.team.sessions import Session


@pytest.fixture(scope="session")
def prepared_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with scripted roles, made once."""
    return Session(make_sandbox(tmp_path_factory.mktemp("prepared"))).root


@pytest.fixture
def session(prepared_once: Path, tmp_path: Path) -> Session:
    """A copy of it, in which no session has begun."""
    copied: Sandbox = copy_sandbox(prepared_once, tmp_path)
    return Session(copied)


@pytest.fixture(scope="session")
def full(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """A full session that was reviewed task by task, with everything in it that a session can have."""
    return examples.per_batch(tmp_path_factory.mktemp("full"))


@pytest.fixture(scope="session")
def late(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """A full session that was reviewed once, at the end."""
    return examples.single_final(tmp_path_factory.mktemp("late"))


@pytest.fixture(scope="session")
def lean(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """A lean session."""
    return examples.lean(tmp_path_factory.mktemp("lean"))
