"""The loop: the order of its effects, what it does when it is cut off, and how it works through children."""

import contextlib
import threading
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.engine.decide import Stop, Why
from agentd.engine.waves import Item
from agentd.errors import AgentdError
from agentd.model.run import Nudge, Run
from agentd.model.workflow import Edge, Step, Workflow
from tests.engine.ports import Children, Crash, Fuse, Script, Twin
from tests.engine.tables import step, table, with_step

PATIENCE = 10
LINE = table(
    step("write", "agent", produces=("text.md",), done="check"),
    step("check", needs=("text.md",), ok="over", bad="write"),
    step("over", "end", what="merged"),
)
FINISHED = Stop("finished", "merged")


def test_the_intent_is_saved_before_a_step_and_its_outcome_after() -> None:
    twin = Twin(LINE)
    assert twin.go() == (Run("small", "twin", "one", "over", result="merged"), FINISHED)
    assert twin.effects == [
        "save begin write",
        "perform write",
        "save end write",
        "save begin check",
        "perform check",
        "save end check",
    ]


def test_an_agent_that_left_something_out_is_reminded_before_the_step_ends() -> None:
    twin = Twin(LINE)
    twin.nudges = {"write": 2}
    assert twin.go()[1] == FINISHED
    assert twin.effects[:8] == [
        "save begin write",
        "perform write",
        "save nudge write",
        "save begin write",
        "perform write",
        "save nudge write",
        "save begin write",
        "perform write",
    ]
    reminded = [saved.run.intent.nudge for saved in twin.history if saved.event == "nudge" and saved.run.intent]
    assert reminded == [Nudge(1, "twin-write-1", "its text"), Nudge(2, "twin-write-2", "its text")]


@pytest.mark.parametrize("remembers", [True, False])
def test_a_reminder_survives_a_kill_at_any_point_and_is_given_no_more_often(remembers: bool) -> None:
    for at in range(40):
        twin = Twin(LINE)
        twin.nudges, twin.remembers = {"write": 2}, remembers
        twin.revive(at)
        with contextlib.suppress(Crash):
            twin.go()
        twin.revive()
        assert twin.go()[1] == FINISHED
        assert twin.events.count("nudge write") == 2, at


def test_a_person_who_asks_to_stop_stops_before_a_reminder() -> None:
    twin = Twin(LINE)
    twin.nudges, twin.stop_when = {"write": 1}, "save nudge write"
    assert twin.go()[1] == Stop("stopped", "write")
    twin.stop_when, twin.stop = "", False
    assert twin.go()[1] == FINISHED
    assert twin.events.count("nudge write") == 1


def test_what_is_saved_tells_a_step_under_way_from_one_that_ended() -> None:
    twin = Twin(LINE)
    twin.go()
    begun, ended = twin.history[:2]
    assert begun.run.intent is not None
    assert (begun.run.step, begun.run.intent.call) == ("write", "twin-write-1")
    assert (ended.run.step, ended.run.intent) == ("check", None)
    assert ended.details == {"step": "write", "outcome": "done", "note": "write was performed", "to": "check"}


def test_a_finished_run_stays_finished_without_any_effect() -> None:
    twin = Twin(LINE)
    twin.go()
    before = list(twin.effects)
    twin.stop = True
    assert twin.go(steps=0)[1] == FINISHED
    assert twin.effects == before


def test_a_closed_gate_stops_the_run_without_any_effect() -> None:
    twin = Twin(LINE)
    twin.holds["text.md"] = "too short"
    run, stop = twin.go()
    assert stop == Stop("blocked", "text.md: too short")
    assert run == twin.saved
    assert twin.events[-1] == "end write"
    twin.holds.clear()
    assert twin.go()[1] == FINISHED
    assert twin.performed == ["write", "check"]


def test_a_command_stops_where_its_phases_end() -> None:
    two = table(
        step("a", phase="plan", done="b"),
        step("b", phase="build", done="z"),
        step("z", "end", phase="over"),
        commands={"plan": ("plan",), "impl": ("build",)},
    )
    twin = Twin(two)
    assert twin.go("impl")[1] == Stop("elsewhere", "plan")
    assert twin.effects == []
    assert twin.go("plan")[1] == Stop("elsewhere", "build")
    assert twin.performed == ["a"]
    assert twin.go("impl")[1] == Stop("finished", "z")


def test_a_skipped_step_goes_forward_and_says_why_without_being_performed() -> None:
    workflow = table(step("a", when=("wanted",), done="b", other="a"), step("b", done="z"), step("z", "end"))
    twin = Twin(workflow)
    twin.holds["wanted"] = "nobody wants it"
    twin.go()
    assert twin.performed == ["b"]
    assert twin.history[0].event == "skip"
    assert twin.history[0].details == {"step": "a", "note": "nobody wants it", "to": "b"}


def test_a_step_cut_off_is_not_skipped_although_it_is_no_longer_wanted() -> None:
    workflow = table(step("a", when=("wanted",), done="z"), step("z", "end"))
    twin = Twin(workflow)
    twin.fuse = Fuse(2)
    with pytest.raises(Crash):
        twin.go()
    assert twin.events == ["begin a"]
    twin.holds["wanted"] = "it is half there"
    twin.revive()
    twin.go()
    assert twin.performed == ["a"]


def test_an_outcome_the_table_does_not_have_leaves_the_step_begun() -> None:
    twin = Twin(LINE, {"check": ["perhaps"]})
    with pytest.raises(AgentdError, match="cannot end with 'perhaps'"):
        twin.go()
    assert twin.events[-1] == "begin check"


# Failures


def test_a_failure_without_a_way_on_stops_and_lays_the_run_down() -> None:
    twin = Twin(LINE, {"check": ["failed"]})
    run, stop = twin.go()
    assert stop == Stop("failed", "check was performed")
    assert run == twin.saved == Run("small", "twin", "one", "check", begun=True)
    assert twin.history[-1].event == "fail"
    assert twin.history[-1].details == {"step": "check", "note": "check was performed"}


def test_after_a_failure_the_same_step_is_performed_again() -> None:
    twin = Twin(LINE, {"check": ["failed"]})
    twin.go()
    twin.script.clear()
    assert twin.go()[1] == FINISHED
    assert twin.performed == ["write", "check", "check"]
    assert "recover check" not in twin.effects


@pytest.mark.parametrize("own", [True, False])
def test_a_failure_with_an_edge_follows_it(own: bool) -> None:
    edge = Edge("@again", at_most=1, then="help")
    workflow = table(
        step("a", done="z", failed=edge) if own else step("a", done="z"),
        step("help", "ask", go="z"),
        step("z", "end"),
        defaults={} if own else {"failed": edge},
    )
    twin = Twin(workflow, {"a": ["failed", "failed"]})
    run, stop = twin.go()
    assert stop == Stop("waiting", "help")
    assert (run.asked_by, run.spent) == ("a", "a.failed")
    assert twin.performed == ["a", "a"]


# Questions

QUESTION = table(
    step("a", done="which"), step("which", "ask", what="which_way", on="z", back="@again"), step("z", "end")
)


def test_a_question_nobody_answered_waits_and_loses_nothing() -> None:
    twin = Twin(QUESTION)
    run, stop = twin.go()
    assert stop == Stop("waiting", "which_way")
    assert run == twin.saved
    assert twin.events == ["begin a", "end a"]
    assert twin.go() == (run, stop)
    assert twin.events == ["begin a", "end a"]


def test_an_answer_goes_on_from_the_question() -> None:
    twin = Twin(QUESTION)
    twin.go()
    twin.script["which"] = ["back", "on"]
    assert twin.go()[1] == Stop("finished", "z")
    assert twin.performed == ["a", "a"]
    assert twin.history[2].details == {"step": "which", "outcome": "back", "note": "a person said so", "to": "a"}


def test_a_question_whose_gate_is_closed_is_not_put() -> None:
    twin = Twin(table(step("which", "ask", needs=("report.md",), on="z"), step("z", "end")), {"which": ["on"]})
    assert twin.go()[1] == Stop("blocked", "report.md: missing")
    assert twin.effects == []


# A number of steps, and stopping


def test_one_step_at_a_time_makes_the_same_run_as_all_at_once() -> None:
    whole, single = journey(), journey()
    whole.go()
    stops: list[Stop] = []
    while not stops or stops[-1].why == "paused":
        before = len(ends(single))
        stops.append(single.go(steps=1)[1])
        assert len(ends(single)) == before + 1
    assert stops[-1] == Stop("finished", "over")
    assert single.saved == whole.saved
    assert single.performed == whole.performed
    assert stops[0] == Stop("paused", "optional")


def test_no_steps_are_none() -> None:
    twin = Twin(LINE)
    assert twin.go(steps=0)[1] == Stop("paused", "write")
    assert twin.effects == []


def test_nothing_begins_while_stopping() -> None:
    twin = Twin(LINE)
    twin.stop = True
    run, stop = twin.go()
    assert (run, stop) == (twin.saved, Stop("stopped", "write"))
    assert twin.effects == []


def test_a_step_under_way_ends_before_the_run_stops() -> None:
    twin = Twin(LINE)
    twin.stop_when = "perform write"
    run, stop = twin.go()
    assert (run, stop) == (twin.saved, Stop("stopped", "check"))
    assert twin.events == ["begin write", "end write"]


# Attempts that were cut off


def cut_off(workflow: Workflow, name: str, script: Script | None = None, finished: bool = False) -> Twin:
    """A run whose process died in the middle of this step, or right after it."""
    twin = Twin(workflow, script)

    def die(here: Step) -> None:
        if here.name == name:
            twin.fuse.at = twin.fuse.passed
            if not finished:
                twin.fuse.point()

    twin.during = die
    with pytest.raises(Crash):
        twin.go()
    twin.during = lambda here: None
    twin.revive()
    twin.effects.clear()
    assert twin.saved.intent is not None
    return twin


def test_an_attempt_that_had_finished_is_taken_and_not_repeated() -> None:
    twin = cut_off(LINE, "check", {"check": ["bad", "ok"]}, finished=True)
    assert twin.go()[1] == FINISHED
    assert twin.effects[:2] == ["recover check", "save recover check"]
    recovered = next(saved for saved in twin.history if saved.event == "recover")
    assert recovered.details == {"step": "check", "outcome": "bad", "note": "check was performed", "to": "write"}
    assert recovered.run.intent is None
    assert twin.performed == ["write", "check", "write", "check"]


def test_an_attempt_that_had_not_finished_runs_again() -> None:
    twin = cut_off(LINE, "check")
    assert twin.go()[1] == FINISHED
    assert twin.effects[:3] == ["recover check", "save begin check", "perform check"]
    assert twin.performed == ["write", "check"]


def test_a_new_attempt_has_a_new_name() -> None:
    twin = cut_off(LINE, "check")
    twin.go()
    calls = [saved.run.intent.call for saved in twin.history if saved.run.intent]
    assert len(calls) == len(set(calls)) == 3


def test_a_recovered_outcome_the_table_does_not_have_runs_again() -> None:
    twin = cut_off(LINE, "check", {"check": ["perhaps"]}, finished=True)
    twin.script.clear()
    assert twin.go()[1] == FINISHED
    assert twin.performed == ["write", "check", "check"]


@pytest.mark.parametrize("own", [True, False])
def test_an_interrupted_attempt_follows_its_edge(own: bool) -> None:
    workflow = table(
        step("a", done="z", interrupted="tidy") if own else step("a", done="z"),
        step("tidy", done="a"),
        step("z", "end"),
        defaults={} if own else {"interrupted": Edge("tidy")},
    )
    twin = cut_off(workflow, "a")
    twin.go()
    assert twin.effects[:2] == ["recover a", "save recover a"]
    assert twin.performed == ["tidy", "a"]


def test_an_attempt_that_had_finished_was_not_interrupted() -> None:
    workflow = table(step("a", done="z", interrupted="tidy"), step("tidy", done="a"), step("z", "end"))
    twin = cut_off(workflow, "a", finished=True)
    twin.go()
    assert twin.performed == ["a"]


def test_a_run_that_was_not_cut_off_recovers_nothing() -> None:
    twin = Twin(LINE)
    twin.go(steps=1)
    twin.go()
    assert "recover check" not in twin.effects


# Going back

RESTART = table(
    step("plan", phase="plan", produces=("plan.md",), done="code"),
    step("code", phase="code", needs=("plan.md",), produces=("code.py",), done="test"),
    step("test", phase="test", needs=("code.py",), produces=("test.json",), done="over", red="stuck"),
    step("stuck", "ask", phase="test", restart=Edge("look", rewind=True)),
    step("look", "ask", phase="code", go="code"),
    step("over", "end", phase="over"),
)


def test_what_a_rewind_takes_away_is_gone_before_anything_else_happens() -> None:
    twin = Twin(RESTART, {"test": ["red"], "stuck": ["restart"], "look": ["go"]})
    assert twin.go()[1] == Stop("finished", "over")
    back = twin.effects.index("save end stuck")
    assert twin.effects[back + 1 : back + 4] == ["clear code.py test.json", "save clear", "ask look"]
    assert twin.artifacts == {"plan.md", "code.py", "test.json"}


def test_a_rewind_takes_away_even_when_nothing_more_is_to_be_done_now() -> None:
    twin = Twin(RESTART, {"test": ["red"], "stuck": ["restart"]})
    assert twin.go()[1] == Stop("waiting", "look")
    assert twin.artifacts == {"plan.md"}


def test_what_a_person_makes_after_a_rewind_is_theirs() -> None:
    twin = Twin(RESTART, {"test": ["red"], "stuck": ["restart"]})
    twin.go()
    twin.artifacts.add("code.py")
    assert twin.go()[1] == Stop("waiting", "look")
    assert "code.py" in twin.artifacts


def test_taking_away_twice_does_no_harm() -> None:
    twin = Twin(RESTART, {"test": ["red"]})
    twin.go()
    twin.script |= {"stuck": ["restart"], "look": ["go"]}
    before_all, after_one = 3, 1
    for point in (before_all, after_one, after_one):
        twin.revive(point)
        with pytest.raises(Crash):
            twin.go()
        assert twin.saved.clear == ("code.py", "test.json")
    twin.revive()
    assert twin.go()[1] == Stop("finished", "over")
    assert twin.effects.count("clear code.py test.json") == 3
    assert twin.performed == ["plan", "code", "test", "code", "test"]


# Children

TASK = table(
    step("work", done="judge"),
    step("judge", ok="kept", bad="dropped", worse="burnt", unsure="choose"),
    step("choose", "ask", keep="kept"),
    step("kept", "end", what="done"),
    step("dropped", "end", what="bad"),
    step("burnt", "end", what="worse"),
)
TASKS = table(
    step("tasks", "each", what="task", done="over", worse="worst", bad="help"),
    step("help", "ask", again="@again"),
    step("worst", "ask", again="@again"),
    step("over", "end"),
)
BAD: Script = {"judge": ["bad"]}
WORSE: Script = {"judge": ["worse"]}
UNSURE: Script = {"judge": ["unsure"]}


def parent(*items: Item | str, at_once: int = 1, script: Script | None = None, **scripts: Script) -> Twin:
    """A run of children; each keyword is what the first child of an item does, the later ones go forward."""
    listed = tuple(Item(item) if isinstance(item, str) else item for item in items)
    return Twin(TASKS, script, Children(TASK, listed, {name: (first, {}) for name, first in scripts.items()}, at_once))


def lives(twin: Twin) -> dict[str, list[list[str]]]:
    """What every child of every item performed, the dead ones first."""
    known = dict.fromkeys([*twin.buried, *twin.children])
    return {
        name: [child.performed for child in [*twin.buried.get(name, ()), *filter(None, [twin.children.get(name)])]]
        for name in sorted(known)
    }


WHOLE = ["work", "judge"]


def test_every_item_is_a_run_of_its_own() -> None:
    twin = parent("a", "b")
    assert twin.go()[1] == Stop("finished", "over")
    assert twin.events == ["begin tasks", "end tasks"]
    assert lives(twin) == {"a": [WHOLE], "b": [WHOLE]}
    assert {child.saved.result for child in twin.children.values()} == {"done"}


def test_no_items_are_done_at_once() -> None:
    assert parent().go()[1] == Stop("finished", "over")


def test_the_outcome_is_the_first_word_listed_that_is_not_forward() -> None:
    twin = parent("a", "b", "c", b=BAD, c=WORSE)
    assert twin.go()[1] == Stop("waiting", "worst")
    assert twin.history[1].details["outcome"] == "worse"
    assert twin.history[1].details["note"] == "b bad, c worse"


def test_a_last_word_the_table_does_not_list_is_never_taken_for_the_way_forward() -> None:
    workflow = with_step(TASKS, step("tasks", "each", what="task", done="over", bad="help"))
    twin = Twin(workflow, None, Children(TASK, (Item("a"), Item("b")), {"b": (WORSE,)}))
    with pytest.raises(AgentdError, match=r"Step tasks cannot end with 'worse' \(its outcomes: done, bad\)"):
        twin.go()


def test_what_depends_on_an_item_that_ended_badly_waits_for_its_new_attempt() -> None:
    twin = parent("a", Item("b", ("a",)), "c", a=BAD, script={"help": ["again"]})
    assert twin.go()[1] == Stop("finished", "over")
    assert lives(twin) == {"a": [WHOLE, WHOLE], "b": [WHOLE], "c": [WHOLE]}
    assert [effect for effect in twin.effects if effect.startswith("child")] == [
        *("child a", "child c"),
        *("child a", "child b", "child c"),
    ]


def test_children_that_ended_badly_are_cleared_before_the_next_step_and_start_anew() -> None:
    twin = parent("a", "b", a=BAD, script={"help": ["again"]})
    assert twin.go()[1] == Stop("finished", "over")
    ended = twin.effects.index("save end tasks")
    assert twin.effects[ended + 1 : ended + 4] == ["clear children/tasks/a/", "save clear", "ask help"]
    assert lives(twin) == {"a": [WHOLE, WHOLE], "b": [WHOLE]}


def test_children_that_failed_without_a_way_on_start_anew_as_well() -> None:
    failing = with_step(TASK, step("dropped", "end", what="failed"))
    twin = Twin(TASKS, None, Children(failing, (Item("a"), Item("b")), {"a": (BAD, {})}))
    assert twin.go()[1] == Stop("failed", "a failed")
    assert twin.saved.intent is None
    assert twin.go()[1] == Stop("finished", "over")
    assert lives(twin) == {"a": [WHOLE, WHOLE], "b": [WHOLE]}


@pytest.mark.parametrize("at_once", [1, 3])
def test_a_childs_question_pauses_the_parent_while_the_others_finish(at_once: int) -> None:
    twin = parent("a", Item("after", ("a",)), "b", "c", at_once=at_once, a=UNSURE)
    run, stop = twin.go()
    assert stop == Stop("waiting", "a: choose")
    assert run == twin.saved == Run("small", "twin", "one", "tasks", begun=True)
    assert twin.events == ["begin tasks", "pause tasks"]
    assert {name: child.saved.step for name, child in twin.children.items()} == {
        "a": "choose",
        "b": "kept",
        "c": "kept",
    }


def test_finished_children_never_run_again_and_an_asked_one_goes_on_from_its_question() -> None:
    twin = parent("a", Item("after", ("a",)), "b", a=UNSURE)
    twin.go()
    twin.children["a"].script["choose"] = ["keep"]
    assert twin.go()[1] == Stop("finished", "over")
    assert lives(twin) == {"a": [WHOLE], "after": [WHOLE], "b": [WHOLE]}


def test_a_child_that_ended_badly_is_kept_while_another_waits() -> None:
    twin = parent("a", "b", a=UNSURE, b=BAD)
    assert twin.go()[1] == Stop("waiting", "a: choose")
    twin.children["a"].script["choose"] = ["keep"]
    assert twin.go()[1] == Stop("waiting", "help")
    assert lives(twin) == {"a": [WHOLE], "b": [WHOLE]}


class Told(Twin):
    """A world whose children stop as they are told."""

    def __init__(self, stops: Mapping[str, Stop]) -> None:
        super().__init__(TASKS, None, Children(TASK, [Item(name) for name in stops]))
        self.stops = stops

    def drive_child(self, run: Run, step: Step, item: Item) -> Stop:
        return self.stops[item.id]


@pytest.mark.parametrize("why", ["failed", "blocked", "waiting", "stopped", "elsewhere", "paused"])
def test_a_child_that_did_not_finish_holds_the_parent(why: Why) -> None:
    twin = Told({"a": Stop("finished", "done"), "b": Stop(why, "bad"), "c": Stop("finished", "bad")})
    assert twin.go() == (Run("small", "twin", "one", "tasks", begun=True), Stop(why, "b: bad"))
    assert twin.events == ["begin tasks", "pause tasks"]
    assert twin.history[-1].details["note"] == "b: bad"


def test_a_failed_child_is_told_of_before_a_waiting_one() -> None:
    twin = Told(
        {"a": Stop("stopped"), "b": Stop("waiting", "q"), "c": Stop("failed", "no"), "d": Stop("failed", "not")}
    )
    assert twin.go()[1] == Stop("failed", "c: no; d: not")


def test_stopping_lets_the_child_under_way_end_its_step_and_starts_no_other() -> None:
    twin = parent("a", "b")
    twin.stop_when = "child a"
    run, stop = twin.go()
    assert (stop.why, run.intent) == ("stopped", None)
    assert twin.events == ["begin tasks", "pause tasks"]
    assert list(twin.children) == ["a"]
    twin.stop, twin.stop_when = False, ""
    assert twin.go()[1] == Stop("finished", "over")
    assert lives(twin) == {"a": [WHOLE], "b": [WHOLE]}


def test_stopping_keeps_a_child_that_ended_badly_for_later() -> None:
    twin = parent("a", "b", a=BAD)
    twin.during = lambda here: setattr(twin, "stop", here.name == "judge")
    assert twin.go()[1] == Stop("stopped", "tasks")
    assert twin.events == ["begin tasks", "pause tasks"]
    twin.stop, twin.during = False, lambda here: None
    assert twin.go()[1] == Stop("waiting", "help")
    assert lives(twin) == {"a": [WHOLE], "b": [WHOLE]}


def test_items_that_never_started_are_never_taken_for_done() -> None:
    class Brief(Told):
        """A person who asked to stop, and took it back before the step was over."""

        asked = 0

        def stopping(self) -> bool:
            self.asked += 1
            return self.asked == 3

    twin = Brief({"a": Stop("finished", "done"), "b": Stop("finished", "done")})
    assert twin.go() == (Run("small", "twin", "one", "tasks", begun=True), Stop("stopped", "tasks"))


def test_children_work_at_the_same_time() -> None:
    both = threading.Barrier(2)
    twin = parent("a", "b", at_once=2)
    twin.during = lambda here: both.wait(PATIENCE) if here.name == "work" else None
    assert twin.go()[1] == Stop("finished", "over")


def test_an_error_in_one_child_is_raised_when_the_others_are_over_and_leaves_the_step_begun() -> None:
    twin = parent("a", "b", at_once=2, a={"judge": ["perhaps"]})
    both = threading.Barrier(2)
    twin.during = lambda here: both.wait(PATIENCE) if here.name == "work" else None
    with pytest.raises(AgentdError, match="cannot end with 'perhaps'"):
        twin.go()
    assert twin.saved.intent is not None
    assert twin.children["b"].saved.result == "done"


# Dying anywhere

JOURNEY = table(
    step("plan", phase="plan", produces=("plan.md",), done="optional"),
    step("optional", phase="plan", when=("wanted",), done="review"),
    step("review", "agent", phase="plan", needs=("plan.md",), ok="tasks", again=Edge("plan", at_most=1, then="steer")),
    step("steer", "ask", phase="plan", retry="plan", accept="tasks"),
    step("tasks", "each", phase="code", what="task", done="test", bad=Edge("@again", at_most=1, then="stuck")),
    step(
        "test",
        phase="test",
        produces=("test.json",),
        green="over",
        red=Edge("tasks", at_most=1, then="stuck", rewind=True),
    ),
    step("stuck", "ask", phase="test", again="@again", leave=Edge("@past", waive=True)),
    step("over", "end", phase="over"),
)


def journey(at_once: int = 1, remembers: bool = True) -> Twin:
    """A run through everything: a skip, a loop, a spent budget, a question, a rewind, children that fail and ask."""
    items = (Item("a"), Item("b", ("a",)), Item("c"))
    scripts: dict[str, tuple[Script, ...]] = {"a": (BAD, {}), "c": ({"judge": ["unsure"], "choose": ["keep"]}, {})}
    script: Script = {
        "review": ["again", "again", "again", "ok"],
        "steer": ["retry"],
        "test": ["red", "red"],
        "stuck": ["leave"],
    }
    twin = Twin(JOURNEY, script, Children(TASK, items, scripts, at_once))
    twin.holds["wanted"] = "not wanted"
    twin.remembers = remembers
    return twin


UNHURT = journey()
UNHURT.go()
POINTS = UNHURT.fuse.passed


def crash_and_resume(twin: Twin, *points: int) -> None:
    for point in points:
        twin.revive(point)
        with contextlib.suppress(Crash):
            twin.go()
    twin.revive()
    assert twin.go()[1] == Stop("finished", "over")


def ends(twin: Twin) -> list[tuple[str, str, Run]]:
    """Every step that ended and the position it led to, however often it took."""
    kept = [saved for saved in twin.history if saved.event in ("end", "recover", "skip")]
    return [(saved.details["step"], saved.details.get("outcome", ""), saved.run) for saved in kept]


def effort(twin: Twin) -> int:
    """How many steps were performed, those of children included."""
    return len(twin.performed) + sum(len(child) for item in lives(twin).values() for child in item)


def test_the_journey_goes_everywhere() -> None:
    assert {saved.event for saved in UNHURT.history} == {"begin", "end", "skip", "clear"}
    assert UNHURT.saved == Run(
        "small", "twin", "over", "over", {"review.again": 1}, waived=("test.json",), result="over"
    )
    assert lives(UNHURT) == {"a": [WHOLE] * 3, "b": [WHOLE] * 2, "c": [WHOLE] * 2}
    assert POINTS > 100


@pytest.mark.parametrize("point", range(POINTS))
def test_dying_anywhere_changes_nothing_and_repeats_no_finished_step(point: int) -> None:
    twin = journey()
    crash_and_resume(twin, point)
    assert twin.saved == UNHURT.saved
    assert ends(twin) == ends(UNHURT)
    assert twin.performed == UNHURT.performed
    assert lives(twin) == lives(UNHURT)
    assert twin.artifacts == UNHURT.artifacts


@pytest.mark.parametrize("point", range(POINTS))
def test_dying_where_nothing_can_be_recovered_repeats_at_most_the_step_under_way(point: int) -> None:
    twin = journey(remembers=False)
    crash_and_resume(twin, point)
    assert twin.saved == UNHURT.saved
    assert ends(twin) == ends(UNHURT)
    assert effort(twin) - effort(UNHURT) in (0, 1)


@given(st.lists(st.integers(0, POINTS - 1), min_size=1, max_size=6), st.integers(1, 3))
def test_dying_again_and_again_changes_nothing(points: list[int], at_once: int) -> None:
    twin = journey(at_once)
    crash_and_resume(twin, *points)
    assert twin.saved == UNHURT.saved
    assert ends(twin) == ends(UNHURT)
    assert twin.performed == UNHURT.performed
    assert lives(twin) == lives(UNHURT)
