"""Signals in the middle of a step: what runs is ended, nothing finished is lost, and the same command goes on."""

import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agentd import process
from tests.cli.test_own import BATCH, PIECE, TASKS
from tests.sandbox import AGENTD, CHANGE, IDEA, Ran, Sandbox, alive, wait_until

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGKILL: -9}
TESTS = f"exec {sys.executable} -B -m unittest discover -s tests -t .\n"
HANGING_TESTS = """
sleep 3600 & echo $! >>../pids.txt
setsid sh -c 'echo $$ >>../pids.txt; exec sleep 3600' &
echo $$ >>../pids.txt
wait
"""
BUILT = ["implement-1.1", "resolve-1.1", "review-1.1", "review-2.1"]
PLANNED = ["break_down-1.1", "challenge-1.1", "challenge-2.1", "propose-1.1", "revise-1.1", "write_spec-1.1"]


@dataclass(frozen=True)
class Scene:
    """A command whose step hangs: how to see that it does, what must die with it, and what must come of it."""

    sandbox: Sandbox
    words: tuple[str, ...]
    folder: Path
    next: str
    hangs: Callable[[], bool]
    pids: Callable[[], list[int]]
    mend: Callable[[], object]
    calls: dict[str, list[str]]
    phase: str
    says: str = "the same command goes on"

    def begin(self, *more: str) -> subprocess.Popen[str]:
        working = self.sandbox.begin(*self.words, *more)
        wait_until(lambda: working.poll() is not None or self.hangs(), 60)
        assert working.poll() is None, working.communicate()
        return working


def numbers(*files: Path) -> list[int]:
    return [int(word) for file in files if file.exists() for word in file.read_text().split()]


def agents(file: Path) -> list[int]:
    """The agents that recorded themselves."""
    return [int(line.split()[-1]) for line in file.read_text().splitlines()]


def hang_agent(sandbox: Sandbox, step: str, phase: str, *words: str, **more: Any) -> Scene:
    """The agent of one step of the change workflow hangs; the agent of a spec is a child's."""
    folder = sandbox.root / "agentd" / "changes" / CHANGE
    above = {"write_spec": "specify", "implement": "implement"}
    place = folder / "children" / above[step] / "top-words" if step in above else folder
    sane = sandbox.entry(step)
    record = sandbox.root / "agentd" / "agents.txt"
    sandbox.script(**{step: {**sane, "record": str(record), "hang": True, **more}})
    calls = PLANNED if words[0] == "plan" else [*PLANNED, *BUILT]
    return Scene(
        sandbox,
        words,
        folder,
        f"agentd {words[0]} {CHANGE}",
        lambda: "hanging" in text_of(place / "calls" / f"{step}-1.1.jsonl"),
        lambda: [*numbers(folder / "pids.txt"), *agents(record)],
        lambda: sandbox.script(**{step: sane}),
        {".": sorted([*calls, f"{step}-1.2"])},
        phase,
    )


def in_plan(sandbox: Sandbox, planned: Sandbox) -> Scene:
    words = ("plan", CHANGE, IDEA, "--git", "in-place")
    return hang_agent(sandbox, "write_spec", "challenged", *words, spawn="setsid")


def in_impl(sandbox: Sandbox, planned: Sandbox) -> Scene:
    more = {"spawn": "child", "ignore_term": True, "after": "start"}
    return hang_agent(planned, "implement", "complete", "impl", CHANGE, **more)


def in_tests(sandbox: Sandbox, planned: Sandbox) -> Scene:
    """agentd itself runs the project's tests, and they hang."""
    planned.set("evidence", test="sh ../tests.sh")
    pids, script = planned.root.parent / "pids.txt", planned.root.parent / "tests.sh"
    script.write_text(HANGING_TESTS)
    return Scene(
        planned,
        ("impl", CHANGE),
        planned.folder(),
        f"agentd impl {CHANGE}",
        lambda: len(numbers(pids)) == 3,
        lambda: numbers(pids),
        lambda: script.write_text(TESTS),
        {".": sorted([*PLANNED, *BUILT])},
        "complete",
    )


def in_children(sandbox: Sandbox, planned: Sandbox) -> Scene:
    """a is done, b and c hang on threads of their own, d depends on both."""
    sandbox.own_workflow("batch", BATCH)
    sandbox.own_workflow("piece", PIECE)
    record = sandbox.root / "agents.txt"
    hang = {"record": str(record), "hang": True, "outcome": "done"}
    sandbox.script(
        **{
            "split": {"documents": {"tasks.yaml": TASKS}},
            "make": {"outcome": "done"},
            "make@b": {**hang, "spawn": "child"},
            "make@c": {**hang, "spawn": "setsid", "ignore_term": True},
        }
    )
    folder = sandbox.root / "agentd" / "runs" / "b1"
    children = folder / "children" / "work"
    twice, once = ["make-1.1", "make-1.2"], ["make-1.1"]
    return Scene(
        sandbox,
        ("run", "batch", "x", "--name", "b1"),
        folder,
        "agentd resume batch/b1",
        lambda: all("hanging" in text_of(children / item / "calls" / "make-1.1.jsonl") for item in "bc"),
        lambda: [*numbers(children / "b" / "pids.txt", children / "c" / "pids.txt"), *agents(record)],
        lambda: sandbox.script(**{"make@b": {"outcome": "done"}, "make@c": {"outcome": "done"}}),
        {
            ".": [*once * 4, "make-1.2", "make-1.2", "split-1.1"],
            **{f"children/work/{item}": twice if item in "bc" else once for item in "abcd"},
        },
        "over",
        "agentd resume batch/b1 goes on",
    )


def text_of(path: Path) -> str:
    return path.read_text() if path.exists() else ""


@pytest.fixture
def scene(request: pytest.FixtureRequest, sandbox: Sandbox, planned: Sandbox) -> Iterator[Scene]:
    made: Scene = request.param(sandbox, planned)
    made.sandbox.set("calls", grace_secs=1)
    yield made
    process.end_leftovers("AGENTD_RUN", str(made.folder), 0)


@pytest.fixture
def planned(planned_once: Path, tmp_path: Path) -> Sandbox:
    """A planned change, beside the other sandbox."""
    subprocess.run(["cp", "-a", str(planned_once), str(tmp_path / "planned")], check=True)
    return Sandbox(tmp_path / "planned")


def called(scene: Scene) -> dict[str, list[str]]:
    return {place: scene.sandbox.calls(scene.folder / place) for place in scene.calls}


def go_on(scene: Scene, words: tuple[str, ...]) -> Ran:
    """The next start, which must come to the end of what was asked for."""
    left = scene.pids()
    scene.mend()
    done = scene.sandbox.run(*words)
    assert done.code == 0, done.out + done.err
    assert not [pid for pid in left if alive(pid)]
    shown = scene.sandbox.run("status", scene.folder.name, "--json").data
    assert (shown["phase"], shown["doing"] in ("ready", "finished")) == (scene.phase, True)
    assert called(scene) == scene.calls
    return done


every_scene = pytest.mark.parametrize("scene", [in_plan, in_impl, in_tests, in_children], indirect=True)
one_scene = pytest.mark.parametrize("scene", [in_plan], indirect=True)
stubborn = pytest.mark.parametrize("scene", [in_impl, in_children], indirect=True)


@pytest.mark.requirement(88)
@every_scene
@pytest.mark.parametrize("number", CODES, ids=lambda number: number.name)
def test_a_signal_in_the_middle_of_a_step_loses_nothing_and_leaves_nobody(scene: Scene, number: signal.Signals) -> None:
    working = scene.begin()
    left = scene.pids()
    assert len(left) >= 2
    assert all(map(alive, left))
    working.send_signal(number)
    _, err = working.communicate(timeout=60)
    assert working.returncode == CODES[number], err
    shown = scene.sandbox.run("status", scene.folder.name, "--json").data
    assert (shown["doing"], shown["next"]) == ("interrupted", scene.next)
    if number == signal.SIGKILL:
        assert any(map(alive, left)), "nobody outlived agentd, so this proves nothing"
    else:
        assert not [pid for pid in left if alive(pid)]
        assert err.strip() == f"Error: Interrupted; {scene.says} where it stopped."
    same = scene.words if number != signal.SIGTERM else tuple(shlex.split(scene.next)[1:])
    done = go_on(scene, same)
    if number == signal.SIGKILL:
        said = done.out.splitlines()
        ended = next(line for line in said if line.startswith("ended "))
        begun = next(line for line in said if "▶ " in line or line.startswith("[top-words] Spec 1/1"))
        assert said.index(ended) < said.index(begun)


@one_scene
def test_an_interruption_in_json_is_one_document(scene: Scene) -> None:
    working = scene.begin("--json")
    working.send_signal(signal.SIGINT)
    out, err = working.communicate(timeout=60)
    told = Ran(working.returncode, out, err).data
    assert (told["error"], told["exit"], working.returncode) == ("Interrupted", 130, 130)
    assert err == ""


@stubborn
def test_more_interrupts_while_it_ends_change_nothing(scene: Scene) -> None:
    """Everybody ignores TERM, so the ending takes its whole grace, and every further ^C comes into it."""
    working = scene.begin()
    left = scene.pids()

    def is_over() -> bool:
        working.send_signal(signal.SIGINT)
        return working.poll() is not None

    wait_until(is_over, 60)
    _, err = working.communicate(timeout=60)
    assert (working.returncode, err.count("\n"), "Interrupted" in err) == (130, 1, True), err
    assert not [pid for pid in left if alive(pid)]
    go_on(scene, tuple(shlex.split(scene.next)[1:]))


@one_scene
def test_interrupted_again_and_again_it_is_still_the_same_visit(scene: Scene) -> None:
    for attempt in (1, 2, 3):
        working = scene.sandbox.begin(*scene.words)
        path = scene.folder / "children" / "specify" / "top-words" / "calls" / f"write_spec-1.{attempt}.jsonl"
        wait_until(lambda path=path: "hanging" in text_of(path))  # type: ignore[misc]
        left = scene.pids()
        working.send_signal(signal.SIGKILL if attempt == 2 else signal.SIGINT)
        working.communicate(timeout=60)
    scene.mend()
    assert scene.sandbox.run(*scene.words).code == 0
    assert not [pid for pid in left if alive(pid)]
    assert scene.sandbox.calls() == sorted([*PLANNED, *(f"write_spec-1.{attempt}" for attempt in (2, 3, 4))])


@one_scene
def test_a_closed_terminal_is_a_hangup(scene: Scene) -> None:
    """The real thing: the kernel sends HUP, and whatever is written to the terminal from then on fails."""
    ours, theirs = pty.openpty()
    working = subprocess.Popen(
        ["setsid", "--ctty", *AGENTD, *scene.words],
        cwd=scene.sandbox.root,
        env=scene.sandbox.env,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    wait_until(scene.hangs, 60)
    left = scene.pids()
    os.close(ours)
    assert working.wait(60) == 129
    assert not [pid for pid in left if alive(pid)]
    go_on(scene, scene.words)


@every_scene
def test_stop_now_ends_the_step_under_way_from_another_process(scene: Scene) -> None:
    working = scene.begin()
    left = scene.pids()
    asked = time.monotonic()
    assert "It stops now." in scene.sandbox.run("stop", scene.folder.name, "--now").out
    working.communicate(timeout=60)
    assert time.monotonic() - asked < 20
    assert working.returncode == 143
    assert not [pid for pid in left if alive(pid)]
    shown = scene.sandbox.run("status", scene.folder.name, "--json").data
    assert (shown["doing"], shown["next"]) == ("interrupted", scene.next)
    go_on(scene, tuple(shlex.split(scene.next)[1:]))


@one_scene
def test_a_stop_that_nobody_lived_to_hear_does_not_stop_the_next_start(scene: Scene) -> None:
    working = scene.begin()
    assert "It stops after its step." in scene.sandbox.run("stop", CHANGE).out
    working.kill()
    working.communicate(timeout=60)
    go_on(scene, scene.words)


@pytest.mark.requirement(88)
@pytest.mark.parametrize("when", ["before", "torn"])
@pytest.mark.parametrize("file", ["state", "journal"])
def test_an_agent_that_had_finished_when_agentd_was_killed_is_not_called_again(
    sandbox: Sandbox, planned: Sandbox, file: str, when: str
) -> None:
    """Killed in the save that ends the first agent step: its transcript is whole, its outcome is not saved."""
    (told,) = [e["n"] for e in planned.events() if (e["event"], e.get("step")) == ("end", "propose")]
    end = planned.save_of(told)
    record = sandbox.root / "agents.txt"
    sandbox.script(propose={**sandbox.entry("propose"), "record": str(record)})
    assert sandbox.run("plan", CHANGE, IDEA, env={"AGENTD_CRASH": f"{file}:{end}:{when}"}).code == -9
    assert (sandbox.calls(), sandbox.state()["run"]["step"]) == (["propose-1.1"], "propose")
    shown = sandbox.run("status", CHANGE, "--json").data
    assert (shown["doing"], shown["next"]) == ("interrupted", f"agentd plan {CHANGE}")
    done = sandbox.run("plan", CHANGE)
    assert done.code == 0, done.err
    assert "propose: done (finished before the interruption)" in done.out
    assert len(agents(record)) == 1
    assert sandbox.calls() == PLANNED


@pytest.mark.parametrize("clock", ["timeout", "silence"])
def test_a_hanging_agent_is_ended_by_the_clock_with_all_it_started(sandbox: Sandbox, clock: str) -> None:
    scene = hang_agent(sandbox, "write_spec", "challenged", "plan", CHANGE, IDEA, spawn="setsid", ignore_term=True)
    sandbox.set("calls", **{f"{clock}_secs": 1, "grace_secs": 1})
    ended = sandbox.run(*scene.words, "--json")
    assert ended.code == 1
    assert (ended.data["doing"], ended.data["next"]) == ("failed", scene.next)
    assert re.fullmatch(rf"top-words: scripted was ended after \d+ s by \[calls\] {clock}_secs = 1", ended.data["note"])
    assert not [pid for pid in scene.pids() if alive(pid)]
    assert sandbox.run("status", CHANGE, "--json").data["doing"] == "failed"
    scene.mend()
    assert sandbox.run(*scene.words).code == 0
    assert sandbox.calls() == sorted([*PLANNED, "write_spec-2.1"])
