"""What the contract tests share: the agents' programs, the scenes of the model, and labs that are cleared after each test."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.contract.clis import NoNpm, install
from tests.contract.lab import Lab
from tests.contract.loopback import alone
from tests.contract.model import FakeModel, Scenes
from tests.sandbox import NO, make_sandbox

HERE = Path(__file__).parent
Open = Callable[[Scenes], Lab]


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder of the agents' programs. They only run where they can reach nobody."""
    if not alone():
        pytest.skip("the agents' programs only run in a network of their own: make contract")
    try:
        return install()
    except NoNpm as missing:
        pytest.skip(str(missing))


@pytest.fixture
def scenes() -> Scenes:
    """What the model plays; a module of tests may have its own."""
    return Scenes.load(HERE / "scenes.yaml")


@pytest.fixture
def model(programs: Path, scenes: Scenes) -> Iterator[FakeModel]:
    with FakeModel(scenes) as model:
        yield model


@pytest.fixture
def lab(tmp_path_factory: pytest.TempPathFactory, programs: Path, model: FakeModel) -> Iterator[Lab]:
    """A repository in which nothing was planned yet."""
    # Sockets are made below it, and their paths must be short.
    lab = Lab(tmp_path_factory.mktemp("lab"), programs, model)
    yield lab
    lab.clear()


@pytest.fixture(scope="session")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a change that was challenged once, by a script, and whose person is asked what to do."""
    made = make_sandbox(tmp_path_factory.mktemp("standing"))
    made.set("workflow", human_in_loop=True)
    made.script(challenge=NO)
    assert made.plan().code == 4
    return made.root


@pytest.fixture
def open_lab(tmp_path_factory: pytest.TempPathFactory, programs: Path, standing: Path) -> Iterator[Open]:
    """Labs with a copy of that repository, each with scenes of its own."""
    with ExitStack() as closing:

        def begin(scenes: Scenes) -> Lab:
            model = closing.enter_context(FakeModel(scenes))
            lab = Lab(tmp_path_factory.mktemp("lab"), programs, model, standing)
            closing.callback(lab.clear)
            return lab

        yield begin
