"""Sessions that are killed at any of their writes: the same command goes on, and comes to the same end."""

import json
import shutil
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest

from agentd.landing import workspace
from agentd.runs.worktree import workspaces_folder
from tests.crash import image
from tests.crash.places import places, some
from tests.sandbox import Sandbox
from tests.team.sessions import NAME, Session
from tests.team.stories import (
    STORIES,
    Person,
    Story,
    begin,
    completed_twice,
    end_of,
    finish,
    lost_decisions,
    untouched,
)


@dataclass(frozen=True)
class Typed:
    """A command of a session: the points that it passes; what the person had said and where everything stood before it."""

    words: tuple[str, ...]
    points: tuple[str, ...]
    person: Person
    before: Path


@dataclass(frozen=True)
class Stage:
    """A session that nobody killed. It is played in one place, as git's files name it, and kept command by command."""

    story: Story
    place: Path
    typed: tuple[Typed, ...]
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
    place, typed = folder / "place", list[Typed]()
    place.mkdir()
    session = opened(begin(story, place).sandbox)
    person, before = Person(story), untouched(session)
    while not typed or session.status["current_state"] != "DONE":
        log, kept = folder / f"points-{len(typed)}", folder / f"before-{len(typed)}"
        copy(place, kept)
        words, known = person.command(session), person.copy()
        ran = session.sandbox.run(*words, env={"AGENTD_CRASH_LOG": str(log)})
        assert ran.code in (0, 4), ran.out + ran.err
        person.typed(session, words, ran)
        typed.append(Typed(words, tuple(log.read_text().splitlines()), known, kept))
    check_end(session, before)
    return Stage(story, place, tuple(typed), end_of(session), before)


def copy(place: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(place, target, symlinks=True, ignore=shutil.ignore_patterns(".tools.*.tmp"))


def opened(sandbox: Sandbox) -> Session:
    """The session of a sandbox as it is, with folders of its own for what is temporary and what is kept for all projects."""
    session = Session.__new__(Session)
    session.sandbox, session.root = sandbox, sandbox.root
    temporary = sandbox.root.parent / "tmp"
    temporary.mkdir(exist_ok=True)
    sandbox.env |= {"TMPDIR": str(temporary), "XDG_STATE_HOME": str(sandbox.root.parent / "state")}
    return session


def check_end(session: Session, before: dict[str, str]) -> None:
    root = session.root
    assert session.status["current_state"] == "DONE"
    assert not completed_twice(session)
    assert not lost_decisions(session)
    assert not list(workspace.find_all(root))
    assert not workspaces_folder(root, f"team/{NAME}").exists()
    assert untouched(session) == before
    assert not list((root.parent / "tmp").iterdir())
    image.check_nobody_left(root)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "part" in metafunc.fixturenames:
        everything = metafunc.config.getoption("crash") == "all"
        counts = {name: story.parts if everything else -(-story.sample // 3) for name, story in STORIES.items()}
        cases = [(name, (part, count)) for name, count in counts.items() for part in range(count)]
        ids = [f"{name}-{part + 1}of{count}" for name, (part, count) in cases]
        metafunc.parametrize(("name", "part"), cases, ids=ids)


@pytest.mark.crash
def test_a_session_killed_anywhere_comes_to_the_same_end(
    stage: Callable[[str], Stage], name: str, part: tuple[int, int], request: pytest.FixtureRequest
) -> None:
    made = stage(name)
    story = made.story
    most = story.most if request.config.getoption("crash") == "all" else story.sample
    orders = [(number, place) for number, typed in enumerate(made.typed) for place in places(typed.points, story.alone)]
    if len(orders) > most:
        # The number of the command goes along, so that each kind of place is taken from any of them.
        numbered = {f"{place}{' ' * number}": (number, place) for number, place in orders}
        orders = [numbered[key] for key in some(list(numbered), most, name)]
    wrong, kills = [], 0
    number, count = part
    for order in orders[number::count]:
        try:
            kills += kill(made, *order)
        except AssertionError as error:
            wrong.append(f"{name}, killed at {order[1]} of {made.typed[order[0]].words[:1]} {order[0]}:\n{error}")
    request.node.user_properties.append((f"killed team {name}", kills))
    assert not wrong, f"{len(wrong)}\n" + "\n\n".join(wrong[:5])


@pytest.mark.crash
def test_a_lean_intake_that_had_finished_when_it_was_killed_decides_what_the_work_is_about(
    stage: Callable[[str], Stage],
) -> None:
    assert kill(stage("lean"), 0, "ledger:1:before")


def kill(made: Stage, number: int, place: str) -> int:
    """Kill a command of the session there, give it again, play the session to its end, and compare."""
    typed = made.typed[number]
    copy(typed.before, made.place)
    session, person = opened(Sandbox(made.place / "repo")), typed.person.copy()
    died = session.sandbox.run(*typed.words, env={"AGENTD_CRASH": place})
    killed = died.code == -signal.SIGKILL
    # Tasks side by side do not pass the same points each time.
    assert killed or not made.story.alone, f"it ended with {died.code} instead:\n{died.out}{died.err}"
    check_readable(session)
    assert untouched(session) == made.untouched
    if typed.words[0] == "answer":
        again = session.sandbox.run(*typed.words)
        person.typed(session, typed.words, again)
    finish(session, person)
    check_end(session, made.untouched)
    compare(end_of(session), made.end)
    return int(killed)


def check_readable(session: Session) -> None:
    """Whatever a kill left can be looked at, and no task is further than its decisions."""
    if not (session.folder / "status.json").exists():
        return
    json.loads((session.folder / "status.json").read_text())
    seen = session.sandbox.run("status", f"team/{NAME}", "--json")
    assert seen.code == 0, seen.out + seen.err
    assert not lost_decisions(session)


def compare(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    before, after = (json.dumps(each, indent=1, sort_keys=True).splitlines() for each in (wanted, found))
    assert found == wanted, "\n".join(unified_diff(before, after, "not killed", "killed", lineterm="", n=12))


@pytest.mark.crash
def test_status_json_can_be_read_at_every_moment(tmp_path: Path) -> None:
    story = STORIES["large"]
    session = begin(story, tmp_path)
    over, unreadable, seen = threading.Event(), list[str](), set[str]()

    def look() -> None:
        while not over.is_set():
            try:
                seen.add(session.status["last_update"])
            except FileNotFoundError:
                continue
            except ValueError as error:
                unreadable.append(str(error))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        finish(session, Person(story))
    finally:
        over.set()
        watcher.join()
    assert not unreadable
    assert len(seen) > 20
