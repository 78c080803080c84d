"""What a model does in a small change, one comment in one file: in the quick way, in the shortest other one, and by itself."""

from typing import Any

WORDS = "Say in a comment of tally/words.py what count gives"
RUN = r"change_id: (?P<run>[\w-]+)"
EDIT = {
    "file_path": "{{root}}/tally/words.py",
    "old_string": "    return found\n",
    "new_string": "    return found  # how often each word occurs\n",
}
SHELL = "sed -i 's/^    return found$/    return found  # how often each word occurs/' tally/words.py"
# How each program looks at the file and changes it, by a tool that only it has.
OWN: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "Edit": ({"Read": {"file_path": "{{root}}/tally/words.py"}}, {"Edit": EDIT}),
    "replace": (
        {"read_file": {"file_path": "{{root}}/tally/words.py"}},
        {"replace": {**EDIT, "instruction": "Add the comment."}},
    ),
    "exec_command": ({"exec_command": {"cmd": "cat tally/words.py"}}, {"exec_command": {"cmd": SHELL}}),
}
PROPOSAL = {
    "change_id": "{{run}}",
    "summary": "A comment says what count gives.",
    "why": "Readers look up what the numbers mean.",
    "what_changes": ["A comment in tally/words.py"],
    "impact": {"scope": "patch", "affected_files": 1, "affected_code": ["tally/words.py"]},
}
TASK = {
    "layer": "logic",
    "number": 1,
    "title": "Write the comment",
    "file": {"path": "tally/words.py", "action": "MODIFY"},
    "spec_ref": "none",
    "description": "Say what count gives.",
}
PLAN: list[list[dict[str, Any]]] = [
    [{"create_proposal": PROPOSAL}],
    [{"create_tasks": {"change_id": "{{run}}", "tasks": [TASK]}}],
]
APPROVED = "## Summary\nIt is small and complete.\n\n## Issues\nNone.\n\n## Verdict\n**Verdict**: APPROVED\n"
CHALLENGE = {"change_id": "{{run}}", "status": "approved", "iteration": 1, "reviewer": "{{who}}", "content": APPROVED}
REVIEW = {"change_id": "{{run}}", "iteration": 1, "verdict": "APPROVED", "issues": []}


def scenes() -> list[dict[str, Any]]:
    """The scenes of all three ways."""
    reads = [_read(name) for name in ("proposal.md", "tasks.md")]
    return [
        _scene("quick plan", f"planner of one small change.*{RUN}", *PLAN),
        _scene("plan", f"Plan one change completely.*{RUN}", [_read("GEMINI.md")], *PLAN),
        _scene("proposal review", f"Review the proposal of one change.*{RUN}", [_read("proposal.md")], say="PASS"),
        _scene(
            "challenge",
            rf"You are a senior reviewer.*{RUN}.*reviewer: (?P<who>[\w-]+)",
            reads,
            [{"append_review": CHALLENGE}],
        ),
        *(
            _scene(
                "implement",
                rf"You implement a part of an approved plan(?=.*{RUN}\n)(?=.*your working folder: (?P<root>[^\n]+))",
                [look, *reads],
                [edit],
                [{"finish_task": {"change_id": "{{run}}", "task_id": "logic.1"}}],
                tool=tool,
            )
            for tool, (look, edit) in OWN.items()
        ),
        _scene(
            "review",
            rf"have not written this code.*{RUN}",
            [_read("implementation.diff"), *reads],
            [{"create_review": REVIEW}],
        ),
        *(
            _scene("alone", rf"{WORDS} in (?P<root>\S+)", [look], [edit], tool=tool)
            for tool, (look, edit) in OWN.items()
        ),
    ]


def _scene(name: str, when: str, *calls: list[dict[str, Any]], say: str = "Done.", tool: str = "") -> dict[str, Any]:
    scene = {"name": name, "when": when, "turns": [*({"call": call} for call in calls), {"say": say}]}
    return {**scene, "with": tool} if tool else scene


def _read(name: str) -> dict[str, Any]:
    return {"agentd.read_file": {"change_id": "{{run}}", "file": name}}
