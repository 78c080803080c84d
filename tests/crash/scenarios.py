"""What is killed: one command in a repository at a certain stage, with agents that write down each time they run."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.quick_plans import scripted
from tests.crash.implementations import (
    asked_change,
    doubted_change,
    implemented_change,
    parted_change,
    planned_change,
    to_doubt,
)
from tests.crash.recorded import ANSWERS, after, with_record
from tests.plan.plans import QUESTIONS, SHORT, plan_of, spec
from tests.sandbox import CHANGE, IDEA, Sandbox, make_sandbox, reviewed

BATCH = """
name: batch
starts: {full: split}
steps:
  split: {phase: planning, agent: planner, produces: [tasks.yaml], next: {done: wishes}}
  wishes: {phase: planning, when: [wishes.md], agent: planner, next: {done: work}}
  work: {phase: working, needs: [tasks.yaml], each: piece, next: {done: look}}
  look:
    phase: working
    agent: reviewer
    produces: [look.md]
    next:
      good: sure
      again: {to: split, rewind: true, at_most: 1, then: sure}
  sure: {phase: working, needs: [look.md], ask: "Ship it?", next: {ship: over, drop: over}}
  over: {phase: over, end: done}
"""
PIECE = """
name: piece
of: tasks
starts: {full: make}
steps:
  make: {phase: making, agent: implementer, produces: [piece.md], next: {done: good, unsure: fine}}
  fine: {phase: making, needs: [piece.md], ask: "Is this piece good?", next: {good: good, again: make}}
  good: {phase: made, end: done}
"""
SHIP = """
name: ship
starts: {full: build}
steps:
  build: {phase: making, agent: implementer, produces: [notes.md], next: {done: sure}}
  sure:
    phase: making
    needs: [notes.md]
    ask: "Ship it?"
    next:
      ship: over
      again: {to: "@again", rewind: true}
  over: {phase: shipped, end: shipped}
"""
TASKS = "tasks:\n- {id: a}\n- {id: b, depends_on: [a]}\n- {id: c, depends_on: [a]}\n"
PIECES = {"documents": {"piece.md": "The piece {{item}}."}}
PERSON = """
clarification: [Ties two, Case one, {value: Only as text, note: the shell does the rest}]
git_setup: branch
steer: [fix]
"""
SPECS = ("top-words", "stop-words", "report")
NO = "needs_revision"


@dataclass(frozen=True)
class Scenario:
    """A command to kill.

    prepare   makes the repository it is given in
    then      what is typed after it, without being killed
    code      what it ends with
    anew      given again after its end it begins anew: it is not killed when its last save is done
    alone     one agent at a time, so none is ever cut off by the kill and none may run twice
    sample    at how many points it is killed in a sample
    parts     into how many tests all of its points are spread
    most      at how many points it is killed at most
    """

    name: str
    prepare: Callable[[Path], Sandbox]
    words: tuple[str, ...]
    then: tuple[tuple[str, ...], ...] = ()
    code: int = 0
    anew: bool = False
    alone: bool = True
    sample: int = 3
    parts: int = 1
    most: int = 10_000


def copy(prepared: Path, target: Path) -> Sandbox:
    """Another repository at the same stage; its agents write into its own record."""
    sockets = shutil.ignore_patterns(".tools.*.tmp")  # a killed command leaves its own, and no copy holds one
    shutil.copytree(prepared, target, symlinks=True, ignore=sockets)
    script = target / "agentd" / "demo.yaml"
    script.write_text(script.read_text(encoding="utf-8").replace(str(prepared), str(target)), encoding="utf-8")
    sandbox = Sandbox(target)
    temp = temporary(target)
    temp.mkdir()
    sandbox.env["TMPDIR"] = str(temp)
    return sandbox


def temporary(root: Path) -> Path:
    """Where the programs of a repository put what is not to stay."""
    return root.with_name(f"{root.name}.tmp")


def attended_plan(folder: Path) -> Sandbox:
    """One spec and a person: clarified, on a branch, a self-review that finds something, one round of revision."""
    sandbox = make_sandbox(folder)
    sandbox.set("workflow", human_in_loop=True, self_review_iterations=3)
    (sandbox.root / ANSWERS).write_text(PERSON)
    reworded = [["sort them by hand today", "sort them by hand"]]
    sandbox.script(
        draft_questions={"documents": {"questions.yaml": QUESTIONS}},
        review_proposal=[
            {"replace": {"run:proposal.md": reworded}, "say": "NEEDS_REVISION: shorter now"},
            {"say": "PASS: nothing to change"},
        ],
        challenge=[reviewed(NO, "Ties"), {"outcome": "approved", "say": in_words("approved")}],
    )
    return with_record(sandbox)


def wide_plan(folder: Path) -> Sandbox:
    """Three specs, nobody there, a worktree; the plan is refused twice, each time for another reason, once by the tool."""
    sandbox = make_sandbox(folder)
    sandbox.set("workflow", human_in_loop=False, self_review_iterations=0)
    better = [spec("top-words") + f"- **AND** it is better by {number}\n" for number in (1, 2)]
    sandbox.script(
        **plan_of(*SPECS)
        | {
            "write_spec": {"documents": {"specs/{{item}}.md": spec()}, "session": "about-{{item}}"},
            "challenge": [reviewed(NO, "Ties", "Speed"), by_tool(2, NO, "Case"), reviewed("approved")],
            "revise": [{"documents": {"specs/top-words.md": text}} for text in better],
        }
    )
    return with_record(sandbox)


def in_words(status: str, *issues: str) -> str:
    """The text of a review."""
    return str(reviewed(status, *issues)["documents"]["CHALLENGE.md"])


def by_tool(number: int, status: str, *issues: str) -> dict[str, Any]:
    """A challenger that reviews by its tool, which takes as long to start as ten agents."""
    said = in_words(status, *issues)
    wanted = {"change_id": CHANGE, "status": status, "iteration": number, "reviewer": "challenger", "content": said}
    return {"tools": [{"append_review": wanted}], "outcome": status}


def batch(folder: Path) -> Sandbox:
    """Children one at a time; the first look at their work rewinds it all, the second is content."""
    sandbox = wide(folder)
    with (sandbox.root / "agentd" / "config.toml").open("a") as config:
        config.write("\n[runs]\nmax_parallel = 1\n")
    look: list[dict[str, Any]] = [{"documents": {"look.md": word}, "outcome": word} for word in ("again", "good")]
    sandbox.script(look=look)
    return with_record(sandbox)


def wide(folder: Path) -> Sandbox:
    """Children side by side, no rewind."""
    sandbox = make_sandbox(folder)
    sandbox.own_workflow("batch", BATCH)
    sandbox.own_workflow("piece", PIECE)
    (sandbox.root / ANSWERS).write_text("UD-b-1: [good, good]\nsure: ship\n")
    sandbox.script(
        split={"documents": {"tasks.yaml": TASKS}},
        make={**PIECES, "outcome": "done"},
        look={"documents": {"look.md": "good"}, "outcome": "good"},
        **{"make@b": {**PIECES, "outcome": "unsure"}},
    )
    return with_record(sandbox)


def waiting(folder: Path) -> Sandbox:
    """A run that waits for a person."""
    sandbox = make_sandbox(folder)
    sandbox.own_workflow("ship", SHIP)
    sandbox.script(build=[{"documents": {"notes.md": text}} for text in ("first", "second")])
    with_record(sandbox)
    return after(sandbox, "run", "ship", "the release", "--name", "r1", code=4)


def answered(folder: Path) -> Sandbox:
    """A run whose person wants it all again, and will be content then."""
    sandbox = after(waiting(folder), "answer", "r1", "UD-1", "again")
    (sandbox.root / ANSWERS).write_text("UD-2: ship\n")
    return sandbox


def reminded(folder: Path) -> Sandbox:
    """An agent that asks, and asks again when it is reminded; at the second reminder it does its work."""
    sandbox = make_sandbox(folder)
    sandbox.own_workflow("ship", SHIP)
    sandbox.script(build={"say": "Shall I?", "session": "s-1"})
    with_record(sandbox)
    asks = sandbox.entry("build")
    done = {**asks, "documents": {"notes.md": "first"}}
    sandbox.script(build={**asks, "nudged": [asks, done]})
    (sandbox.root / ANSWERS).write_text("sure: ship\n")
    return sandbox


def quick_change(folder: Path) -> Sandbox:
    """A small change whose plan has to be repaired in form, with a person who says yes."""
    sandbox = scripted(make_sandbox(folder))
    good = sandbox.entry("sketch")["documents"]
    broken = {**good, "specs/top-words.md": good["specs/top-words.md"].replace("### R1", "### A1")}
    sandbox.script(
        sketch={"documents": broken},
        fix_sketch={"documents": {"specs/top-words.md": good["specs/top-words.md"]}},
    )
    (sandbox.root / ANSWERS).write_text("confirm: yes\n")
    return with_record(sandbox)


QUICK = ("quick", SHORT, "--id", CHANGE)
RUN_BATCH = ("run", "batch", "two of them", "--name", "b1", "--answers", ANSWERS)
AGAIN = ("impl", CHANGE, "--re-review")
SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("plan", attended_plan, ("plan", CHANGE, SHORT, "--answers", ANSWERS), sample=9, parts=24),
        Scenario("wide_plan", wide_plan, ("plan", CHANGE, IDEA, "--git", "worktree"), sample=3, parts=12, most=120),
        Scenario("impl", planned_change, ("impl", CHANGE), sample=5, parts=6),
        Scenario("impl_parts", parted_change, ("impl", CHANGE), sample=4, parts=4, most=32),
        Scenario("impl_asked", asked_change, ("impl", CHANGE, "--answers", ANSWERS), sample=3, parts=4, most=40),
        Scenario("re_review", implemented_change, AGAIN, anew=True, sample=2, parts=3),
        Scenario("re_review_refused", to_doubt, AGAIN, code=1, anew=True, sample=1, parts=3),
        Scenario("impl_resolve", doubted_change, ("impl", CHANGE, "--resolve"), anew=True, sample=2, parts=3),
        Scenario("quick", quick_change, (*QUICK, "--answers", ANSWERS), sample=5, parts=8),
        Scenario("quick_unreviewed", quick_change, (*QUICK, "--yes", "--no-review"), sample=3, parts=6, most=40),
        Scenario("archive", implemented_change, ("archive", CHANGE), sample=4, parts=2),
        Scenario("batch", batch, RUN_BATCH, sample=6, parts=16),
        Scenario("wide", wide, RUN_BATCH, alone=False, sample=2, parts=10),
        Scenario("reminded", reminded, ("run", "ship", "it", "--name", "r1", "--answers", ANSWERS), sample=6, parts=3),
        Scenario("answer", waiting, ("answer", "r1", "UD-1", "ship", "--note", "at last"), then=(("resume", "r1"),)),
        Scenario("answered", answered, ("resume", "r1", "--answers", ANSWERS), parts=3),
    )
}
