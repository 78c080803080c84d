"""Whole sessions to be killed: what the roles do, what the person says, and everything that a session comes to in the end."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentd.text import lossless_yaml
from tests.landing.repositories import git, invariant, write
from tests.sandbox import Ran, make_sandbox
from tests.team.sessions import ARCHITECTURE, CRITERIA, GOAL, NAME, Session, other_code, other_task, plan, say

Said = tuple[str, str]
RUN = ("run", "team", GOAL, "--session", NAME)
ANSWERS = "agentd/answers.json"
# What differs from one run to the next, and after a kill.
TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d\.\d+Z)?")
HASH = re.compile(r"\b[0-9a-f]{12,64}\b")
SECONDS = re.compile(r"in [0-9.]+s|\([0-9.]+ s\)|\d+ passed")
NUMBER = re.compile(r"\bUD-\d+\b")
COUNTED = ("run", "llm_calls", "total_cost", "total_tokens_in", "total_tokens_out", "unknown_costs", "dispatched")
UNSAVED = ("proof",)  # what proved a landing is told by the process that proved it
OWN = ("./agentd/", "agentd/", ".agents-work/")
BLOCKED = say(
    "BLOCKED", "There is no test for an empty text.", review_comments=[{"severity": "major", "message": "no"}]
)
MEDIUM = [{"severity": "medium", "category": "input", "file": "tally/part2.py", "description": "unchecked length"}]


@dataclass(frozen=True)
class Story:
    """A session.

    words    what follows the command that starts it
    script   what the roles do differently from the honest ones
    prompt   what the person says when asked, by the step that asks: one answer after the other, each by a command of its own
    ahead    what the person wrote down before, by the step that asks
    alone    one agent at a time
    sample   at how many places it is killed in a sample
    parts    into how many tests all of its places are spread
    most     at how many places it is killed at most
    """

    name: str
    words: tuple[str, ...] = ()
    script: Mapping[str, Any] = field(default_factory=dict)
    prompt: Mapping[str, Sequence[Said]] = field(default_factory=dict)
    ahead: Mapping[str, Any] = field(default_factory=dict)
    parallel: int = 1
    sample: int = 2
    parts: int = 1
    most: int = 10_000

    @property
    def alone(self) -> bool:
        return self.parallel == 1


def parts(count: int, **more: Mapping[str, Any]) -> dict[str, Any]:
    """The plan and the code of so many tasks, each with files of its own; `T1={...}` are other fields of a task."""
    tasks = [other_task(f"T-{one:03}", one, **more.get(f"T{one}", {})) for one in range(1, count + 1)]
    code = {f"code@T-{one:03}": other_code(one) for one in range(1, count + 1)}
    criterion = {**CRITERIA["acceptance_criteria"][0], "verify": ["test: test_part_1", "cmd: git --version"]}
    intake = {"spec.md": SPEC, "acceptance.json": json.dumps({"acceptance_criteria": [criterion]})}
    return {
        "intake": {"documents": intake, "say": say()},
        "plan": {"documents": {"tasks.yaml": plan(*tasks)}, "say": say()},
        **code,
    }


SPEC = "# Parts\n\n## Goals\nParts.\n\n## Acceptance Criteria\n- AC-001\n\n## Definition of Done\nGreen tests.\n"
CORRECTED = {"documents": {"architecture.md": f"{ARCHITECTURE}\n## Data flow\nText in, pairs out.\n"}, "say": say()}
GATE = {"approve_design": [("architecture", "say how the data flows"), ("approved", "")]}
REPAIRED = {
    "review@T-001": [{"say": BLOCKED}, {"say": say()}],
    "fix_review@T-001": {"files": {"tally/part1.py": "PART = 1  # also for an empty text\n"}, "say": say()},
    "audit@T-002": {"say": say("NEEDS_DECISION", "One risk is left.", findings=MEDIUM)},
    "correct_architecture": CORRECTED,
}
LATER = {"which_risks": {"value": "fix_later", "note": "after the release"}}
STORIES = {
    story.name: story
    for story in (
        Story("small", script=parts(1), ahead={"approve_design": "approved", "choose_strategy": "per-batch"}, parts=60),
        Story(
            "repaired",
            script={**parts(2, T2={"risk_flags": ["security"]}), **REPAIRED},
            prompt=GATE,
            ahead={"choose_strategy": "per-batch", **LATER},
            sample=6,
            parts=12,
            most=60,
        ),
        Story(
            "large",
            script={**parts(5, T2={"risk_flags": ["security"]}, T5={"depends_on": ["T-001", "T-002"]}), **REPAIRED},
            prompt={**GATE, "which_risks": [("accept_risk", "it is a demo")]},
            ahead={"choose_strategy": "per-batch"},
            parallel=3,
            sample=3,
            parts=12,
            most=60,
        ),
        Story(
            "late",
            script={
                **parts(5, T3={"depends_on": ["T-001"]}),
                "review_all": [{"say": BLOCKED}, {"say": say()}],
                "fix_review": {"files": {"tally/part1.py": "PART = 1  # also for an empty text\n"}, "say": say()},
                "audit_all": {"say": say("NEEDS_DECISION", "One risk is left.", findings=MEDIUM)},
            },
            prompt={"which_risks": [("accept_risk", "it is a demo")]},
            ahead={"approve_design": "approved", "choose_strategy": "single-final"},
            parallel=3,
            sample=2,
            parts=8,
            most=40,
        ),
        Story("lean", words=("--lean",), sample=3, parts=6, most=60),
    )
}


def begin(story: Story, folder: Path) -> Session:
    """A repository in the middle of a person's work, ready for the session."""
    session = Session(make_sandbox(folder))
    root = session.root
    session.sandbox.set("team", max_parallel=story.parallel)
    session.script(**story.script)
    (root / ANSWERS).write_text(json.dumps(story.ahead))
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "-m", "the script")
    write(root, {"README.md": "stashed\n"})
    git(root, "stash", "--quiet")
    write(root, {"README.md": "mine\n", "staged.txt": "staged\n", "new.txt": "new\n"})
    git(root, "add", "staged.txt")
    return session


class Person:
    """Answers what is asked, each question once; a question that was answered is not to be put again."""

    def __init__(self, story: Story, said: Mapping[tuple[str, str], str] | None = None) -> None:
        self.story, self.said = story, dict(said or {})

    def copy(self) -> "Person":
        return Person(self.story, self.said)

    def command(self, session: Session) -> tuple[str, ...]:
        """What to type next."""
        for one in session.pending() if (session.folder / "status.json").exists() else ():
            written_down = one["name"] in self.story.ahead  # a kill came before it was taken up
            if not written_down and (one["decision_id"], one["asked_at"]) not in self.said:
                given = list(self.said.values()).count(one["name"])
                answers = self.story.prompt.get(one["name"], ())
                assert given < len(answers), f"asked once more: {one}"
                value, note = answers[given]
                return ("answer", f"team/{NAME}", one["decision_id"], value, "--note", note)
        return (*RUN, *self.story.words, "--answers", str(session.root / ANSWERS))

    def typed(self, session: Session, words: tuple[str, ...], ran: Ran) -> None:
        """Note what was answered."""
        if words[0] != "answer":
            for one in session.pending():
                assert (one["decision_id"], one["asked_at"]) not in self.said, f"answered before: {one}"
            return
        assert ran.code == 0 or "answered already" in ran.err, ran.out + ran.err
        one = session.decision(words[2])
        self.said[words[2], one["asked_at"]] = one["name"]


def finish(session: Session, person: Person) -> None:
    """Type what is to be typed until the session is over."""
    for _ in range(20):
        words = person.command(session)
        ran = session.sandbox.run(*words)
        person.typed(session, words, ran)
        if words[0] == "run" and ran.code == 0:
            return
        assert ran.code in (0, 4), f"{words[0]} ended with {ran.code}:\n{ran.out}{ran.err}"
    raise AssertionError("it comes to no end")


def end_of(session: Session) -> dict[str, Any]:
    """What a session comes to, without what is different each time."""
    status = session.status
    decisions = sorted(
        (one.get("item", ""), one["name"], one["status"], one["answer"], one.get("note", ""))
        for one in status.pop("user_decisions", [])
    )
    history = session.folder / "approve-design-history.jsonl"
    return {
        "status": plain({key: value for key, value in status.items() if key not in COUNTED}),
        "decisions": decisions,
        "history": plain(history.read_text().splitlines()) if history.exists() else [],
        "tasks": (session.folder / "tasks.yaml").read_text(),
        "report": plain((session.folder / "report.md").read_text().splitlines()),
        "checks": plain(json.loads((session.folder / "checks.json").read_text())),
        "tree": git(session.root, "rev-parse", f"agentd/{NAME}^{{tree}}"),
        "landed": sorted(session.landed()),
        "children": {
            path.parent.name: plain({key: value for key, value in state(path).items() if key not in COUNTED})
            for path in sorted((session.folder / "children").rglob("STATE.yaml"))
        },
        "files": sorted(
            {
                re.sub(r"\.\d+\.jsonl$", "", path.relative_to(session.folder).as_posix())
                for path in session.folder.rglob("*")
                if path.is_file() and path.name != ".lock"
            }
        ),
    }


def state(path: Path) -> dict[str, Any]:
    return lossless_yaml.parse_bytes(path.read_bytes(), path.name).data


def plain(value: Any) -> Any:
    """The same without times, commits, checksums and numbers of decisions; lists that side by side tasks add to in order."""
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items() if key not in UNSAVED}
    if isinstance(value, list):
        return sorted(map(plain, value), key=str)
    if isinstance(value, str):
        return NUMBER.sub("UD", SECONDS.sub("T", HASH.sub("H", TIME.sub("T", value))))
    return value


def untouched(session: Session) -> dict[str, str]:
    """What no session may change in a repository: everything but what is agentd's own."""
    return {name: what for name, what in invariant(session.root).items() if not name.startswith(OWN)}


def completed_twice(session: Session) -> list[str]:
    """The calls that were made again after an attempt at them had given its result."""
    done = Counter(
        f"{path.parent.parent.name}/{path.stem.rpartition('.')[0]}"
        for path in session.folder.rglob("calls/*.jsonl")
        if '"type": "result", "status": "success"' in path.read_text()
    )
    return [name for name, count in done.items() if count > 1]


def lost_decisions(session: Session) -> list[str]:
    """The questions of tasks that have moved on without their answer in the file of the session."""
    kept = {(one.get("item"), one["name"]) for one in session.status.get("user_decisions", []) if one["answer"]}
    found = []
    for path in (session.folder / "children").rglob("journal.jsonl"):
        for line in path.read_text().splitlines():
            event = json.loads(line) if line.endswith("}") else {}
            asked = event.get("event") == "end" and event.get("step") in ("which_risks", "which_notes")
            if asked and (path.parent.name, event["step"]) not in kept:
                found.append(f"{path.parent.name}/{event['step']}")
    return found
