"""Staged runs with scripted agents: what each says and writes, and a sandbox in which they are all played."""

import json
from pathlib import Path
from typing import Any

from tests.landing.repositories import git
from tests.sandbox import Ran, Sandbox, write_script

TASK = "Give the most frequent words of a text"
NAME = "tmp"
PREPARED = "settings"
ROLES = (
    "explorer",
    "brainstormer",
    "planner",
    "implementer",
    "simplifier",
    "reviewer",
    "bug_fixer",
    "analyst",
    "documenter",
    "final_reviewer",
)
BRAINSTORM = "# Approach\n\nOne function for each part.\n\n## Areas\n- logic\n"


def task(number: int, files: tuple[str, ...] = (), depends: str = "none", complexity: str = "easy") -> str:
    named = ", ".join(f"`{name}`" for name in files or (f"tally/part{number}.py", f"tests/test_part{number}.py"))
    return (
        f"### Task {number}: Part {number}\n**Files:** {named}\n**Dependencies:** {depends}\n"
        f"**Complexity:** {complexity}\n**Instructions:** Do part {number}, with a test.\n"
    )


def plan(*tasks: str) -> str:
    return "\n".join(tasks or (task(1),))


def code(number: int, **more: Any) -> dict[str, Any]:
    """A task done: its code with a test."""
    test = (
        f"import unittest\n\nfrom tally.part{number} import PART\n\n\nclass Part(unittest.TestCase):\n"
        f"    def test_part_{number}(self) -> None:\n        self.assertEqual(PART, {number})\n"
    )
    files = {f"tally/part{number}.py": f"PART = {number}\n", f"tests/test_part{number}.py": test}
    return {"files": files, "say": done(), **more}


def done(status: str = "completed", summary: str = "It is done.", **more: Any) -> str:
    return json.dumps({"status": status, "summary": summary, **more})


def issue(severity: str = "HIGH", text: str = "It is wrong.") -> dict[str, str]:
    return {"severity": severity, "location": "tally/part1.py:1", "issue": text, "suggestion": "Repair it."}


def review(status: str = "approved", *issues: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"say": json.dumps({"status": status, "issues": [*issues], "summary": f"It is {status}.", **more})}


def final(status: str = "approved", *issues: dict[str, str]) -> dict[str, Any]:
    metrics = {"tasksCompleted": 1, "filesModified": 2, "linesChanged": 9, "testsPassed": True}
    return review(status, *issues, overallQuality="high", metrics=metrics, readyForCommit=status == "approved")


HONEST: dict[str, Any] = {
    "explore": {"say": "The code is in tally/words.py, its tests in tests/."},
    "brainstorm": {"say": BRAINSTORM},
    "plan": {"say": plan()},
    "review_plan": review(),
    "fix_plan": {"say": plan()},
    "implement": code(1),
    "fix": {"say": done()},
    "simplify": {"say": "# Simplified\n\nNothing was to be done.\n"},
    "review_implementation": review(),
    "fix_implementation": {"say": "It is repaired."},
    "analyze_failures": {"say": "# Analysis\n\nThe test was wrong.\n"},
    "review_tests": review(),
    "fix_tests": {"say": "It is repaired."},
    "document": {"say": "# Documentation\n\nThe README is right.\n"},
    "review_all": final(),
    "fix_all": {"say": "It is repaired."},
}


class Staged:
    """A sandbox with one staged run in it."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox, self.root = sandbox, sandbox.root
        if git(self.root, "log", "-1", "--format=%s") == PREPARED:  # a copy of one
            return
        write_script(self.script_file, HONEST)
        sandbox.set("roles", **dict.fromkeys(ROLES, "scripted"))
        sandbox.set("runs", wait_when_busy=False)
        sandbox.set("calls", nudges=0)
        sandbox.set("staged", backoff_secs=[0], max_parallel=2)
        git(self.root, "config", "user.name", "Ada")
        git(self.root, "config", "user.email", "ada@localhost")
        git(self.root, "add", "--all")
        git(self.root, "commit", "--quiet", "-m", PREPARED)

    @property
    def script_file(self) -> Path:
        return self.root / "agentd" / "demo.yaml"

    @property
    def folder(self) -> Path:
        return self.root / ".agents" / NAME

    def script(self, **steps: Any) -> None:
        self.sandbox.script(**steps)

    def start(self, *words: str) -> Ran:
        return self.sandbox.run("run", "staged", TASK, *words)

    def resume(self, *words: str) -> Ran:
        return self.sandbox.run("resume", f"staged/{NAME}", *words)

    def decide(self, value: str, note: str = "", resume: bool = True) -> Ran:
        """Answer the open decision and go on."""
        (pending,) = self.pending()
        words = ("answer", f"staged/{NAME}", pending["decision_id"], value, *(["--note", note] if note else []))
        said = self.sandbox.run(*words)
        assert said.code == 0, said.err
        return self.resume() if resume else said

    @property
    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "state.json").read_text())
        return found

    def pending(self) -> list[dict[str, Any]]:
        return [one for one in self.state.get("user_decisions", []) if one["status"] == "pending"]

    def phase(self, name: str) -> str:
        return (self.folder / "phases" / name).read_text()

    def data(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.phase(name))
        return found

    def phases(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "phases").iterdir())

    def calls(self) -> list[str]:
        """The calls that were made, each as `item/step`, the oldest first."""
        return [str(one["call"]).rsplit("-", 1)[0] for one in self.state.get("llm_calls", [])]

    def landed(self) -> list[str]:
        return git(self.root, "log", "--reverse", "--format=%s", f"HEAD..agentd/{NAME}").splitlines()
