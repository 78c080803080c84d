"""The real program, killed at every durable write and every step's boundary, then asked for the same thing again."""

import random
import re
import shutil
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

import pytest

from tests.crash import image
from tests.crash.places import MOMENTS, some
from tests.crash.places import places as every_place
from tests.crash.recorded import RECORD
from tests.crash.scenarios import SCENARIOS, Scenario, copy, temporary
from tests.sandbox import CHANGE, Ran, Sandbox

DEADLY = -signal.SIGKILL
SIDE_BY_SIDE = 2
SAVES = ("state:", "child:")
ARCHIVED = "is archived, not complete"
TWICE = ("plan", "wide_plan", "impl", "impl_parts", "impl_asked", "archive", "batch", "wide")
PAIRS = 8
SAMPLED = ("plan",)
# The agents that the plan of one spec calls, each with the name its call is kept under.
CALLS = (
    ("draft_questions", "clarification"),
    ("propose", "proposal-gen"),
    ("review_proposal", "proposal-review"),
    ("review_proposal", "proposal-review"),
    ("write_spec", "spec-gen-top-words"),
    ("review_spec", "spec-review-top-words"),
    ("break_down", "tasks-gen"),
    ("review_tasks", "tasks-review"),
    ("challenge", "challenge"),
    ("revise", "reproposal"),
    ("challenge", "challenge"),
)
# The agents that the implementation of three specs calls.
CODING = (
    "implement top-words",
    "implement stop-words",
    "mend stop-words",
    "implement report",
    "implement top-words-2",
    "review -",
    "resolve -",
    "review -",
    "resolve -",
    "review -",
)


@dataclass(frozen=True)
class Stage:
    """A scenario made ready: its repository, the points of its command, and what it comes to when nobody kills it."""

    scenario: Scenario
    prepared: Path
    points: tuple[str, ...]
    expected: dict[str, str]


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Stage]:
    """Each scenario's stage, made when it is first wanted."""
    made: dict[str, Stage] = {}

    def find(name: str) -> Stage:
        if name not in made:
            made[name] = make_stage(SCENARIOS[name], tmp_path_factory.mktemp(name))
        return made[name]

    return find


def make_stage(scenario: Scenario, folder: Path) -> Stage:
    prepared = scenario.prepare(folder).root
    whole, log = copy(prepared, folder / "whole"), folder / "points"
    ran = whole.run(*scenario.words, env={"AGENTD_CRASH_LOG": str(log)})
    assert ran.code == scenario.code, ran.out + ran.err
    finish(scenario, whole)
    image.check_diaries(whole.root, 0)
    image.check_calls(whole.root, 0)
    image.check_implementations(whole.root)
    return Stage(scenario, prepared, tuple(log.read_text().splitlines()), image.of(whole.root, scenario.alone))


def finish(scenario: Scenario, sandbox: Sandbox) -> None:
    for words in scenario.then:
        ran = sandbox.run(*words)
        assert ran.code == 0, ran.out + ran.err


def places(stage: Stage) -> list[str]:
    """Every place to kill the command of a stage at."""
    found = every_place(stage.points, stage.scenario.alone)
    if stage.scenario.anew:
        del found[max(at for at, place in enumerate(found) if place.startswith(SAVES) and place.endswith("after")) :]
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    everything = metafunc.config.getoption("crash") == "all"
    if "part" in metafunc.fixturenames:
        parts = [
            pytest.param(name, (part, count), id=f"{name}-{part + 1}of{count}")
            for name, scenario in SCENARIOS.items()
            for count in [scenario.parts if everything else 1]
            for part in range(count)
        ]
        metafunc.parametrize(("name", "part"), parts)
    elif "pairs" in metafunc.fixturenames:
        names = TWICE if everything else SAMPLED
        metafunc.parametrize(("name", "pairs"), [(name, PAIRS if everything else 1) for name in names], ids=names)


@pytest.mark.crash
def test_a_plan_that_nobody_kills_is_what_the_killed_ones_are_held_against(stage: Callable[[str], Stage]) -> None:
    """Each call once, each question asked once, one branch made once, one review for each round."""
    found = stage("plan").expected
    home = f"agentd/changes/{CHANGE}"
    assert [line.split()[0] for line in found[RECORD].splitlines()] == [step for step, _ in CALLS]
    kept = re.search(r"(?m)^llm_calls:\n(?: .*\n)*", found[f"{home}/STATE.yaml"])
    assert re.findall(r"- step: (.*)", kept[0] if kept else "") == [name for _, name in CALLS]
    assert [line.split()[1] for line in found[image.LEDGER].splitlines()] == [name for _, name in CALLS]
    for number in (1, 2, 3):
        diary = found[f"{home}/children/clarify/Q{number}/journal.jsonl"].splitlines()
        assert [line.split()[0] for line in diary] == ["start", "ask", "end"]
    assert found[".git"].count(f"to agentd/{CHANGE}") == 1
    assert re.findall(r'<review status="(\w+)"', found[f"{home}/proposal.md"]) == ["needs_revision", "approved"]


@pytest.mark.crash
def test_an_implementation_that_nobody_kills_is_what_the_killed_ones_are_held_against(
    stage: Callable[[str], Stage],
) -> None:
    """Each part once, an approval of red tests that does not count, one review for each round, every task ticked."""
    found = stage("impl_parts").expected
    home = f"agentd/changes/{CHANGE}"
    assert [line.rpartition(" ")[0] for line in found[RECORD].splitlines()][-len(CODING) :] == list(CODING)
    judged = [line.split()[3] for line in found[f"{home}/journal.jsonl"].splitlines() if line.split()[2] == "judge"]
    assert judged == ["needs_changes", "needs_changes", "approved"]
    said = [re.findall(r"## Verdict\n\n(\w+)", found[f"{home}/reviews/{number:02}.md"]) for number in (1, 2, 3)]
    assert said == [["APPROVED"], ["NEEDS_CHANGES"], ["APPROVED"]]
    assert found[f"{home}/tasks.md"].count("- Status: completed") == 4
    assert f"refs/agentd/{CHANGE}/base" in found[".git"]


@pytest.mark.crash
@pytest.mark.requirement(88)
def test_a_command_killed_anywhere_goes_on_when_it_is_given_again(
    stage: Callable[[str], Stage], name: str, part: tuple[int, int], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    made = stage(name)
    found, scenario = places(made), made.scenario
    most = scenario.most if request.config.getoption("crash") == "all" else scenario.sample
    if len(found) > most:
        found = some(found, most, name)
    number, count = part
    kill_each(made, [(place,) for place in found[number::count]], name, tmp_path, request)


@pytest.mark.crash
@pytest.mark.requirement(88)
def test_a_command_killed_twice_goes_on_when_it_is_given_again(
    stage: Callable[[str], Stage], name: str, pairs: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    made = stage(name)
    dice = random.Random(f"{name} twice")
    orders = []
    for _ in range(pairs):
        first = dice.randrange(1, len(made.points))
        second = dice.randint(1, len(made.points) - first)
        orders.append(tuple(f"*:{number}:{dice.choice(MOMENTS)}" for number in (first, second)))
    kill_each(made, orders, "twice", tmp_path, request)


def kill_each(
    made: Stage, orders: Sequence[Sequence[str]], counted: str, folder: Path, request: pytest.FixtureRequest
) -> None:
    """Each order in a repository of its own; the test tells of every one that went wrong and keeps its repository."""
    assert orders
    wrong, kills = [], 0
    for number, order in enumerate(orders):
        root = folder / str(number)
        try:
            kills += kill(made, order, root)
        except AssertionError as error:
            wrong.append(f"{made.scenario.name}, killed at {' and '.join(order)} in {root}:\n{error}")
        else:
            shutil.rmtree(root)
            shutil.rmtree(temporary(root))
    request.node.user_properties.append((f"killed {counted}", kills))
    assert not wrong, f"{len(wrong)} of {len(orders)}\n" + "\n".join(wrong[:5])


def kill(made: Stage, order: Sequence[str], root: Path) -> int:
    """Kill the command at each place in turn, give it once more, and compare with a run that nobody killed."""
    scenario, sandbox = made.scenario, copy(made.prepared, root)
    kept: dict[tuple[Path, int], bytes] = {}
    kills = 0
    for place in order:
        died = sandbox.run(*scenario.words, env={"AGENTD_CRASH": place})
        if (
            kills and ARCHIVED in died.err
        ):  # whoever looked at the project after the first kill has finished the archive
            break
        kills += 1
        assert died.code == DEADLY, f"it ended with {died.code} instead:\n{died.out}{died.err}"
        image.check_readable(sandbox)
        kept |= image.answers(root)
    again = sandbox.run(*scenario.words)
    assert over(again, scenario), f"given again it ended with {again.code}:\n{again.out}{again.err}"
    finish(scenario, sandbox)
    image.check_diaries(root, len(order))
    image.check_calls(root, len(order) if scenario.alone else len(order) * SIDE_BY_SIDE)
    image.check_nobody_left(root)
    image.check_implementations(root)
    left = sorted(path.name for path in temporary(root).iterdir())
    assert not left, f"left in the temporary folder: {left}"
    now = image.answers(root)
    lost = [str(key[0]) for key, data in kept.items() if key in now and now[key] != data]
    assert not lost, f"answers were not kept: {lost}"
    compare(image.of(root, scenario.alone), made.expected)
    return kills


def over(ran: Ran, scenario: Scenario) -> bool:
    """The command is through; archiving what has been archived is refused."""
    return ran.code == scenario.code or ARCHIVED in ran.err


def compare(found: dict[str, str], expected: dict[str, str]) -> None:
    different = [name for name in sorted({*found, *expected}) if found.get(name) != expected.get(name)]
    told = [
        line
        for name in different
        for line in unified_diff(
            expected.get(name, "(is not there)").splitlines(),
            found.get(name, "(is not there)").splitlines(),
            f"{name}, not killed",
            f"{name}, killed",
            lineterm="",
        )
    ]
    assert not different, "\n".join(told)
