"""Staged runs that are killed at any of their writes: the same command goes on, and comes to the same end."""

import json
import shutil
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest

from agentd.landing import workspace
from agentd.runs.worktree import workspaces_folder
from tests.crash import image
from tests.crash.places import places, some
from tests.landing.repositories import git, invariant, write
from tests.sandbox import Sandbox, make_sandbox
from tests.staged.runs import NAME, Staged, code, final, issue, plan, review, task
from tests.team.stories import COUNTED, completed_twice, plain, state

OWN = ("./agentd/", "agentd/", ".agents/")
ORDER = ("compaction", "implementation", "proof", "failure")


@dataclass(frozen=True)
class Story:
    """A run: what its agents do differently from the honest ones; at how many places it is killed in a sample, and of all."""

    name: str
    script: Mapping[str, Any] = field(default_factory=dict)
    parallel: int = 1
    sample: int = 2
    parts: int = 1
    most: int = 10_000

    @property
    def alone(self) -> bool:
        return self.parallel == 1


STORIES = {
    story.name: story
    for story in (
        Story("small", sample=4, parts=50),
        Story(
            "large",
            script={
                "plan": {"say": plan(task(1), task(2), task(3, depends="Task 1"))},
                "review_plan": [review("needs_revision", issue("LOW")), review()],
                "fix_plan": {"say": "# Plan\n\n" + plan(task(1), task(2), task(3, depends="Task 1"))},
                "implement@task-1": code(1),
                "implement@task-2": code(2),
                "implement@task-3": code(3),
                "simplify": {"files": {"tally/part1.py": "PART = 1  # one\n"}, "say": "# Simplified\n\nA comment.\n"},
                "review_implementation": [review("needs_revision", issue()), review()],
                "fix_implementation": {"files": {"tally/part1.py": "PART = 1  # first\n"}, "say": "It is repaired."},
                "review_all": [final("approved", issue("MEDIUM")), final()],
                "fix_all": {"files": {"README.md": "# Tally, with parts\n"}, "say": "It is repaired."},
            },
            parallel=3,
            sample=4,
            parts=12,
            most=60,
        ),
    )
}


@dataclass(frozen=True)
class Stage:
    """A run that nobody killed: the points that it passes, where everything stood before it, and what it came to."""

    story: Story
    place: Path
    before: Path
    points: tuple[str, ...]
    end: dict[str, Any]
    untouched: dict[str, str]


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Stage]:
    """Each story's stage, made when it is first wanted."""
    made: dict[str, Stage] = {}

    def find(name: str) -> Stage:
        if name not in made:
            made[name] = make_stage(STORIES[name], tmp_path_factory.mktemp(name))
        return made[name]

    return find


def make_stage(story: Story, folder: Path) -> Stage:
    place, before, log = folder / "place", folder / "before", folder / "points"
    place.mkdir()
    run = Staged(make_sandbox(place))
    run.sandbox.set("staged", max_parallel=story.parallel)
    run.script(**story.script)
    git(run.root, "commit", "--quiet", "--all", "-m", "the script")
    write(run.root, {"README.md": "mine\n", "staged.txt": "staged\n", "new.txt": "new\n"})
    git(run.root, "add", "staged.txt")
    shutil.copytree(place, before, symlinks=True)
    run = opened(place)
    was = untouched(run)
    ran = run.sandbox.run(*words(run), env={"AGENTD_CRASH_LOG": str(log)})
    assert ran.code == 0, ran.out + ran.err
    check_end(run, was)
    return Stage(story, place, before, tuple(log.read_text().splitlines()), end_of(run), was)


def opened(place: Path) -> Staged:
    """The run of a sandbox as it is, with folders of its own for what is temporary and what is kept for all projects."""
    sandbox = Sandbox(place / "repo")
    (place / "tmp").mkdir(exist_ok=True)
    sandbox.env |= {"TMPDIR": str(place / "tmp"), "XDG_STATE_HOME": str(place / "state")}
    run = Staged.__new__(Staged)
    run.sandbox, run.root = sandbox, sandbox.root
    return run


def words(run: Staged) -> tuple[str, ...]:
    return ("run", "staged", "Give the most frequent words of a text", "--name", NAME)


def untouched(run: Staged) -> dict[str, str]:
    return {name: what for name, what in invariant(run.root).items() if not name.startswith(OWN)}


def check_end(run: Staged, before: dict[str, str]) -> None:
    assert run.state["status"] == "completed"
    assert not completed_twice(run)  # type: ignore[arg-type]  # it has a folder, which is all that is looked at
    assert not list(workspace.find_all(run.root))
    assert not workspaces_folder(run.root, f"staged/{NAME}").exists()
    assert untouched(run) == before
    assert not list((run.root.parent / "tmp").iterdir())
    image.check_nobody_left(run.root)


def end_of(run: Staged) -> dict[str, Any]:
    """What a run comes to, without what is different each time."""
    shown = {key: value for key, value in run.state.items() if key not in (*COUNTED, *ORDER, "seals")}
    return {
        "state": plain(shown),
        "phases": {
            name: plain(run.phase(name).splitlines()) for name in run.phases() if name != "3.1-test-results.json"
        },
        "tree": git(run.root, "rev-parse", f"agentd/{NAME}^{{tree}}"),
        "landed": sorted(run.landed()),
        "children": {
            path.parent.name: plain({k: v for k, v in state(path).items() if k not in (*COUNTED, *ORDER)})
            for path in sorted((run.folder / "children").rglob("STATE.yaml"))
        },
    }


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "part" in metafunc.fixturenames:
        everything = metafunc.config.getoption("crash") == "all"
        counts = {name: story.parts if everything else -(-story.sample // 3) for name, story in STORIES.items()}
        cases = [(name, (part, count)) for name, count in counts.items() for part in range(count)]
        metafunc.parametrize(("name", "part"), cases, ids=[f"{n}-{part + 1}of{count}" for n, (part, count) in cases])


@pytest.mark.crash
def test_a_run_killed_anywhere_comes_to_the_same_end(
    stage: Callable[[str], Stage], name: str, part: tuple[int, int], request: pytest.FixtureRequest
) -> None:
    made = stage(name)
    story = made.story
    most = story.most if request.config.getoption("crash") == "all" else story.sample
    orders = places(made.points, story.alone)
    orders = some(orders, most, name) if len(orders) > most else orders
    wrong, kills = [], 0
    number, count = part
    for order in orders[number::count]:
        try:
            kills += kill(made, order)
        except AssertionError as error:
            wrong.append(f"{name}, killed at {order}:\n{error}")
    request.node.user_properties.append((f"killed staged {name}", kills))
    assert not wrong, f"{len(wrong)}\n" + "\n\n".join(wrong[:5])


def kill(made: Stage, place: str) -> int:
    """Kill the run there, give the same command again, and compare."""
    shutil.rmtree(made.place, ignore_errors=True)
    shutil.copytree(made.before, made.place, symlinks=True)
    run = opened(made.place)
    died = run.sandbox.run(*words(run), env={"AGENTD_CRASH": place})
    killed = died.code == -signal.SIGKILL
    assert killed or not made.story.alone, f"it ended with {died.code} instead:\n{died.out}{died.err}"
    if (run.folder / "state.json").exists():
        json.loads((run.folder / "state.json").read_text())
        assert run.sandbox.run("status", f"staged/{NAME}", "--json").code == 0
    assert untouched(run) == made.untouched
    ran = run.sandbox.run(*words(run))
    assert ran.code == 0, f"it ended with {ran.code}:\n{ran.out}{ran.err}"
    check_end(run, made.untouched)
    found, wanted = end_of(run), made.end
    before, after = (json.dumps(each, indent=1, sort_keys=True).splitlines() for each in (wanted, found))
    assert found == wanted, "\n".join(unified_diff(before, after, "not killed", "killed", lineterm="", n=6))
    return int(killed)
