"""Plans of several specs for the agents of the sandbox, and an agent that writes down what it was given."""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.sandbox import CHANGE, YES, Sandbox

SHORT = "Give the most frequent words"
SPY = """
import json, os
from dataclasses import asdict, replace
from agentd.agents.scripted import command as scripted, read

def command(job):
    with open(os.environ["SPY_LOG"], "a", encoding="utf-8") as log:
        log.write(json.dumps(asdict(job)) + "\\n")
    return scripted(replace(job, settings={"script": job.settings["command"]}))
"""
TELL = "import json, os, sys; print(json.dumps({'cwd': os.getcwd(), **os.environ}), file=open(sys.argv[1], 'a'))"
SMALL = {
    "id": "small",
    "model": "flash",
    "complexity": "medium",
    "reasoning": "medium",
    "cost_per_1m_input": 0.1,
    "cost_per_1m_output": 0.4,
}
LARGE = {
    "id": "large",
    "model": "pro",
    "complexity": "critical",
    "reasoning": "extra high",
    "cost_per_1m_input": 1.25,
    "cost_per_1m_output": 10.0,
}

QUESTIONS = yaml.safe_dump(
    {
        "change": CHANGE,
        "questions": [
            {"topic": topic, "question": f"Which {topic}?", "options": [f"{topic} one", f"{topic} two"]}
            for topic in ("Ties", "Case", "Output")
        ],
    }
)


def proposal(affected: str) -> str:
    """A proposal with this line about the specs it affects."""
    return f"""---
id: {{{{run}}}}
type: proposal
---

# Change: {{{{run}}}}

## Summary
The most frequent words of a text.

## Why
People sort them by hand today.

## What Changes
- A function that gives them

## Impact
- Scope: minor
- Affected Files: 2
{affected}
"""


def spec(name: str = "{{item}}") -> str:
    return f"""---
id: {name}
type: spec
---

# The spec {name}

## Overview
What {name} does.

## Requirements

### R1 - First
The program SHALL do {name}.

## Acceptance Criteria

### Scenario: it works
- **WHEN** {name} is asked for
- **THEN** it is done
"""


def tasks(*refs: str) -> str:
    """A task for each of these requirements."""
    listed = [
        f"### Task 2.{number}: Do {ref}\n- File: tally/part{number}.py (CREATE)\n- Spec: {ref}\n"
        for number, ref in enumerate(refs, 1)
    ]
    head = "---\nid: tasks\nchange_id: {{run}}\ntype: tasks\n---\n\n# Tasks\n\n## 2. Logic Layer\n\n"
    return head + "\n".join(listed)


def plan_of(*names: str, affected: str = "", times: int = 1) -> dict[str, Any]:
    """What agents do that write a change of these specs, with so many tasks for each."""
    line = affected or f"- Affected specs: {', '.join(f'`{name}`' for name in names)}"
    refs = [f"{name}:R1" for name in names for _ in range(times)] or ["none"]
    return {
        "propose": {"documents": {"proposal.md": proposal(line)}},
        "write_spec": {"documents": {"specs/{{item}}.md": spec()}},
        "break_down": {"documents": {"tasks.md": tasks(*refs)}},
        "challenge": YES,
    }


def steps(sandbox: Sandbox, event: str = "begin", folder: Path | None = None) -> list[str]:
    """The steps of which the diary of a run says this, in order."""
    return [each["step"] for each in sandbox.events(folder) if each["event"] == event]


def answered(sandbox: Sandbox, **answers: Any) -> tuple[str, str]:
    """The option that has these answers given to whatever is asked."""
    path = sandbox.root.parent / "answers.yaml"
    path.write_text(yaml.safe_dump(answers), encoding="utf-8")
    return "--answers", str(path)


@dataclass(frozen=True)
class Spy:
    """What every agent of a sandbox was given."""

    log: Path

    @property
    def jobs(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]

    def of(self, step: str, item: str = "") -> list[dict[str, Any]]:
        return [job for job in self.jobs if job["step"] == step and (not item or job["item"] == item)]


def spied(sandbox: Sandbox) -> Spy:
    """Have every role of a sandbox played by an agent of another package that keeps its jobs and then plays the script."""
    site, log = sandbox.root.parent / "site", sandbox.root.parent / "jobs.jsonl"
    info = site / "spy-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "spy.py").write_text(SPY)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: spy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[agentd.agents]\nspy = spy\n")
    paths = (str(site), sandbox.env.get("PYTHONPATH", ""))
    sandbox.env |= {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "SPY_LOG": str(log)}
    sandbox.set("roles", **dict.fromkeys(("planner", "challenger", "implementer", "reviewer"), "spy"))
    sandbox.set("spy", command=str(sandbox.root / "agentd" / "demo.yaml"), models=[SMALL, LARGE])
    return Spy(log)


def told(sandbox: Sandbox, script: dict[str, Any]) -> tuple[dict[str, Any], Path]:
    """The script with agents that also write down where they run and in which environment, and where that is."""
    path = sandbox.root.parent / "environments.jsonl"
    run = [sys.executable, "-c", TELL, str(path)]
    return {step: _each(entry, run) for step, entry in script.items()}, path


def _each(entry: Any, run: Sequence[str]) -> Any:
    return [_each(one, run) for one in entry] if isinstance(entry, list) else {**entry, "run": list(run)}


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
