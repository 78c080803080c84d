"""The live view on a real terminal: what a person sees of agents at work, and that nothing of it stays."""

import json
import re
import subprocess
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.agents.live_line import said, usage
from agentd.cli.rows import EVERY, Call, clock, spent
from agentd.model.moment import Moment
from tests.sandbox import AGENTD, Sandbox, wait_until
from tests.terminal import WIDTH, Terminal, terminal

FEED = '''
"""Feeds moments to a view, one for each line of the file `todo`, until that says `over`; notes in `done` what it did."""
import json, os, sys, time
from agentd.cli.live import View
from agentd.model.moment import Moment

view = View(sys.stdout)
for line in iter(sys.stdin.readline if not sys.stdin.isatty() else open("todo").readline, "over\\n"):
    if not line:
        time.sleep(0.01)
        continue
    what, given = json.loads(line)
    if what == "tell":
        view.tell(given)
    elif what == "ask":
        with view.aside():
            view.tell("told meanwhile")
            print(f"QUESTION {given}", flush=True)
            while not os.path.exists(given):
                time.sleep(0.01)
    elif what == "threads":
        import threading
        def work(number):
            for count in range(20):
                view.watch(Moment("begin", "make-1.1", f"make@{number}", "implementer", "scripted"))
                view.watch(Moment("line", "make-1.1", f"make@{number}", line=f"line {count}"))
                view.tell(f"{number} told {count:03} {'x' * 40}")
                view.watch(Moment("end", "make-1.1", f"make@{number}", cost=0.01))
        working = [threading.Thread(target=work, args=(number,)) for number in range(given)]
        [thread.start() for thread in working]
        [thread.join() for thread in working]
    else:
        view.watch(Moment(what, **given))
    with open("done", "a") as done:
        done.write(line)
view.close()
print("rich" in sys.modules, view.drawing, file=open("seen", "w"))
'''


class Feeder:
    """The feeding program, and the file it is fed through."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "feed.py").write_text(FEED)
        (folder / "todo").touch()
        self.argv = (sys.executable, "-X", "utf8", str(folder / "feed.py"))

    def put(self, what: str, given: object = None, **fields: object) -> None:
        with (self.folder / "todo").open("a") as todo:
            todo.write(json.dumps([what, fields or given]) + "\n")

    def begin(self, step: str = "propose", call: str = "propose-1.1", **fields: object) -> None:
        self.put("begin", call=call, step=step, **fields)

    def line(self, line: str, step: str = "propose", call: str = "propose-1.1") -> None:
        self.put("line", call=call, step=step, line=line)

    def end(self, step: str = "propose", call: str = "propose-1.1", **fields: object) -> None:
        self.put("end", call=call, step=step, **fields)

    def over(self) -> None:
        with (self.folder / "todo").open("a") as todo:
            todo.write("over\n")


@pytest.fixture
def feeder(tmp_path: Path) -> Feeder:
    return Feeder(tmp_path)


def live(feeder: Feeder, **env: str) -> AbstractContextManager[Terminal]:
    return terminal(feeder.argv, feeder.folder, env)


def test_a_call_under_way_is_shown_with_its_clock_and_gone_when_it_ends(feeder: Feeder) -> None:
    with live(feeder) as person:
        feeder.put("tell", "Planning greet.")
        feeder.begin("write_spec@greet", role="planner", agent="claude", model="opus")
        feeder.line(
            '{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Reading."}],'
            '"usage":{"input_tokens":1000,"output_tokens":34}}}',
            "write_spec@greet",
        )
        first, second = person.wait_for("Reading.").splitlines()[-2:]
        assert re.fullmatch(r"\S write_spec@greet  planner · claude \(opus\)  0 s  1,034 tokens", first)
        assert second == "  Reading."
        assert not person.cursor_is_shown()
        person.wait_for("  2 s  ")
        feeder.end("write_spec@greet", tokens=1034, cost=0.25)
        feeder.put("tell", "write_spec: done")
        feeder.over()
        assert person.code() == 0
        assert person.scrolled() == "Planning greet.\nwrite_spec: done"
        assert person.cursor_is_shown()


def test_the_cost_is_that_of_the_calls_that_ended_and_unknown_for_good_once_one_is(feeder: Feeder) -> None:
    with live(feeder) as person:
        feeder.begin(role="planner", agent="scripted")
        assert "$" not in person.wait_for("planner · scripted  0 s")
        feeder.end(cost=0.25)
        feeder.begin("challenge", "challenge-1.1", role="challenger", agent="codex")
        person.wait_for("challenger · codex  0 s  $0.25 so far")
        feeder.end("challenge", "challenge-1.1", cost=None)
        feeder.begin("revise", "revise-1.1", role="planner", agent="codex")
        assert "$" not in person.wait_for("s  cost unknown")
        feeder.end("revise", "revise-1.1", cost=0.5)
        feeder.begin("challenge", "challenge-2.1", role="challenger", agent="codex")
        person.wait_for("challenge  challenger · codex  0 s  cost unknown")


def test_lines_told_while_it_is_live_stand_above_it_unbroken(feeder: Feeder) -> None:
    long = "told [bold]as it is[/bold] :smile: " + "0123456789" * 15
    with live(feeder) as person:
        feeder.begin(role="planner", agent="scripted")
        person.wait_for("planner")
        for number in range(40):
            feeder.put("tell", f"line {number:02}")
        feeder.put("tell", long)
        screen = person.wait_for("5678901234567890123456789\n")
        assert "propose  planner" in screen.splitlines()[-1]
        feeder.end()
        feeder.over()
        person.code()
        lines = person.scrolled().splitlines()
        assert lines[:40] == [f"line {number:02}" for number in range(40)]
        assert "".join(lines[40:]) == long


def test_parallel_calls_of_the_same_name_have_a_line_each(feeder: Feeder) -> None:
    with live(feeder) as person:
        for item in "abc":
            feeder.begin(f"make@{item}", "make-1.1", role="implementer", agent="scripted")
            feeder.line(f"working on {item}", f"make@{item}", "make-1.1")
        screen = person.wait_for("working on c")
        assert [line.split()[1] for line in screen.splitlines()[::2]] == ["make@a", "make@b", "make@c"]
        assert screen.splitlines()[1::2] == [f"  working on {item}" for item in "abc"]
        feeder.end("make@b", "make-1.1")
        assert "make@a" in person.wait_until_gone("make@b")
        assert "working on c" in person.screen()


def test_calls_and_lines_from_several_threads_do_not_tear_each_other(feeder: Feeder) -> None:
    with live(feeder) as person:
        feeder.put("threads", 6)
        feeder.over()
        person.code()
        lines = person.scrolled().splitlines()
        assert sorted(lines) == sorted(f"{n} told {count:03} {'x' * 40}" for n in range(6) for count in range(20))


def test_more_calls_than_the_screen_has_lines_leave_nothing_behind(feeder: Feeder) -> None:
    with live(feeder) as person:
        feeder.put("tell", "before")
        for number in range(25):
            feeder.begin(f"make@{number:02}", "make-1.1", role="implementer", agent="scripted")
            feeder.line("busy", f"make@{number:02}", "make-1.1")
        person.wait_for("make@13")
        for number in range(25):
            feeder.end(f"make@{number:02}", "make-1.1")
        feeder.put("tell", "after")
        feeder.over()
        person.code()
        assert person.scrolled() == "before\nafter"


def test_what_an_agent_says_is_cut_to_the_width_and_cannot_steer_the_terminal(feeder: Feeder) -> None:
    with live(feeder) as person:
        feeder.begin("a-step-with-a-very-long-name-" * 4, role="planner", agent="scripted")
        feeder.line("\x1b[2J\x1b]0;title\x07[red]said[/red] " + "é" * 150, "a-step-with-a-very-long-name-" * 4)
        head, last = person.wait_for("said").splitlines()
        assert len(head) == len(last) == WIDTH
        assert last.startswith("  [red]said[/red] éé")
        assert head.endswith("…")
        assert last.endswith("…")


def test_a_question_has_the_terminal_to_itself_while_calls_go_on(feeder: Feeder) -> None:
    with live(feeder) as person:
        feeder.begin(role="planner", agent="scripted")
        person.wait_for("planner")
        feeder.put("ask", "answered")
        screen = person.wait_for("QUESTION answered")
        assert "planner" not in screen
        assert "meanwhile" not in screen
        (feeder.folder / "answered").touch()
        person.wait_for("told meanwhile")
        first, second, third = person.wait_for("planner").splitlines()
        assert (first, second) == ("QUESTION answered", "told meanwhile")
        assert "propose  planner" in third


def test_a_program_that_ends_in_the_middle_of_a_call_leaves_the_terminal_as_it_was(feeder: Feeder) -> None:
    with live(feeder) as person:
        feeder.put("tell", "before")
        feeder.begin(role="planner", agent="scripted")
        person.wait_for("planner")
        feeder.over()
        person.code()
        assert person.scrolled() == "before"
        assert person.cursor_is_shown()


def test_a_terminal_that_goes_away_switches_the_view_off_and_the_work_goes_on(feeder: Feeder) -> None:
    deaf = ("sh", "-c", "trap '' HUP; exec \"$@\" 2> errors", "sh", *feeder.argv)
    with terminal(deaf, feeder.folder) as person:
        feeder.begin(role="planner", agent="scripted")
        person.wait_for("planner")
        person.hang_up()
        feeder.line("still here")
        feeder.put("tell", "told to nobody")
        feeder.end()
        feeder.begin("challenge", "challenge-1.1")
        feeder.end("challenge", "challenge-1.1")
        feeder.over()
        wait_until(lambda: (feeder.folder / "seen").exists())
        assert len((feeder.folder / "done").read_text().splitlines()) == 6
        wait_until(lambda: (feeder.folder / "seen").read_text() == "True False\n")
        assert "Traceback" not in (feeder.folder / "errors").read_text()


def test_a_terminal_that_is_stopped_does_not_stop_what_agents_say(feeder: Feeder) -> None:
    with live(feeder) as person:
        feeder.begin(role="planner", agent="scripted")
        person.wait_for("planner")
        person.send("C-s")
        stood_still(person)
        for number in range(50):
            feeder.line(f"line {number}")
        wait_until(lambda: len((feeder.folder / "done").read_text().splitlines()) == 51)
        assert "line" not in person.screen()
        person.send("C-q")
        person.wait_for("line 49")


def stood_still(person: Terminal) -> None:
    """Wait until the spinner has been the same for five of its turns."""
    seen, since = person.screen(), time.monotonic()
    while time.monotonic() - since < 5 * EVERY:
        now = person.screen()
        if now != seen:
            seen, since = now, time.monotonic()


def test_no_colours_where_they_are_not_wanted(feeder: Feeder) -> None:
    with live(feeder, NO_COLOR="1") as person:
        feeder.begin(role="planner", agent="scripted")
        person.wait_for("planner")
        assert "\x1b[36m" not in person.tmux("capture-pane", "-p", "-e")
    with live(Feeder(feeder.folder)) as person:
        person.wait_for("planner")
        assert "\x1b[36m" in person.tmux("capture-pane", "-p", "-e")


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_terminal_that_cannot_draw_gets_plain_lines(feeder: Feeder, term: str) -> None:
    with terminal(("env", f"TERM={term}", *feeder.argv), feeder.folder) as person:
        feeder.begin(role="planner", agent="scripted")
        feeder.line("hello")
        feeder.put("tell", "propose: done")
        feeder.over()
        person.code()
        assert person.scrolled() == "propose: done"
        assert (feeder.folder / "seen").read_text() == "False False\n"


def test_without_a_terminal_there_are_plain_lines_and_nothing_is_imported_to_draw(feeder: Feeder) -> None:
    feeder.begin(role="planner", agent="scripted")
    feeder.line("hello")
    feeder.put("tell", "propose: \x1b[31mdone")
    feeder.end()
    feeder.over()
    fed = (feeder.folder / "todo").read_text()
    done = subprocess.run(feeder.argv, input=fed.encode(), cwd=feeder.folder, capture_output=True, timeout=60)
    assert (done.stdout, done.stderr) == (b"propose: done\n", b"")
    assert (feeder.folder / "seen").read_text() == "False False\n"


SHIP = """
name: ship
starts: {full: build}
steps:
  build: {phase: making, agent: implementer, next: {done: sure}}
  sure: {phase: making, ask: "Ship it?", next: {ship: over, again: "@again"}}
  over: {phase: shipped, end: shipped}
"""
SLOW = {"run": [["true"], ["sh", "-c", "until test -e go; do sleep 0.02; done"]]}


@pytest.fixture
def slow(sandbox: Sandbox) -> Sandbox:
    """A workflow whose agent says that it ran something, and then works until the file `go` is there."""
    sandbox.own_workflow("ship", SHIP)
    sandbox.script(build=SLOW)
    return sandbox


def test_a_run_on_a_terminal_shows_its_agent_and_then_asks(slow: Sandbox) -> None:
    with terminal((*AGENTD, "run", "ship", "a boat", "--name", "one"), slow.root, slow.env) as person:
        head, last = person.wait_for("ran true").splitlines()[-2:]
        assert re.fullmatch(r"\S build  implementer · scripted.*  \d+ s.*", head)
        assert last == "  ran true"
        (slow.root / "go").touch()
        person.wait_for("Ship it?")
        person.send("Enter")
        assert person.code() == 0
        left = person.scrolled()
        assert "Next:" in left
        assert not re.search("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]|ran true", left)
        assert person.cursor_is_shown()


def test_an_interrupted_run_takes_its_live_area_away_before_its_last_words(slow: Sandbox) -> None:
    with terminal((*AGENTD, "run", "ship", "a boat", "--name", "one"), slow.root, slow.env) as person:
        person.wait_for("ran true")
        person.send("C-c")
        assert person.code() == 130
        left = person.scrolled()
        assert "Interrupted" in left
        assert not re.search("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]|ran true", left)
        assert person.cursor_is_shown()


def test_a_run_without_a_terminal_prints_no_control_sequences(slow: Sandbox) -> None:
    (slow.root / "go").touch()
    for words in ((), ("--json",)):
        done = slow.run("run", "ship", "a boat", "--name", f"run{len(words)}", *words)
        assert done.code == 4
        assert done.out
        assert "\x1b" not in done.out + done.err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        # claude
        ({"type": "assistant", "message": {"content": [{"type": "text", "text": "I read\nit."}]}}, "I read it."),
        (
            {
                "type": "assistant",
                "message": {
                    "content": [{"type": "text", "text": "a"}, {"type": "tool_use", "name": "mcp__agentd__x_y"}]
                },
            },
            "→ x_y",
        ),
        ({"type": "assistant", "message": {"content": [{"type": "thinking", "thinking": "hm"}]}}, ""),
        ({"type": "user", "message": {"content": [{"type": "tool_result", "content": "no"}]}}, ""),
        ({"type": "system", "subtype": "init", "tools": ["Edit"]}, ""),
        ({"is_error": False, "result": "FINAL", "type": "result", "subtype": "success"}, "FINAL"),
        # codex
        ({"type": "item.completed", "item": {"type": "agent_message", "text": "Done."}}, "Done."),
        (
            {"type": "item.started", "item": {"type": "mcp_tool_call", "tool": "create_spec", "status": "in_progress"}},
            "→ create_spec",
        ),
        (
            {"type": "item.completed", "item": {"type": "mcp_tool_call", "tool": "create_spec", "status": "completed"}},
            "create_spec ✓",
        ),
        (
            {"type": "item.completed", "item": {"type": "command_execution", "command": "make", "status": "failed"}},
            "make ✗",
        ),
        (
            {
                "type": "item.completed",
                "item": {"type": "file_change", "changes": [{"path": "a"}, {"path": "b"}, 3], "status": "completed"},
            },
            "a, b ✓",
        ),
        ({"type": "error", "message": "Reconnecting... 1/2"}, "Reconnecting... 1/2"),
        ({"type": "turn.failed", "error": {"message": "no key"}}, "no key"),
        # gemini
        ({"type": "message", "role": "assistant", "content": "Well", "delta": True}, "Well"),
        ({"type": "message", "role": "user", "content": "the prompt"}, ""),
        ({"type": "tool_use", "tool_name": "mcp_agentd_create_proposal"}, "→ create_proposal"),
        ({"type": "tool_result", "status": "error", "error": {"type": "x", "message": "refused"}}, "refused"),
        # opencode
        ({"type": "text", "part": {"type": "text", "text": "So."}}, "So."),
        (
            {"type": "tool_use", "part": {"tool": "agentd_create_spec", "state": {"status": "completed"}}},
            "create_spec ✓",
        ),
        ({"type": "tool_use", "part": {"tool": "bash", "state": {"status": "running"}}}, "→ bash"),
        # scripted
        ({"type": "text", "text": "ran make"}, "ran make"),
        ({"type": "tool", "tool": "create_proposal", "status": "success", "text": "ok"}, "create_proposal ✓"),
        ({"type": "tool", "tool": "create_proposal", "status": "error", "text": "no"}, "create_proposal ✗"),
        ({"type": "result", "status": "success", "text": "done", "outcome": "approved"}, "done"),
        ({"type": "start", "step": "propose"}, ""),
        # none of them, or not quite
        ({}, ""),
        ({"type": ["assistant"]}, ""),
        ({"type": "assistant", "message": {"content": [None, 3, {"type": "text"}]}}, ""),
        ({"type": "item.completed", "item": {"type": "todo_list", "status": "completed"}}, ""),
        ("plain words", "plain words"),
        ("  \x1b[1mbold\x1b[0m\tand \x00\x85\u202eback\ud800  ", "bold and back"),
        ("{not json", "{not json"),
        ("", ""),
        ("x" * 500, "x" * 200),
    ],
)
def test_the_last_thing_said_is_found_whatever_the_agent(line: object, words: str) -> None:
    assert said(line if isinstance(line, str) else json.dumps(line)) == words


@pytest.mark.parametrize(
    ("event", "count"),
    [
        ({"type": "turn.completed", "usage": {"input_tokens": 30, "cached_input_tokens": 20, "output_tokens": 5}}, 35),
        (
            {"type": "result", "usage": {"input_tokens": 1, "cache_read_input_tokens": 10, "output_tokens": 2}},
            13,
        ),
        ({"type": "result", "stats": {"total_tokens": 99, "input_tokens": 7, "output_tokens": 2, "input": 7}}, 9),
        ({"type": "step_finish", "part": {"tokens": {"input": 5, "output": 2, "cache": {"read": 10, "write": 0}}}}, 17),
        ({"type": "result", "usage": {"tokens_in": 1200, "tokens_out": 40, "cost": 0.01}}, 1240),
        ({"type": "result", "usage": {"tokens_in": None, "tokens_out": None}}, None),
        ({"type": "result", "usage": {"input_tokens": "many", "output_tokens": True}}, None),
        ({"type": "result", "usage": "tokens"}, None),
        ({"type": "text", "text": "tokens"}, None),
    ],
)
def test_the_tokens_of_an_event_are_counted_where_it_carries_them(event: object, count: int | None) -> None:
    found = usage(json.dumps(event))
    assert (found and found[1]) == count


def test_the_turns_of_a_call_add_up_and_its_end_counts_for_them_all() -> None:
    call = Call(Moment("begin", "propose-1.1", "propose"), 0.0)
    assert call.tokens() is None
    for turn, count in (("m1", 10), ("m1", 10), ("m2", 25)):
        usage = {"input_tokens": count, "output_tokens": 1}
        call.hear(json.dumps({"type": "assistant", "message": {"id": turn, "content": [], "usage": usage}}))
    assert call.tokens() == 37
    call.hear(json.dumps({"type": "result", "usage": {"input_tokens": 35, "output_tokens": 9}}))
    assert call.tokens() == 44


NAMES = ("type", "message", "content", "text", "tool_use", "name", "part", "tool", "state", "status", "item", "usage")
WORDS = st.sampled_from(NAMES) | st.text()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner),
    )
)
def test_no_line_is_too_odd_to_be_read(value: object) -> None:
    for line in (json.dumps(value), str(value)):
        assert len(said(line)) <= 200
        assert not re.search(r"[\x00-\x1f\x7f-\x9f]", said(line))
        usage(line)


@pytest.mark.parametrize(("seconds", "text"), [(0.9, "0 s"), (59.9, "59 s"), (60, "1 min 00 s"), (3725, "62 min 05 s")])
def test_the_clock_counts_seconds_and_minutes(seconds: float, text: str) -> None:
    assert clock(seconds) == text


@pytest.mark.parametrize(
    ("cost", "text"),
    [(None, "cost unknown"), (0.0, "$0.00 so far"), (0.0004, "$0.0004 so far"), (1.239, "$1.24 so far")],
)
def test_a_small_cost_is_not_nothing_and_an_unknown_one_is_not_zero(cost: float | None, text: str) -> None:
    assert spent(cost) == text
