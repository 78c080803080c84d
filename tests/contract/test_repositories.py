"""Projects as people have them go from idea to archive with real agents: nothing is configured, and `impl` asks at most once."""

import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.contract.calls import told
from tests.contract.lab import Lab
from tests.contract.model import FakeModel, Scenes
from tests.contract.repositories import PROJECTS, Project
from tests.sandbox import Ran, wait_until

CHANGE = "say-goodbye"
IDEA = "People can be greeted but not seen off: give them a goodbye too, with a test."
RUN = r"change_id: (?P<run>[\w-]+)"
ROOT = r"(?=.*your working folder: (?P<root>[^\n]+))"
IMPLEMENT = rf"You implement a part of an approved plan(?=.*{RUN}\n){ROOT}"
WITH_CHALLENGER = rf"You are a senior reviewer.*{RUN}.*iteration: (?P<round>\d+)\b.*reviewer: (?P<reviewer>[\w-]+)"
REVIEWER = rf"You are a senior reviewer and have not written this code.*{RUN}\n- iteration: (?P<round>\d+)\n"
APPROVED = "## Summary\nIt can be built as it is.\n## Issues\nNone.\n## Verdict\n**Verdict**: APPROVED\n"


def scene(name: str, when: str, *calls: Mapping[str, Any], tool: str = "", say: str = "Done.") -> dict[str, Any]:
    turns = [*({"call": [call]} for call in calls), {"say": say}]
    return {"name": name, "when": when, "turns": turns} | ({"with": tool} if tool else {})


def written(project: Project) -> list[dict[str, Any]]:
    """The scenes of an implementer, who writes the files with the tool that its program has."""
    files = (project.code, project.test)
    finish = [{"finish_task": {"change_id": "{{run}}", "task_id": f"{layer}.1"}} for layer in ("logic", "testing")]
    whole = [{"file_path": f"{{{{root}}}}/{path}", "content": text} for path, text in files]
    typed = "\n".join(f"mkdir -p {Path(path).parent}; cat > {path} <<'END'\n{text}END" for path, text in files)
    return [
        scene("implement", IMPLEMENT, *({"Write": each} for each in whole), *finish, tool="Write"),
        scene("implement", IMPLEMENT, *({"write_file": each} for each in whole), *finish, tool="write_file"),
        scene("implement", IMPLEMENT, {"exec_command": {"cmd": typed}}, *finish),  # codex
    ]


def scenes_for(project: Project) -> Scenes:
    own = {"change_id": "{{run}}"}
    proposal = {
        **own,
        "summary": "A goodbye beside the greeting.",
        "why": "People can be greeted but not seen off.",
        "what_changes": ["A goodbye"],
        "impact": {
            "scope": "minor",
            "affected_files": 2,
            "new_files": 2,
            "affected_specs": ["farewell"],
            "affected_code": [project.code[0]],
        },
    }
    spec = {
        **own,
        "spec_id": "{{spec}}",
        "title": "Farewell",
        "overview": "What is said to people who leave.",
        "requirements": [
            {"id": "R1", "title": "Goodbye", "description": "The feature SHALL work by name.", "priority": "high"}
        ],
        "scenarios": [{"name": "Ada", "given": "Ada", "when": "she leaves", "then": "she is seen off"}],
    }
    tasks = [
        {
            "layer": layer,
            "number": 1,
            "title": title,
            "file": {"path": path, "action": "CREATE"},
            "spec_ref": "farewell:R1",
            "description": title,
            **({"depends": ["logic.1"]} if layer == "testing" else {}),
        }
        for layer, title, path in (("logic", "Write it", project.code[0]), ("testing", "Test it", project.test[0]))
    ]
    verdict = {
        **own,
        "status": "approved",
        "iteration": "{{round:int}}",
        "reviewer": "{{reviewer}}",
        "content": APPROVED,
    }
    review = {**own, "iteration": "{{round:int}}", "verdict": "APPROVED", "issues": []}
    return Scenes.load(
        [
            scene("propose", rf"Write the proposal of one change.*{RUN}", {"create_proposal": proposal}),
            scene("review_proposal", rf"Review the proposal of one change.*{RUN}", say="PASS: nothing was wrong"),
            scene(
                "write_spec",
                rf"Write one spec of a change.*{RUN}.*spec_id: (?P<spec>[\w-]+)",
                {"create_spec": spec},
            ),
            scene("review_spec", rf"Review one spec of a change.*{RUN}", say="PASS: nothing was wrong"),
            scene(
                "break_down",
                rf"Break one change down into tasks.*{RUN}",
                {"create_tasks": {**own, "tasks": tasks}},
            ),
            scene("review_tasks", rf"Review the tasks of one change.*{RUN}", say="PASS: nothing was wrong"),
            scene("review", REVIEWER, {"create_review": review}, say="It can be merged."),
            scene("challenge", WITH_CHALLENGER, {"append_review": verdict}),
            *written(project),
        ]
    )


@pytest.fixture(params=PROJECTS, ids=lambda name: name.replace(" ", "-").replace(",", ""))
def project(request: pytest.FixtureRequest) -> Project:
    return PROJECTS[request.param]


@pytest.fixture
def scenes(project: Project) -> Scenes:
    return scenes_for(project)


@pytest.fixture
def lab(tmp_path_factory: pytest.TempPathFactory, programs: Path, model: FakeModel, project: Project) -> Iterator[Lab]:
    """A person's machine with this project and two agents, and no word of configuration."""
    folder = tmp_path_factory.mktemp("lab")
    installed = folder / "bin"
    installed.mkdir()
    for name in project.agents:
        (installed / name).symlink_to(programs / name)
    lab = Lab(folder, installed, model, project.make(folder / "project"), configured=False)
    yield lab
    lab.clear()


def git(lab: Lab, *words: str) -> str:
    return subprocess.run(("git", *words), cwd=lab.root, capture_output=True, text=True, check=True).stdout


def status(lab: Lab) -> set[str]:
    """What git has to say of every file outside agentd's folder, of ignored ones too; not of what test runners keep."""
    own = (":!agentd", ":!.pytest_cache", ":!.ruff_cache", ":(exclude,glob)**/__pycache__/**")
    shown = git(lab, "status", "--porcelain", "--untracked-files=all", "--ignored", "--", ".", *own)
    return set(shown.splitlines())


def paste(lab: Lab, ran: Ran) -> None:
    """The line that a command which waits ends with."""
    (line,) = re.findall(r"^Next: agentd (.*)$", ran.out + ran.err, re.MULTILINE)
    done = lab.run(*shlex.split(line, comments=True))
    assert done.code == 0, done.out + done.err


def test_a_project_as_people_have_them_goes_from_idea_to_archive(lab: Lab, project: Project) -> None:
    mine = status(lab)
    kept = {path: path.read_bytes() for path in lab.root.rglob("*") if path.is_file() and ".git" not in path.parts}
    done = lab.run("plan", CHANGE, IDEA, "--skip-clarify")
    assert done.code == 0, done.out + done.err + told(lab)
    assert lab.state(CHANGE)["phase"] == "challenged"

    done = lab.run("impl", CHANGE)
    asked = 0
    while done.code == 4:
        asked += 1
        assert asked <= project.questions, done.out + done.err
        assert project.fix in done.out + done.err
        before = status(lab)
        project.helps(lab.root)
        mine |= status(lab) - before
        paste(lab, done)
        done = lab.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err + told(lab)
    assert asked == project.questions
    assert lab.state(CHANGE)["phase"] == "complete"
    said = done.out + done.err
    for command in project.ran:
        assert command in said, said
    for name in project.notes:
        assert f"{name} is not installed" in said, said
    assert (lab.root / project.code[0]).read_text() == project.code[1]

    done = lab.run("archive", CHANGE)
    assert done.code == 0, done.out + done.err
    assert lab.state(CHANGE)["phase"] == "archived"

    # What was the person's is as it was, committed or not; what is new is the change's.
    assert {path for path, data in kept.items() if path.read_bytes() != data} == set()
    assert sorted(status(lab) - mine) == sorted(f"?? {path}" for path in (project.code[0], project.test[0]))
    assert lab.changed_settings() == []
    assert lab.leaks() == []
    wait_until(lambda: not lab.processes(), 10)
