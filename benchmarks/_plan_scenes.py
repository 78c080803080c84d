"""What a model does in a plan of three specs: it reads what the step names, writes the document, reviews it, ends."""

from typing import Any

SPECS = ("word-counts", "top-words", "report-format")
REQUIREMENTS = 3


def scenes() -> list[dict[str, Any]]:
    """The scenes of a whole plan: proposal, three specs, tasks, a self-review each, and a challenge that approves."""
    run = r"change_id: (?P<run>[\w-]+)"
    return [
        _scene("proposal", f"Write the proposal of one change.*{run}", _read("GEMINI.md"), _proposal()),
        _scene("proposal review", f"Review the proposal of one change.*{run}", _read("proposal.md"), say="PASS"),
        _scene(
            "spec",
            rf"Write one spec of a change.*{run}.*spec_id: (?P<spec>[\w-]+)",
            _read("proposal.md"),
            _spec("{{spec}}"),
        ),
        _scene(
            "spec review",
            rf"Review one spec of a change.*{run}.*specs/(?P<spec>[\w-]+)\.md",
            _read("specs/{{spec}}.md"),
            say="PASS",
        ),
        _scene("tasks", f"Break one change down into tasks.*{run}", _read("proposal.md", *_files()), _tasks()),
        _scene("tasks review", f"Review the tasks of one change.*{run}", _read("tasks.md"), say="PASS"),
        _scene(
            "challenge",
            rf"You are a senior reviewer.*{run}.*reviewer: (?P<reviewer>[\w-]+)",
            _read("proposal.md", *_files(), "tasks.md"),
            _review(),
        ),
    ]


def _scene(name: str, when: str, *calls: list[dict[str, Any]], say: str = "Done.") -> dict[str, Any]:
    return {"name": name, "when": when, "turns": [*({"call": call} for call in calls), {"say": say}]}


def _files() -> list[str]:
    return [f"specs/{name}.md" for name in SPECS]


def _read(*names: str) -> list[dict[str, Any]]:
    return [{"agentd.read_file": {"change_id": "{{run}}", "file": name}} for name in names]


def _proposal() -> list[dict[str, Any]]:
    sent = {
        "change_id": "{{run}}",
        "summary": "Count the words of a text, give the most frequent ones, and report them as a table.",
        "why": "People count words by hand or with three programs that disagree about what a word is. " * 3,
        "what_changes": [f"The part {name} is written and covered by tests" for name in SPECS],
        "impact": {
            "scope": "minor",
            "affected_files": 6,
            "new_files": 3,
            "affected_specs": list(SPECS),
            "affected_code": ["tally/words.py", "tally/__init__.py"],
        },
    }
    return [{"create_proposal": sent}]


def _spec(name: str) -> list[dict[str, Any]]:
    numbers = range(1, REQUIREMENTS + 1)
    sent = {
        "change_id": "{{run}}",
        "spec_id": name,
        "title": f"The part {name}",
        "overview": f"What {name} does for somebody who has a text and a question about its words. " * 2,
        "requirements": [
            {
                "id": f"R{number}",
                "title": f"Case {number} of {name}",
                "description": f"The program SHALL do case {number} of {name} the same way on every platform. " * 2,
                "priority": "high",
            }
            for number in numbers
        ],
        "scenarios": [
            {
                "name": f"case {number}",
                "given": "a text of two lines with the same word in both",
                "when": f"case {number} of {name} is asked for",
                "then": f"the answer for case {number} is given, and nothing else is printed",
            }
            for number in numbers
        ],
    }
    return [{"create_spec": sent}]


def _tasks() -> list[dict[str, Any]]:
    wanted = [(name, number) for name in SPECS for number in range(1, REQUIREMENTS + 1)]
    tasks = [
        {
            "layer": "logic",
            "number": count,
            "title": f"Case {number} of {name}",
            "file": {"path": f"tally/part{count}.py", "action": "CREATE"},
            "spec_ref": f"{name}:R{number}",
            "description": "Write the function with a docstring that says what it promises.",
        }
        for count, (name, number) in enumerate(wanted, 1)
    ]
    return [{"create_tasks": {"change_id": "{{run}}", "tasks": tasks}}]


def _review() -> list[dict[str, Any]]:
    content = (
        "## Summary\nEvery case is specified and has a task.\n\n## Issues\nNone.\n\n## Verdict\n**Verdict**: APPROVED\n"
    )
    sent = {
        "change_id": "{{run}}",
        "status": "approved",
        "iteration": 1,
        "reviewer": "{{reviewer}}",
        "content": content,
    }
    return [{"append_review": sent}]
