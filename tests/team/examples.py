"""Whole sessions that run once, and everything that they leave to look at: what each role was sent, said and wrote."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.landing.repositories import git, invariant, write
from tests.plan.plans import Spy, spied
from tests.sandbox import Ran, make_sandbox
from tests.team.sessions import (
    ARCHITECTURE,
    HONEST,
    REPORT,
    ROLES,
    SPEC,
    Session,
    other_code,
    other_task,
    plan,
    say,
    task,
)

INSTRUCTIONS = ".github/copilot-instructions.md"
DESIGN = "design-specs/design-spec-words.md"
# Files of the project that a task deletes and renames.
GONE, OLD, NEW = "tally/gone.py", "tally/old_name.py", "tally/new_name.py"
OLD_CODE = "".join(f"LINE_{number} = {number}\n" for number in range(12))
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
# Tells what the status of each task is while an agent is at work.
TELL = """
import json, os, pathlib, sys
found = [line.split()[-1] for line in pathlib.Path(sys.argv[1]).read_text().splitlines() if line.strip().startswith(("id:", "- id:", "status:"))]
with open(sys.argv[2], "a") as log:
    log.write(json.dumps({"step": os.environ["AGENTD_STEP"], "item": os.environ["AGENTD_ITEM"], "seen": found}) + "\\n")
"""


@dataclass(frozen=True)
class Done:
    """A session that ran, with the jobs of its agents and the person's checkout before and after."""

    session: Session
    spy: Spy
    ran: Ran
    before: dict[str, str]
    after: dict[str, str]

    def prompt(self, step: str, item: str = "") -> str:
        """What the last call of a step was sent."""
        return str(self.spy.of(step, item)[-1]["prompt"])

    def sent(self, step: str, item: str = "") -> dict[str, Any]:
        """The input of the contract in it."""
        found: dict[str, Any] = json.loads(
            self.prompt(step, item).partition('```json\n{\n  "task"')[2].join(['{"task"', ""]).partition("\n```")[0]
        )
        return found

    def steps(self) -> list[str]:
        """The dispatches, each as `step` or `item/step`, in their order."""
        return [f"{job['item']}/{job['step']}".removeprefix("/") for job in self.spy.jobs]


def _watched(folder: Path) -> tuple[Session, Spy]:
    sandbox = make_sandbox(folder)
    write(sandbox.root, {GONE: "HERE = 1\n", OLD: OLD_CODE})
    session = Session(sandbox)
    spy = spied(sandbox)
    sandbox.set("roles", **dict.fromkeys(ROLES, "spy"))
    sandbox.set("sandbox", mode="off")  # the agents tell what they see in a file outside
    return session, spy


def checkout(session: Session) -> dict[str, str]:
    """The person's checkout, but for what is agentd's own in it."""
    ours = ("./.agents-work", ".agents-work", "agentd")
    return {name: value for name, value in invariant(session.root).items() if not name.startswith(ours)}


def _run(session: Session, spy: Spy, *words: str, **answers: str) -> Done:
    before = checkout(session)
    ran = session.start(*words, answers=answers)
    assert ran.code == 0, ran.out + ran.err
    return Done(session, spy, ran, before, checkout(session))


def criteria(*verify: str) -> str:
    listed = [{"id": f"AC-{number:03}", "description": what, "verify": [what]} for number, what in enumerate(verify, 1)]
    return json.dumps({"acceptance_criteria": listed})


def meeting(folder: Path, mine: str, other: str) -> list[str]:
    return [sys.executable, "-c", MEET, str(folder), mine, other]


def per_batch(folder: Path) -> Done:
    """Four tasks: the first two at the same time; one that is documents only; one that deletes, renames and takes a password."""
    session, spy = _watched(folder)
    write(session.root, {INSTRUCTIONS: "Use tabs.\n", "CLAUDE.md": "Use spaces.\n"})
    git(session.root, "add", INSTRUCTIONS, "CLAUDE.md")
    git(session.root, "commit", "--quiet", "-m", "instructions")
    draft = {"assumptions": ["words are separated by blanks"], "project_type": "lib", "ui": "a new screen"}
    manual = task("T-003", type="docs", depends_on=["T-001"], files_expected=["docs/parts.md"])
    session.script(
        intake={
            "documents": {
                "spec.md": SPEC,
                "acceptance.json": criteria(
                    "test: test_part_1", "cmd: test -f tally/part2.py", "manual: the text is clear"
                ),
                "status-draft.json": json.dumps(draft),
            },
            "say": say(),
        },
        design={"documents": {"architecture.md": ARCHITECTURE, "adr/ADR-001.md": "# Why\n"}, "say": say()},
        design_ui={"documents": {DESIGN: "# Screen\n\n## Layout\nOne list.\n"}, "say": say()},
        plan={
            "documents": {
                "tasks.yaml": plan(
                    other_task("T-001", 1),
                    other_task("T-002", 2, risk_flags=["security"]),
                    {**manual, "acceptance_checks": ["manual: the text is clear"]},
                    other_task("T-004", 4, depends_on=["T-002", "T-003"], context_files=["README.md"]),
                )
            },
            "say": say(),
        },
        **{
            "code@T-001": other_code(1, run=meeting(folder, "one", "two")),
            "code@T-002": other_code(2, run=meeting(folder, "two", "one")),
            "code@T-003": {"files": {"docs/parts.md": "# Parts\n"}, "say": say()},
            "code@T-004": _renaming(),
        },
        integrate={"files": {"Makefile": "all:\n\ttrue\n"}, "say": say()},
        document={"documents": {"report.md": REPORT}, "files": {"README.md": "# tally\n\nParts.\n"}, "say": say()},
    )
    return _run(session, spy, approve_design="approved", choose_strategy="per-batch", confirm_checks="confirmed")


def _renaming() -> dict[str, Any]:
    """A task that deletes a file, renames another, and asks for a password."""
    made = other_code(4)
    asks = "def ask(password: str) -> bool:\n    return bool(password)\n"
    return {**made, "files": {**made["files"], NEW: OLD_CODE, "tally/ask.py": asks}, "delete": [GONE, OLD]}


def single_final(folder: Path) -> Done:
    """Two tasks that could run at the same time, and a combined review that first blocks."""
    session, spy = _watched(folder)
    tell = [sys.executable, "-c", TELL, str(session.folder / "tasks.yaml"), str(folder / "told.jsonl")]
    session.script(
        intake={"documents": {"spec.md": SPEC, "acceptance.json": criteria("test: test_part_4")}, "say": say()},
        plan={
            "documents": {
                "tasks.yaml": plan(
                    other_task("T-001", 1), other_task("T-004", 4), other_task("T-005", 5, depends_on=["T-001"])
                )
            },
            "say": say(),
        },
        **{
            "code@T-001": other_code(1, run=tell),
            "code@T-004": {**_renaming(), "run": tell},
            "code@T-005": other_code(5, run=tell),
        },
        review_all=[
            {"say": say("BLOCKED", "PART is no good name.", verdict="NEEDS FIXES"), "run": tell},
            {"say": say(), "run": tell},
        ],
        fix_review={"files": {"tally/fixed.py": "FIXED = 1\n"}, "say": say(), "run": tell},
        integrate={**HONEST["integrate"], "run": tell},
    )
    return _run(session, spy, approve_design="approved", choose_strategy="single-final")


def lean(folder: Path) -> Done:
    session, spy = _watched(folder)
    return _run(session, spy, "--lean")
