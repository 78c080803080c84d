"""Whole runs that happen once, and everything that they leave to look at: what each agent was sent, said and wrote."""

import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.landing.repositories import git, invariant
from tests.plan.plans import Spy, spied
from tests.sandbox import Ran, Sandbox, make_sandbox
from tests.staged.runs import ROLES, Staged, code, done, final, issue, review, task

# Two agents that both reach this line are at work at the same time.
MEET = """
import pathlib, sys, time
here, mine, other = pathlib.Path(sys.argv[1]), *sys.argv[2:]
(here / mine).touch()
end = time.monotonic() + 60
while not (here / other).exists():
    assert time.monotonic() < end, f"{other} is not at work at the same time"
    time.sleep(0.01)
"""
# What the file of the state says while an agent is at work.
TELL = """
import json, os, pathlib, sys
state = json.loads(pathlib.Path(sys.argv[1]).read_text())
kept = {key: state[key] for key in ("status", "currentStage", "currentPhase", "stages")}
with open(sys.argv[2], "a") as log:
    log.write(json.dumps({"step": os.environ["AGENTD_STEP"], **kept}) + "\\n")
"""
EFFORTS = [
    {
        "id": level,
        "model": "m",
        "complexity": level,
        "reasoning": reasoning,
        "cost_per_1m_input": 1.0,
        "cost_per_1m_output": 1.0,
    }
    for level, reasoning in (("low", "low"), ("medium", "medium"), ("high", "high"), ("critical", "extra high"))
]
BRAINSTORM = "# Approach\n\nOne function for each part, and a page about them.\n\n## Areas\n- logic\n- docs\n"
PAGE = (
    "### Task 1: A page\n**Files:** `docs/parts.md`\n**Dependencies:** logic\n**Complexity:** easy\n"
    "**Instructions:** Write about the parts.\n"
)


@dataclass(frozen=True)
class Done:
    """A run that is over, with the jobs of its agents and the person's checkout before and after."""

    staged: Staged
    spy: Spy
    ran: Ran
    seen: list[dict[str, Any]]
    before: dict[str, str]
    after: dict[str, str]

    def prompt(self, step: str, visit: int = 0) -> str:
        return str(self.spy.of(step)[visit]["prompt"])

    def sent(self, step: str, visit: int = 0) -> dict[str, Any]:
        """The input in it."""
        text = self.prompt(step, visit).partition("## Your input\n```json\n")[2].partition("\n```\n")[0]
        found: dict[str, Any] = json.loads(text)
        return found

    def steps(self) -> list[str]:
        """The calls, each as `step` or `item/step`, in their order."""
        return [f"{job['item']}/{job['step']}".removeprefix("/") for job in self.spy.jobs]

    def saw(self, step: str) -> dict[str, Any]:
        """What the state said while an agent worked at a step for the first time."""
        return next(one for one in self.seen if one["step"] == step)


def meeting(folder: Path, mine: str, other: str) -> list[str]:
    return [sys.executable, "-c", MEET, str(folder), mine, other]


def checkout(staged: Staged) -> dict[str, str]:
    """The person's checkout, but for what is agentd's own in it."""
    ours = ("./.agents", ".agents", "agentd", "refs/remotes/")
    return {name: value for name, value in invariant(staged.root).items() if not name.startswith(ours)}


def full(folder: Path) -> Done:
    """Three tasks, the first two at the same time; every review finds something once, and is content then."""
    staged = Staged(make_sandbox(folder))
    spy = spied(staged.sandbox)
    log = folder / "seen.jsonl"
    tell = [sys.executable, "-c", TELL, str(staged.folder / "state.json"), str(log)]
    staged.sandbox.set("spy", models=EFFORTS)
    staged.sandbox.set("roles", **dict.fromkeys(ROLES, "spy"))
    staged.sandbox.set("sandbox", mode="off")  # the agents tell what they see in a file outside
    staged.sandbox.set("staged", block_on_severity="medium")
    low, high = issue("LOW", "A blank too many."), issue("HIGH", "It is wrong.")
    mixed = review("needs_revision", low, high)
    plan = f"{task(1)}\n{task(2)}"
    merged = f"# The plan\n\n{plan}\n{PAGE.replace('Task 1', 'Task 3').replace('logic', 'Task 1, Task 2')}"
    staged.script(
        **{
            "explore@query-1": {"say": "The code is in tally/words.py.", "run": meeting(folder, "a", "b")},
            "explore@query-2": {"say": "The tests are in tests/.", "run": meeting(folder, "b", "a")},
            "plan@logic": {"say": plan, "run": meeting(folder, "c", "d")},
            "plan@docs": {"say": PAGE, "run": meeting(folder, "d", "c")},
            "implement@task-1": code(1, run=meeting(folder, "e", "f")),
            "implement@task-2": code(2, run=meeting(folder, "f", "e")),
            "implement@task-3": {"files": {"docs/parts.md": "# Parts\n"}, "say": done()},
        },
        brainstorm={"say": f"Let me think.\n{BRAINSTORM}", "run": tell},
        review_plan=[{**mixed, "run": tell}, review()],
        fix_plan={"say": merged, "run": tell},
        simplify={"files": {"tally/part1.py": "PART: int = 1\n"}, "say": "# Simplified\n\nA type.\n", "run": tell},
        review_implementation=[{**mixed, "run": tell}, review()],
        fix_implementation={"files": {"tally/part2.py": "PART: int = 2\n"}, "say": "It is repaired."},
        review_tests=[{**mixed, "run": tell}, review()],
        document={"files": {"README.md": "# tally\n\nParts.\n"}, "say": "# Documentation\n\nParts.\n", "run": tell},
        review_all=[{**final("approved", low, high), "run": tell}, final()],
    )
    with_requests(staged, folder)
    before = checkout(staged)
    ran = staged.start()
    assert ran.code == 0, ran.out + ran.err
    seen = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return Done(staged, spy, ran, seen, before, checkout(staged))


def with_requests(staged: Staged, folder: Path) -> None:
    """A remote to push to, and a `gh` that keeps what it was told."""
    git(folder, "init", "--quiet", "--bare", "there.git")
    git(staged.root, "remote", "add", "origin", str(folder / "there.git"))
    gh = folder / "bin" / "gh"
    gh.parent.mkdir()
    gh.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {folder}/words\necho https://example.org/pull/1\n")
    gh.chmod(0o755)
    staged.sandbox.env["PATH"] = f"{gh.parent}{os.pathsep}{staged.sandbox.env['PATH']}"


def branch(staged: Staged, path: str) -> str:
    return git(staged.root, "show", f"agentd/tmp:{path}")


@dataclass(frozen=True)
class Moment:
    """A run that waits for a person, to be taken up from there many times; its workspaces know where they are, so it stays there."""

    folder: Path
    ran: Ran

    @classmethod
    def of(cls, staged: Staged, *words: str) -> "Moment":
        """The moment to which a run comes by itself."""
        folder = staged.root.parent
        ran = staged.start(*words)
        shutil.copytree(folder, folder.with_name(f"{folder.name}-kept"), symlinks=True)
        return cls(folder, ran)

    def again(self) -> Staged:
        shutil.rmtree(self.folder)
        shutil.copytree(self.folder.with_name(f"{self.folder.name}-kept"), self.folder, symlinks=True)
        return Staged(Sandbox(self.folder / "repo"))


def prepared(folder: Path, **settings: Any) -> Staged:
    staged = Staged(make_sandbox(folder / "here"))
    staged.sandbox.set("staged", review_retries=1, stage_restarts=1, phase_retries=1, task_retries=1, **settings)
    return staged


def plan_is_stuck(folder: Path) -> Moment:
    """The review of the plan is never content."""
    staged = prepared(folder)
    staged.script(review_plan=review("needs_revision", issue()))
    return Moment.of(staged)


def code_is_stuck(folder: Path) -> Moment:
    """The review of the implementation is never content, and the one restart is used up."""
    staged = prepared(folder)
    typed = {"files": {"tally/part1.py": "PART: int = 1\n"}, "say": "# Simplified\n\nA type.\n"}
    staged.script(review_implementation=review("needs_revision", issue()), simplify=typed)
    return Moment.of(staged)


def tests_are_stuck(folder: Path) -> Moment:
    """The review of the tests is never content."""
    staged = prepared(folder)
    staged.script(review_tests=review("needs_revision", issue()))
    return Moment.of(staged)


def final_is_blocked(folder: Path) -> Moment:
    """The final review blocks, with an issue that is below the threshold."""
    staged = prepared(folder, block_on_severity="high")
    page = {"files": {"README.md": "# tally\n"}, "say": "# Documentation\n\nShort.\n"}
    staged.script(review_all=final("blocked", issue("LOW")), document=page)
    return Moment.of(staged)


def task_failed(folder: Path) -> Moment:
    """One of three tasks fails, and another one depends on it."""
    staged = prepared(folder)
    staged.script(
        plan={"say": f"{task(1)}\n{task(2)}\n{task(3, depends='Task 2')}"},
        **{
            "implement@task-1": code(1),
            "implement@task-2": {"fail": "error", "say": "boom"},
            "implement@task-3": code(3),
        },
    )
    return Moment.of(staged)
