"""Several processes and people on one run: one works, the others hear of it, and nobody's words are lost."""

import json
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.test_own import BATCH, PIECE
from tests.sandbox import CHANGE, IDEA, YES, Sandbox, wait_until

ONCE = """
name: once
starts: {full: sure}
steps:
  sure: {phase: making, ask: "Now?", next: {now: make}}
  make: {phase: making, agent: implementer, produces: [made.md], next: {done: check}}
  check: {phase: making, needs: [made.md], do: nothing, next: {done: over}}
  over: {phase: made, end: made}
"""
PLANNED = ["break_down-1.1", "challenge-1.1", "challenge-2.1", "propose-1.1", "revise-1.1", "write_spec-1.1"]
ROUNDS = {"sample": 8, "all": 20}
AT_ONCE = 12


class Working:
    """A `plan` whose first agent waits until it is let go on; `plan` goes on to its end after that."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.record = sandbox.root / "proposed.txt"
        self.sane = sandbox.entry("propose")
        sandbox.script(propose={**self.sane, "wait_for": "go", "record": str(self.record)})
        self.process = sandbox.begin("plan", CHANGE, IDEA)
        self.folder = sandbox.root / "agentd" / "changes" / CHANGE
        wait_until(lambda: self.process.poll() is not None or self.record.exists(), 60)
        assert self.process.poll() is None, self.process.communicate()

    def finish(self) -> tuple[int, str, str]:
        (self.folder / "go").write_text("")
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@pytest.fixture
def working(sandbox: Sandbox) -> Iterator[Working]:
    made = Working(sandbox)
    yield made
    if made.process.poll() is None:
        made.finish()


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Everything in a folder: what it says and when it was last written."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def end_all(racing: list[subprocess.Popen[str]]) -> list[tuple[int, str, str]]:
    """How each ended."""
    ended = []
    for process in racing:
        out, err = process.communicate(timeout=120)
        ended.append((process.returncode, out, err))
    return ended


def test_the_second_process_hears_who_works_and_changes_nothing(working: Working) -> None:
    before = snapshot(working.folder)
    who = f"{CHANGE} is held by process {working.process.pid} on {socket.gethostname()} since "
    for words in (("plan", CHANGE, IDEA), ("plan", CHANGE), ("resume", CHANGE)):
        refused = working.sandbox.run(*words)
        assert refused.code == 1
        assert refused.err.startswith(f"Error: {who}")
        assert "(agentd plan)" in refused.err
        assert f"Fix:   agentd status {CHANGE}" in refused.err
    assert working.sandbox.run("resume", CHANGE, "--json").data["error"] == "Held"
    assert snapshot(working.folder) == before
    assert working.finish()[0] == 0
    assert working.sandbox.calls() == PLANNED


def test_a_killed_holder_holds_nothing(working: Working) -> None:
    assert working.sandbox.run("status", CHANGE, "--json").data["doing"] == "working"
    working.process.kill()
    working.process.communicate(timeout=30)
    assert str(working.process.pid) in (working.folder / ".lock").read_text(), "its name is still in the file"
    assert working.sandbox.run("status", CHANGE, "--json").data["doing"] == "interrupted"
    working.sandbox.script(propose=working.sane)
    assert working.sandbox.run("plan", CHANGE).code == 0
    assert (working.folder / ".lock").read_text() == ""


def test_twelve_at_once_do_every_step_once(sandbox: Sandbox, pytestconfig: pytest.Config) -> None:
    """Many copies of one run that is ready to go on, each taken up by twelve processes at the same moment."""
    sandbox.own_workflow("once", ONCE)
    runs = sandbox.root / "agentd" / "runs"
    sandbox.script(make={"documents": {"made.md": "made"}, "record": "made.txt"})
    assert sandbox.run("run", "once", "x", "--name", "r").code == 4
    assert sandbox.run("answer", "r", "UD-1", "now").code == 0
    for number in range(ROUNDS[pytestconfig.getoption("--crash")]):
        name = f"r{number}"
        shutil.copytree(runs / "r", runs / name)
        state = runs / name / "STATE.yaml"
        state.write_text(state.read_text().replace("name: r\n", f"name: {name}\n", 1))
        ended = end_all([sandbox.begin("resume", name) for _ in range(AT_ONCE)])
        assert len([out for _, out, _ in ended if "▶" in out]) == 1, ended
        for code, out, err in ended:
            held = f"{name} is held by " in err
            assert (code, held) in ((0, False), (1, True)), (code, out, err)
            assert held or f"once/{name}: phase made, " in out
        assert len((runs / name / "made.txt").read_text().splitlines()) == 1
        assert sandbox.calls(runs / name) == ["make-1.1"]
        events = sandbox.events(runs / name)
        assert [(e["event"], e["step"]) for e in events[2:]] == [
            *(("end", "sure"), ("begin", "make"), ("end", "make"), ("begin", "check"), ("end", "check")),
        ]
        assert [event["n"] for event in events] == list(range(1, len(events) + 1))


def test_looking_on_disturbs_nobody(working: Working) -> None:
    before = snapshot(working.folder)
    for words in (("status",), ("status", CHANGE), ("list",), ("log", CHANGE)):
        seen = working.sandbox.run(*words)
        assert seen.code == 0, seen.err
    nothing = working.sandbox.run("answer", CHANGE, "UD-1", "fix")
    assert (nothing.code, "is not a decision of this run" in nothing.err) == (1, True)
    assert snapshot(working.folder) == before
    assert working.finish()[0] == 0
    assert working.sandbox.calls() == PLANNED


def test_looking_on_all_the_time_sees_only_whole_states(sandbox: Sandbox) -> None:
    """From the first step to the last somebody looks; each look is readable, and nothing is done twice or refused."""
    working = sandbox.begin("plan", CHANGE, IDEA)
    wait_until(lambda: sandbox.state_file().exists())
    seen = []
    deadline = time.monotonic() + 120
    while working.poll() is None:
        assert time.monotonic() < deadline
        for words in (("status", CHANGE), ("log", CHANGE), ("list",)):
            look = sandbox.run(*words, "--json")
            assert look.code == 0, look.out + look.err
            seen.append(look.data.get("doing", ""))
    _, err = working.communicate(timeout=60)
    assert (working.returncode, err) == (0, "")
    assert "working" in seen
    assert sandbox.calls() == PLANNED


def test_looking_on_without_a_pause_does_not_keep_anybody_out(planned: Sandbox) -> None:
    """A look takes the lock for a moment; whoever wants to work waits for that moment and is not turned away."""
    looking = [planned.begin("status", CHANGE) for _ in range(6)]
    done = planned.run("impl", CHANGE)
    assert done.code == 0, done.err
    assert all(code == 0 for code, _, _ in end_all(looking))


def test_a_child_is_answered_while_its_sister_works(sandbox: Sandbox) -> None:
    sandbox.own_workflow("batch", BATCH)
    sandbox.own_workflow("piece", PIECE)
    made = sandbox.root / "made.txt"
    sandbox.script(
        **{
            "split": {"documents": {"tasks.yaml": "tasks:\n- {id: a}\n- {id: b}\n"}},
            "make@a": {"outcome": "unsure", "record": str(made)},
            "make@b": {"outcome": "done", "record": str(made), "wait_for": "go"},
        }
    )
    working = sandbox.begin("run", "batch", "x", "--name", "b1")
    folder = sandbox.root / "agentd" / "runs" / "b1" / "children" / "work"
    asked = folder / "a" / "STATE.yaml"
    wait_until(
        lambda: asked.exists() and "pending" in asked.read_text() and made.exists() and "make b" in made.read_text()
    )
    shown = sandbox.run("status", "b1", "--json").data
    assert (shown["doing"], [d["decision_id"] for d in shown["decisions"]]) == ("working", ["UD-a-1"])
    assert sandbox.run("answer", "b1", "UD-a-1", "good").code == 0
    (folder / "b" / "go").write_text("")
    out, err = working.communicate(timeout=60)
    assert working.returncode == 4, out + err
    assert sandbox.run("resume", "b1").code == 0
    assert sorted(line.split()[1] for line in made.read_text().splitlines()) == ["a", "b"]


def test_two_plans_of_one_new_change_make_one_change(sandbox: Sandbox) -> None:
    """One makes it; the other is turned away or finds it made. Never two beginnings, never a second proposal."""
    sandbox.script(challenge=YES)
    for number in range(5):
        name = f"change-{number}"
        folder = sandbox.root / "agentd" / "changes" / name
        ended = end_all([sandbox.begin("plan", name, f"{IDEA}\n- {who}") for who in "ab"])
        for code, out, err in ended:
            assert code == 0 or (code == 1 and f"{name} is held by process " in err), (code, out, err)
        assert [code for code, _, _ in ended].count(0) >= 1
        assert [path.name for path in folder.glob("STATE.yaml*")] == ["STATE.yaml"]
        assert [path.parent.name for path in folder.glob("children/**/STATE.yaml*")] == ["top-words"]
        assert [event["event"] for event in sandbox.events(folder)].count("start") == 1
        assert sandbox.calls(folder) == ["break_down-1.1", "challenge-1.1", "propose-1.1", "write_spec-1.1"]
        assert sandbox.state(name)["description"] in (f"{IDEA}\n- a", f"{IDEA}\n- b")
        assert sandbox.state(name)["phase"] == "challenged"


@pytest.mark.requirement(88)
def test_what_a_person_adds_to_the_state_while_agentd_works_is_kept(working: Working) -> None:
    working.sandbox.edit_state("phase: proposed", "phase: proposed  # my comment")
    working.sandbox.state_file().write_text(
        "# mine\n" + working.sandbox.state_file().read_text() + "team: blue # ours\n"
    )
    code, _, err = working.finish()
    assert code == 0, err
    text = working.sandbox.state_file().read_text()
    assert text.startswith("# mine\n")
    assert "phase: challenged  # my comment" in text
    assert "\nteam: blue # ours\n" in text


def test_a_value_a_person_changes_while_agentd_works_is_kept(sandbox: Sandbox) -> None:
    """The key was there when the work began, so agentd holds an old value of it."""
    sandbox.script(challenge={"fail": "error"})
    assert sandbox.plan().code == 1
    sandbox.state_file().write_text(sandbox.state_file().read_text() + "team: blue\nother: kept\n")
    sandbox.script(challenge={**YES, "wait_for": "go"})
    working = sandbox.begin("plan", CHANGE)
    wait_until((sandbox.folder() / "calls" / "challenge-2.1.jsonl").exists)
    sandbox.edit_state("team: blue", "team: red")
    sandbox.edit_state("other: kept\n", "")
    (sandbox.folder() / "go").write_text("")
    _, err = working.communicate(timeout=60)
    assert (working.returncode, err) == (0, "")
    state = sandbox.state()
    assert (state["phase"], state["team"]) == ("challenged", "red")
    assert "other" not in state


def test_a_phase_set_while_agentd_works_stops_it_and_is_followed_next(working: Working) -> None:
    working.sandbox.edit_state("phase: proposed", "phase: rejected")
    before = working.sandbox.state_file().read_bytes()
    code, _, err = working.finish()
    assert code == 1
    assert "the phase was set to 'rejected' while agentd was working in 'proposed'; nothing was overwritten." in err
    assert f"Fix:   agentd resume {CHANGE}" in err
    assert working.sandbox.state_file().read_bytes() == before
    assert working.sandbox.run("plan", CHANGE).code == 1
    working.sandbox.edit_state("phase: rejected", "phase: proposed")
    assert working.sandbox.run("plan", CHANGE).code == 0
    assert working.sandbox.calls() == PLANNED


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda text: text + "  : [\n", r"STATE\.yaml:\d+"),
        (lambda text: text[: len(text) // 2] + "\n}", r"STATE\.yaml:\d+"),
        (lambda text: re.sub(r"\nphase: \w+", "\nphase: [1]", text), r"STATE\.yaml:\d+: phase must be text"),
        (lambda text: "", r"STATE\.yaml:1"),
    ],
)
def test_what_nobody_can_read_after_a_call_is_put_back_and_before_a_command_it_is_an_error(
    working: Working, damage: Callable[[str], str], said: str
) -> None:
    """Nobody can tell an agent's damage from a person's: what agentd last knew stands again, and nothing is lost."""
    path, sandbox = working.sandbox.state_file(), working.sandbox
    path.write_text(damage(path.read_text()))
    broken = path.read_bytes()
    code, out, _ = working.finish()
    assert code == 1
    kept = path.with_name("STATE.yaml.unreadable-1")
    assert f"STATE.yaml was left unreadable (it is now {kept.name}) while the agent worked, and was put back" in out
    assert kept.read_bytes() == broken
    text = path.read_text()
    path.write_text(damage(text))
    broken = path.read_bytes()
    refused = sandbox.run("plan", CHANGE)
    assert refused.code == 1
    assert re.search(said, refused.err), refused.err
    assert "Fix:" in refused.err
    assert path.read_bytes() == broken
    path.write_text(text)
    done = sandbox.run("plan", CHANGE)
    assert done.code == 0, done.err
    assert sandbox.calls() == sorted([*PLANNED, "propose-2.1"])


def test_a_state_file_that_goes_away_while_an_agent_works_is_put_back(working: Working) -> None:
    path = working.sandbox.state_file()
    path.unlink()
    code, out, _ = working.finish()
    assert code == 1
    assert "STATE.yaml was taken away while the agent worked, and was put back" in out
    assert [found.name for found in path.parent.glob("STATE.yaml*")] == ["STATE.yaml"]
    assert working.sandbox.run("plan", CHANGE).code == 0
    assert len(working.record.read_text().splitlines()) == 2


@pytest.mark.parametrize("there", ["folder", "link", "pipe"])
def test_what_is_no_file_is_moved_out_of_the_place_of_the_state(working: Working, there: str) -> None:
    path = working.sandbox.state_file()
    other = working.sandbox.root / "other.txt"
    other.write_text("not a state\n")
    path.unlink()
    if there == "folder":
        path.mkdir()
    elif there == "link":
        path.symlink_to(other)
    else:
        os.mkfifo(path)
    code, out, _ = working.finish()
    assert code == 1
    assert "STATE.yaml was left unreadable (it is now STATE.yaml.unreadable-1)" in out
    assert path.is_file()
    assert not path.is_symlink()
    assert other.read_text() == "not a state\n"
    assert working.sandbox.run("plan", CHANGE).code == 0


def test_a_phase_that_was_moved_ahead_of_a_step_that_was_cut_off_is_put_back_and_said(working: Working) -> None:
    working.process.kill()
    working.process.communicate(timeout=30)
    working.sandbox.script(propose=working.sane)
    working.sandbox.edit_state("phase: proposed", "phase: challenged")
    done = working.sandbox.run("plan", CHANGE)
    assert done.code == 0, done.err
    assert "the phase in STATE.yaml was changed to challenged while propose was under way" in done.out
    assert "put back to proposed; if you want it, set it again when propose is over" in done.out
    noted = [event for event in working.sandbox.events() if event["event"] == "phase put back"]
    assert [(event["step"], event["phase"], event["was"]) for event in noted] == [("propose", "proposed", "challenged")]
    assert "challenge-1.1" in working.sandbox.calls()


def test_a_save_by_an_editor_that_renames_is_an_edit_like_any_other(working: Working) -> None:
    path = working.sandbox.state_file()
    other = path.with_name("STATE.yaml.new")
    other.write_text(path.read_text() + "team: blue\n")
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.rename(path)
    assert working.finish()[0] == 0
    assert working.sandbox.state()["team"] == "blue"


def test_the_diary_of_a_run_that_many_touched_is_whole(working: Working) -> None:
    for words in (("resume", CHANGE), ("status", CHANGE), ("plan", CHANGE), ("stop", CHANGE)):
        working.sandbox.run(*words)
    assert working.finish()[0] == 4
    assert working.sandbox.run("plan", CHANGE).code == 0
    lines = (working.folder / "journal.jsonl").read_text().splitlines()
    assert [json.loads(line)["n"] for line in lines] == list(range(1, len(lines) + 1))
    assert working.sandbox.state()["run"]["saves"] == len(lines)
