"""The runs that tests of the staged workflow look at: one to be spoilt by each test, and a few that ran once."""

from pathlib import Path

import pytest

from tests.sandbox import copy_sandbox, make_sandbox
from tests.staged import examples
from tests.staged.examples import Done, Moment
from tests.staged.runs import Staged


@pytest.fixture(scope="session")
def prepared_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with scripted roles, made once."""
    return Staged(make_sandbox(tmp_path_factory.mktemp("prepared"))).root


@pytest.fixture
def staged(prepared_once: Path, tmp_path: Path) -> Staged:
    """A copy of it, in which no run has begun."""
    return Staged(copy_sandbox(prepared_once, tmp_path))


@pytest.fixture(scope="session")
def full(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """A run through all stages, with three tasks, in which every review finds something once."""
    return examples.full(tmp_path_factory.mktemp("full"))


@pytest.fixture(scope="session")
def plan_is_stuck(tmp_path_factory: pytest.TempPathFactory) -> Moment:
    """A run that waits because its plan is not approved."""
    return examples.plan_is_stuck(tmp_path_factory.mktemp("plan"))


@pytest.fixture(scope="session")
def code_is_stuck(tmp_path_factory: pytest.TempPathFactory) -> Moment:
    """A run that waits because its implementation is not approved."""
    return examples.code_is_stuck(tmp_path_factory.mktemp("code"))


@pytest.fixture(scope="session")
def tests_are_stuck(tmp_path_factory: pytest.TempPathFactory) -> Moment:
    """A run that waits because its tests are not approved."""
    return examples.tests_are_stuck(tmp_path_factory.mktemp("tests"))


@pytest.fixture(scope="session")
def final_is_blocked(tmp_path_factory: pytest.TempPathFactory) -> Moment:
    """A run that waits because its final review blocks."""
    return examples.final_is_blocked(tmp_path_factory.mktemp("final"))


@pytest.fixture(scope="session")
def task_failed(tmp_path_factory: pytest.TempPathFactory) -> Moment:
    """A run that waits because one of its tasks failed."""
    return examples.task_failed(tmp_path_factory.mktemp("task"))
