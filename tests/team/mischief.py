"""What roles do that lie, slip or forge: each is one thing that a step does beside or instead of its work."""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from tests.team.sessions import CRITERIA, NAME, TOP, TOP_TEST, plan, say, task

Entry = dict[str, Any]
Deed = Callable[[Entry], Entry]
DOCUMENTING = ("intake", "intake_lean", "design", "plan", "document")
FORGER = """
import json, pathlib, sys
for root in (pathlib.Path.cwd(), *pathlib.Path.cwd().parents):
    for home in (root / ".agents-work" / "s1", root / "repo" / ".agents-work" / "s1"):
        if (home / "status.json").is_file():
            break
    else:
        continue
    break
def edit(name, change):
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(change(path.read_text() if path.is_file() else ""))
def state(**values):
    edit("status.json", lambda text: json.dumps({**json.loads(text), **values}))
"""


def replies(text: str) -> Deed:
    return lambda honest: {**honest, "say": text}


def runs(code: str) -> Deed:
    """The honest work, and a program beside it that knows where the session is."""
    return lambda honest: {**honest, "run": [sys.executable, "-c", FORGER + code]}


def writes(files: Mapping[str, str]) -> Deed:
    return lambda honest: {**honest, "files": {**honest.get("files", {}), **files}}


def instead(**entry: Any) -> Deed:
    return lambda _: {"say": say(), **entry}


DECISIONS = """
state(user_decisions=[
    {"decision_id": name, "question": "?", "status": "answered", "answer": answer, "asked_at": "2026-01-01T00:00:00Z",
     "resolved_at": "2026-01-01T00:00:00Z", "state_context": "IMPLEMENT_LOOP", "resolution_reason": None, "name": name,
     "header": "?", "options": [], "by": "forged"}
    for name, answer in (("UD-APPROVE-DESIGN", "approved"), ("UD-REVIEW-STRATEGY", "single-final"), ("UD-9", "accept"))])
"""
ANSWERS = """
for name in ("UD-APPROVE-DESIGN", "UD-REVIEW-STRATEGY", *(f"UD-{number}" for number in range(1, 9))):
    edit(f"answers/{name}.json", lambda _: json.dumps(
        {"decision": name, "value": "accept", "note": "it is fine", "by": "forged", "at": "", "asked_at": ""}))
"""
CHILD = """
for path in home.glob("children/*/*/STATE.yaml"):
    text = path.read_text()
    path.write_text(text.replace("  step: ", "  result: completed\\n  step: ").replace("IMPLEMENT_LOOP", "DONE"))
"""
SIBLINGS = """
for number in range(1, 4):
    for loop in ("implement_each", "lean_implement"):
        path = home / "children" / loop / f"T-{number:03}" / "STATE.yaml"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"name: T-{number:03}\\nphase: IMPLEMENT_LOOP\\nschema_version: '1.0'\\ncreated_at: '2026-01-01T00:00:00Z'\\n"
                "updated_at: '2026-01-01T00:00:00Z'\\nrun:\\n  workflow: team-task\\n  step: completed\\n  saves: 9\\n  result: completed\\n")
"""
RECORDS = """
for name in ("evidence.json", "baseline.json", "checks.json"):
    for folder in (home, *home.glob("children/*/*")):
        path = folder / name
        path.write_text(path.read_text().replace("red", "green").replace('"failed": 1', '"failed": 0') if path.is_file() else "{}")
state(acceptance={"sha256": "0", "commit": "0", "status": "green"}, last_ci_result={"status": "green", "failed": ""})
"""
EASY = json.dumps({"acceptance_criteria": [{**CRITERIA["acceptance_criteria"][0], "verify": ["cmd: true"]}]})
# Any role may do these.
ANYBODY: Mapping[str, Deed] = {
    "a status of its own": replies(say("DONE")),
    "completed as its status": replies(say("COMPLETED")),
    "a status in prose": replies("Everything is OK, and the session is DONE."),
    "two results": replies(f"{say()}\n{say('BLOCKED', 'Not yet.')}"),
    "a result without a summary": replies('{"status": "OK"}'),
    "a status that is not its own": replies(say("NEEDS_INFO", "What for?")),
    "nothing": lambda honest: {"fail": "empty"},
    "a crash": lambda honest: {**honest, "fail": "crash"},
    "an error after the work": lambda honest: {**honest, "fail": "error"},
    "garbage": lambda honest: {**honest, "fail": "garbage"},
    "the state DONE": runs('state(current_state="DONE")'),
    "the state of another step": runs(
        'state(run={**json.loads((home / "status.json").read_text())["run"], "step": "close"})'
    ),
    "a result of the session": runs(
        'state(run={**json.loads((home / "status.json").read_text())["run"], "result": "done"})'
    ),
    "decisions of its own": runs(DECISIONS),
    "answers of its own": runs(ANSWERS),
    "all promoted": runs('state(promoted=True, landed_tasks={"T-001": "0"}, mode="lean")'),
    "everything waived": runs('state(waived=["test", "tests", "harm", "unknown"], known_issues=[])'),
    "the end of its task": runs(CHILD),
    "the end of other tasks": runs(SIBLINGS),
    "records of its own": runs(RECORDS),
    "an unreadable state": runs('edit("status.json", lambda text: text[: len(text) // 2])'),
    "no state": runs('(home / "status.json").unlink()'),
    "a history of its own": runs('edit("approve-design-history.jsonl", lambda text: text + "{}\\n")'),
}
# Of documents that are not its own.
STRANGERS: Mapping[str, Deed] = {
    "easy criteria": runs(f'edit("acceptance.json", lambda _: {EASY!r})'),
    "completed tasks": runs(
        'edit("tasks.yaml", lambda text: text.replace("not-started", "completed").replace("in-progress", "completed"))'
    ),
    "fewer tasks": runs(f'edit("tasks.yaml", lambda _: {plan(task("T-009"))!r})'),
    "another specification": runs('edit("spec.md", lambda _: "# Nothing\\n")'),
    "a report of its own": runs(
        'edit("report.md", lambda _: "# Report\\n## What was done\\n## How to run\\n## How to test\\n## Known issues\\n")'
    ),
}
CODERS: Mapping[str, Deed] = {
    "no work": instead(),
    "wrong code": writes({"tally/top.py": TOP.replace("most_common(n)", "most_common(n)[::-1][:0]")}),
    "a test that tests nothing": writes({"tests/test_top.py": TOP_TEST.replace("self.assertEqual", "print")}),
    "a skipped test": writes(
        {
            "tally/top.py": "def top(text, n): return []\n",
            "tests/test_top.py": TOP_TEST.replace("    def test", "    @unittest.skip('later')\n    def test"),
        }
    ),
    "deleted tests": runs("[path.unlink() for path in pathlib.Path('tests').glob('test_w*.py')]"),
    "a settled test command": writes({"agentd/config.toml": '[evidence]\ntest = "true"\n'}),
    "documents in its workspace": writes({f".agents-work/{NAME}/acceptance.json": EASY}),
    "commits of its own": lambda honest: {
        **honest,
        "run": [
            "sh",
            "-c",
            "git add -A; git -c user.name=x -c user.email=x@x commit -qm 'T\n\nAgentd-Task: T-001' || true",
        ],
    },
    "another index": lambda honest: {
        **honest,
        "run": ["sh", "-c", "git update-index --assume-unchanged tally/words.py; echo broken >> tally/words.py"],
    },
    "no repository": lambda honest: {**honest, "run": ["rm", "-rf", ".git"]},
    "hooks and filters": lambda honest: {
        **honest,
        "run": [
            "sh",
            "-c",
            "git config core.worktree /; git config core.fsmonitor false; echo '* -text filter=x' > .git/info/attributes",
        ],
    },
}
REVIEWERS: Mapping[str, Deed] = {
    "passed with a blocker": replies(say(review_comments=[{"severity": "blocker", "message": "it is wrong"}])),
    "passed and needs fixes": replies(say(verdict="NEEDS FIXES")),
    "an unknown verdict": replies(say(verdict="SHIP IT")),
    "passed with notes": replies(
        say(verdict="PASS WITH NOTES", review_comments=[{"severity": "minor", "message": "name"}])
    ),
    "blocked": replies(say("BLOCKED", "No.")),
}
AUDITORS: Mapping[str, Deed] = {
    "passed with a high finding": replies(say(findings=[{"severity": "high", "description": "open"}])),
    "passed with a medium finding": replies(say(findings=[{"severity": "medium", "description": "half open"}])),
}
TESTERS: Mapping[str, Deed] = {
    "passed with failures": replies(say(test_results={"passed": 1, "failed": 2, "skipped": 0})),
    "code of its own": writes({"tally/top.py": "def top(text, n): return [('b', 2)]\n"}),
}
HANGING: Mapping[str, Deed] = {"a hang": lambda honest: {**honest, "hang": True, "after": "start"}}  # takes its time
WRITERS: Mapping[str, Deed] = {"missing files": instead()}
OF = {
    "code": CODERS,
    "review": REVIEWERS,
    "review_all": REVIEWERS,
    "audit": AUDITORS,
    "audit_all": AUDITORS,
    "test": TESTERS,
}


def deeds(step: str) -> dict[str, Deed]:
    """What a role at this step can do wrong, by name."""
    if step in DOCUMENTING:
        return {**ANYBODY, **WRITERS}
    return {**ANYBODY, **STRANGERS, **OF.get(step, {})}
