"""Sessions of the team workflow with scripted roles: what each says and writes, and a sandbox in which they are all played."""

import json
from pathlib import Path
from typing import Any

from agentd.text import lossless_yaml
from tests.landing.repositories import git
from tests.sandbox import Ran, Sandbox, write_script

GOAL = "Give the most frequent words of a text"
NAME = "s1"
PREPARED = "settings"
ROLES = (
    "spec_agent",
    "architect",
    "designer",
    "researcher",
    "planner",
    "coder",
    "reviewer",
    "qa",
    "security",
    "integrator",
    "docs",
)
SPEC = """# Most frequent words

## Goals
`top(text, n)` gives the n most frequent words.

## Acceptance Criteria
- AC-001: the most frequent word comes first

## Definition of Done
Green tests.
"""
CRITERIA = {
    "acceptance_criteria": [
        {
            "id": "AC-001",
            "description": "the most frequent word comes first",
            "verify": ["test: test_the_most_frequent_word_comes_first"],
        }
    ]
}
ARCHITECTURE = (
    "# Architecture\n\n## Overview\nOne function, for AC-001.\n\n## Modules\ntally/top.py\n\n## Risks\nNone known.\n"
)
REPORT = "# Report\n\n## What was done\nA function.\n\n## How to run\nImport it.\n\n## How to test\nmake test\n\n## Known issues\nNone.\n"
TOP = """from collections import Counter


def top(text: str, n: int) -> list[tuple[str, int]]:
    return Counter(text.split()).most_common(n)
"""
TOP_TEST = """import unittest

from tally.top import top


class Top(unittest.TestCase):
    def test_the_most_frequent_word_comes_first(self) -> None:
        self.assertEqual(top("a b b", 1), [("b", 2)])
"""


def say(status: str = "OK", summary: str = "It is done.", **parts: Any) -> str:
    """A reply that keeps to the contract."""
    next_ = parts.pop("next", {})
    gates = parts.pop("gates", {})
    return json.dumps({"status": status, "summary": summary, "artifacts": parts, "gates": gates, "next": next_})


def task(name: str = "T-001", **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "status": "not-started",
        "type": "feat",
        "title": f"Do {name}",
        "depends_on": [],
        "goal": f"The part {name} of the work",
        "non_goals": [],
        "context_files": [],
        "files_expected": ["tally/top.py", "tests/test_top.py"],
        "acceptance_checks": ["test: test_the_most_frequent_word_comes_first"],
        "risk_flags": ["none"],
        "done_when": ["the test is green"],
        **more,
    }


def plan(*tasks: dict[str, Any]) -> str:
    return lossless_yaml.dump({"project": {"name": "tally", "definition_of_done": ["green"]}, "tasks": [*tasks]})


def coded(**more: Any) -> dict[str, Any]:
    return {"files": {"tally/top.py": TOP, "tests/test_top.py": TOP_TEST}, "say": say(), **more}


def other_task(name: str, number: int, **more: Any) -> dict[str, Any]:
    """A task with files of its own."""
    files = [f"tally/part{number}.py", f"tests/test_part{number}.py"]
    return task(name, files_expected=files, acceptance_checks=[f"test: test_part_{number}"], **more)


def other_code(number: int, **more: Any) -> dict[str, Any]:
    test = (
        f"import unittest\n\nfrom tally.part{number} import PART\n\n\nclass Part(unittest.TestCase):\n"
        f"    def test_part_{number}(self) -> None:\n        self.assertEqual(PART, {number})\n"
    )
    files = {f"tally/part{number}.py": f"PART = {number}\n", f"tests/test_part{number}.py": test}
    return {"files": files, "say": say(), **more}


HONEST: dict[str, Any] = {
    "intake": {
        "documents": {"spec.md": SPEC, "acceptance.json": json.dumps(CRITERIA)},
        "say": say(),
    },
    "intake_lean": {
        "documents": {"spec.md": SPEC, "acceptance.json": json.dumps(CRITERIA), "tasks.yaml": plan(task())},
        "say": say(),
    },
    "design": {"documents": {"architecture.md": ARCHITECTURE}, "say": say()},
    "plan": {"documents": {"tasks.yaml": plan(task())}, "say": say()},
    "code": coded(),
    "document": {"documents": {"report.md": REPORT}, "say": say()},
    **{
        step: {"say": say()}
        for step in (
            "review",
            "test",
            "audit",
            "review_all",
            "test_all",
            "audit_all",
            "integrate",
            "release",
            "fix_review",
            "fix_tests",
            "fix_security",
            "fix_build",
            "fix_all",
            "lean_fix_build",
            "correct_spec",
            "correct_architecture",
            "correct_design",
        )
    },
}


class Session:
    """A sandbox with one session in it."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox, self.root = sandbox, sandbox.root
        if git(self.root, "log", "-1", "--format=%s") == PREPARED:  # a copy of one
            return
        write_script(self.script_file, HONEST)
        sandbox.set("roles", **dict.fromkeys(ROLES, "scripted"))
        sandbox.set("runs", wait_when_busy=False)
        sandbox.set("calls", nudges=0)
        git(self.root, "config", "user.name", "Ada")
        git(self.root, "config", "user.email", "ada@localhost")
        git(self.root, "add", "--all")
        git(self.root, "commit", "--quiet", "-m", PREPARED)

    @property
    def script_file(self) -> Path:
        return self.root / "agentd" / "demo.yaml"

    @property
    def folder(self) -> Path:
        return self.root / ".agents-work" / NAME

    def script(self, **steps: Any) -> None:
        self.sandbox.script(**steps)

    def start(self, *words: str, answers: dict[str, Any] | None = None) -> Ran:
        return self.sandbox.run("run", "team", GOAL, "--session", NAME, *words, *self._answers(answers))

    def resume(self, answers: dict[str, Any] | None = None) -> Ran:
        return self.sandbox.run("resume", f"team/{NAME}", *self._answers(answers))

    def answer(self, decision: str, value: str, note: str = "") -> Ran:
        return self.sandbox.run("answer", f"team/{NAME}", decision, value, *(["--note", note] if note else []))

    def decide(self, value: str, note: str = "") -> Ran:
        """Answer the open decision and go on."""
        (pending,) = self.pending()
        done = self.answer(pending["decision_id"], value, note)
        assert done.code == 0, done.err
        return self.resume()

    def _answers(self, answers: dict[str, Any] | None) -> list[str]:
        if answers is None:
            return []
        path = self.root.parent / "answers.yaml"
        path.write_text(json.dumps(answers))
        return ["--answers", str(path)]

    @property
    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "status.json").read_text())
        return found

    def pending(self) -> list[dict[str, Any]]:
        return [one for one in self.status.get("user_decisions", []) if one["status"] == "pending"]

    def decision(self, name: str) -> dict[str, Any]:
        (found,) = [one for one in self.status["user_decisions"] if one["decision_id"] == name]
        return dict(found)

    def tasks(self) -> dict[str, str]:
        data = lossless_yaml.parse((self.folder / "tasks.yaml").read_text(), "tasks.yaml").data
        return {one["id"]: one["status"] for one in data["tasks"]}

    def calls(self) -> list[str]:
        """The calls that were made, each as `item/step`, the oldest first."""
        return [str(one["call"]).rsplit("-", 1)[0] for one in self.status.get("llm_calls", [])]

    def landed(self) -> list[str]:
        return git(self.root, "log", "--reverse", "--format=%s", f"HEAD..agentd/{NAME}").splitlines()
