"""Sessions of the team workflow played by the agents' real programs, lean and full, with the roles divided among them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.lab import Lab
from tests.contract.model import FakeModel, Scenes
from tests.contract.test_impl import TODAY
from tests.landing.repositories import git, invariant
from tests.sandbox import wait_until
from tests.team.sessions import ARCHITECTURE, CRITERIA, REPORT, ROLES, SPEC, TOP, TOP_TEST, plan, say, task

GOAL = "Give the most frequent words of a text"
PATCH = "*** Begin Patch\n" + "".join(
    f"*** Add File: {name}\n" + "".join(f"+{line}\n" for line in text.splitlines())
    for name, text in (("tally/top.py", TOP), ("tests/test_top.py", TOP_TEST))
)


def writes(role: str, **documents: str) -> dict[str, Any]:
    """A scene in which a role writes its documents with agentd's tool."""
    calls = [{"write_document": {"file": name, "content": text}} for name, text in documents.items()]
    return {
        "name": role,
        "when": f"You are {role}\\.",
        "turns": [*({"call": [each]} for each in calls), {"say": say()}],
    }


def says(role: str, **artifacts: Any) -> dict[str, Any]:
    return {"name": role, "when": f"You are {role}\\.", "turns": [{"say": say(**artifacts)}]}


def codes() -> list[dict[str, Any]]:
    """The coder's scene in each program's own way of writing a file."""
    when = r"You are Coder\.(?=.*Your working folder: (?P<root>[^\n]+))"
    ways: dict[str, list[dict[str, Any]]] = {
        "Write": [{"Write": {"file_path": f"{{{{root}}}}/{name}", "content": text}} for name, text in _files().items()],
        "write_file": [
            {"write_file": {"file_path": f"{{{{root}}}}/{name}", "content": text}} for name, text in _files().items()
        ],
        "apply_patch": [{"apply_patch": f"{PATCH}*** End Patch\n"}],
    }
    return [
        {"name": "Coder", "with": tool, "when": when, "turns": [*({"call": [each]} for each in calls), {"say": say()}]}
        for tool, calls in ways.items()
    ]


def _files() -> dict[str, str]:
    return {"tally/top.py": TOP, "tests/test_top.py": TOP_TEST}


SCENES = [
    *codes(),
    {
        "name": "SpecAgent",
        "when": r'You are SpecAgent\.(?=.*"mode": "lean")',
        "turns": [
            {"call": [{"write_document": {"file": "spec.md", "content": SPEC}}]},
            {"call": [{"write_document": {"file": "acceptance.json", "content": json.dumps(CRITERIA)}}]},
            {"call": [{"write_document": {"file": "tasks.yaml", "content": plan(task())}}]},
            {"say": say()},
        ],
    },
    writes("SpecAgent", **{"spec.md": SPEC, "acceptance.json": json.dumps(CRITERIA)}),
    writes("Architect", **{"architecture.md": ARCHITECTURE}),
    writes("Planner", **{"tasks.yaml": plan(task(risk_flags=["security"]))}),
    says("Reviewer", verdict="PASS"),
    says("QA"),
    says("Security"),
    says("Integrator"),
    writes("Docs", **{"report.md": REPORT}),
]


@pytest.fixture
def lab(tmp_path_factory: pytest.TempPathFactory, programs: Path, model: FakeModel) -> Iterator[Lab]:
    """A repository on a person's machine, in which a model plays every role."""
    lab = Lab(tmp_path_factory.mktemp("lab"), programs, model)
    lab.set("codex", default="only", models=[TODAY])
    lab.set("runs", wait_when_busy=False)
    lab.model.scenes = Scenes.load(SCENES)
    git(lab.root, "config", "user.name", "Ada")
    git(lab.root, "config", "user.email", "ada@localhost")
    git(lab.root, "add", "--all")
    git(lab.root, "commit", "--quiet", "-m", "settings")
    yield lab
    lab.clear()


def untouched(lab: Lab) -> dict[str, str]:
    ours = ("agentd/", ".agents-work/", ".gemini/")
    return {name: text for name, text in invariant(lab.root).items() if not name.removeprefix("./").startswith(ours)}


def status(lab: Lab) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((lab.root / ".agents-work" / "s1" / "status.json").read_text())
    return found


def check_done(lab: Lab, players: dict[str, str]) -> None:
    """The session is done, each role was played by its agent, and what it wrote is on the branch."""
    found = status(lab)
    assert found["current_state"] == "DONE"
    steps = {str(call["call"]).rpartition("/")[2].rsplit("-", 1)[0]: call["agent"] for call in found["llm_calls"]}
    assert {step: steps[step] for step in players} == players
    assert git(lab.root, "show", "agentd/s1:tally/top.py") == TOP.strip()
    assert lab.leaks() == []
    assert lab.changed_settings() == []
    wait_until(lambda: not lab.processes(), 10)


def test_a_lean_session_is_played_by_three_agents(lab: Lab) -> None:
    lab.set("roles", spec_agent="claude", coder="gemini", reviewer="codex", qa="claude", security="codex")
    before = untouched(lab)
    done = lab.run("run", "team", GOAL, "--lean", "--session", "s1")
    assert done.code == 0, done.out + done.err
    check_done(lab, {"intake_lean": "claude", "code": "gemini", "review": "codex", "test": "claude"})
    assert untouched(lab) == before


def test_a_full_session_is_played_by_three_agents(lab: Lab) -> None:
    agents = ("claude", "codex", "gemini")
    cast = {role: agents[number % 3] for number, role in enumerate(ROLES)}
    lab.set("roles", **cast)
    before = untouched(lab)
    answers = lab.root.parent / "answers.yaml"
    answers.write_text("approve_design: [approved]\nchoose_strategy: [per-batch]\n")
    done = lab.run("run", "team", GOAL, "--session", "s1", "--answers", str(answers))
    assert done.code == 0, done.out + done.err
    steps = {"intake": "spec_agent", "design": "architect", "plan": "planner", "code": "coder", "review": "reviewer"}
    steps |= {
        "test": "qa",
        "audit": "security",
        "review_all": "reviewer",
        "integrate": "integrator",
        "document": "docs",
    }
    check_done(lab, {step: cast[role] for step, role in steps.items()})
    assert untouched(lab) == before
